#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make check-unit: library and tool without a kernel module, in the guest's root
# file system (a chroot), so that the compiler is the same on every host.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
for part in common apt image overlay; do
	# shellcheck source=/dev/null
	. "$here/vm/lib/$part.sh"
done

need_root
overlay_ensure unit pkgconf mandoc shellcheck zsh
mkdir -p "$PDIO_TOP/build/unit"
image_chroot "$OVERLAY_DIR" 'make -s -C /work/userspace O=/build check' \
	"$PDIO_TOP:/work:ro" "$PDIO_TOP/build/unit:/build"
