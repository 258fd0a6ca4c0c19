#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where there is no direct route the tool says why, in words and as a reason that
# scripts can read, and ends with the status for "not supported here".
set -euo pipefail

disk=${PDIO_DISK:-/dev/nvme0n1}
work=$(mktemp -d)
# shellcheck source=selftests/tests/ktap_check.sh
. ktap_check.sh

case $PDIO_BED in
nopages)
	reason=NO_P2PDMA
	words="CONFIG_PCI_P2PDMA" ;;
blocked)
	reason=HOST_BRIDGE
	words="host bridge" ;;
misroute)
	reason=UNVERIFIED
	words="proven" ;;
esac

copy_refused() {
	local status=0
	pdio copy --require-direct --length 1048576 "$disk" gpu:fake:0 \
		>"$work/out" 2>"$work/err" || status=$?
	cat "$work/err"
	[ "$status" = 3 ]
}

route_says() {
	pdio "$@" route "$disk" gpu:fake:0 >"$work/out" 2>"$work/err"
	cat "$work/out"
}

echo "KTAP version 1"
echo "1..5"
check "copy ends with status 3" copy_refused
check "and names the reason $reason" \
	grep -q "PDIO_REASON_$reason" "$work/err"
check "and explains it" grep -qi "$words" "$work/err"
route_says
check "route names it too" grep -q "PDIO_REASON_$reason" "$work/out"
route_says -j
check "and in JSON" grep -q "\"reason\":\"$reason\"" "$work/out"

rm -rf "$work"
exit "$failed"
