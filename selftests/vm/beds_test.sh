#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots every bed once on its default kernel: each asserts its own topology, ACS
# and mapping type, so this tells whether this host's QEMU still makes them.
set -euo pipefail

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/vm/lib/common.sh
. "$vm/lib/common.sh"
# shellcheck source=selftests/vm/lib/beds.sh
. "$vm/lib/beds.sh"

nr=0 failed=0
echo "KTAP version 1"
# shellcheck disable=SC2086 # a list of words
set -- $PDIO_BEDS
echo "1..$#"
for bed in "$@"; do
	nr=$((nr + 1))
	if "$vm/run.sh" --bed "$bed" --timeout 300 -- true; then
		echo "ok $nr $bed"
	else
		echo "not ok $nr $bed"
		failed=1
	fi
done
exit "$failed"
