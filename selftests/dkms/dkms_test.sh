#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What DKMS makes of pdio, with the dkms of Debian 12 and of Debian 13: in a
# chroot whose changes are thrown away, for kernels with and without P2PDMA, and
# for ones that pdio doesn't support, which must never fail an apt run.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
for part in vm/lib/common vm/lib/apt vm/lib/image vm/lib/kernel vm/lib/overlay \
	    lib/ktap; do
	# shellcheck source=/dev/null
	. "$here/../$part.sh"
done

dkms_run() {
	image_chroot "$OVERLAY_DIR:$1" \
		'mount -t tmpfs var /var/lib/dkms; bash /pdio/selftests/dkms/in_chroot.sh' \
		"$PDIO_TOP:/pdio:ro"
}

need_root
image_ensure
kernels=
for k in stock 6.12 6.1; do
	kernel_ensure "$k"
	kernels+=${kernels:+:}$KERNEL_DIR
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for release in '\+deb12' '~?deb13'; do
	version=$(apt_newest dkms "$release")
	[ -n "$version" ] || die "no dkms $release in the package lists"
	overlay_ensure "dkms-$version" "dkms=$version"
	printf '# dkms %s\n' "$version"
	ktap_absorb "$log" dkms_run "$kernels"
done
printf '%d passed, %d failed, %d skipped\n' \
	"$KTAP_PASSED" "$KTAP_FAILED" "$KTAP_SKIPPED"
[ "$KTAP_FAILED" = 0 ]
