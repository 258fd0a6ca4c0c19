#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module itself: it stays while anybody uses it, goes when nobody does, and
# what it leaves behind (struct pages of adopted windows) neither keeps it from
# coming back nor keeps the GPU's driver from being unbound.
set -euo pipefail

disk=${PDIO_DISK:-/dev/nvme0n1}
module=/pdio-modules/pdio.ko
work=$(mktemp -d)
# shellcheck source=selftests/tests/ktap_check.sh
. ktap_check.sh

copy() {
	pdio copy --require-direct --length 4194304 "$disk" gpu:fake:0
}

copy_works() {
	copy >/dev/null
}

reload() {
	rmmod pdio && insmod "$module" "$@"
}

gpu=$(basename "$(readlink -f /sys/bus/pci/drivers/fakegpu/0000:*)")

gpu_unbind() {
	timeout 60 sh -c "echo $gpu >/sys/bus/pci/drivers/fakegpu/unbind"
}

gpu_bind() {
	echo "$gpu" >/sys/bus/pci/drivers/fakegpu/bind
}

removal_refused() {
	local refused=0
	exec 7<>/dev/pdio
	rmmod pdio 2>/dev/null || refused=1
	exec 7>&-
	[ "$refused" = 1 ]
}

works_after_reload() {
	insmod "$module" && copy_works
}

whole_works() {
	rmmod pdio && gpu_unbind && gpu_bind &&
		insmod "$module" adopt=whole && copy_works
}

never_works() {
	reload adopt=never && copy_works
}

unbind_without_module() {
	rmmod pdio && gpu_unbind && gpu_bind
}

never_refused() {
	local status=0
	insmod "$module" adopt=never
	copy >"$work/out" 2>&1 || status=$?
	[ "$status" = 3 ] && grep -q PDIO_REASON_POLICY "$work/out"
}

typo_refused() {
	rmmod pdio && ! insmod "$module" adopt=sometimes 2>/dev/null
}

echo "KTAP version 1"
echo "1..9"
check "a copy works" copy_works
check "removal is refused while a descriptor is open" removal_refused
check "removal works when none is" rmmod pdio
check "after a reload a copy works" works_after_reload
check "the whole BAR can be adopted at once" whole_works
check "pages that are there are used even if adopting is off" never_works
check "the GPU's driver can be unbound without the module" unbind_without_module
check "without pages and adopting a copy is refused: POLICY" never_refused
check "an unknown policy is refused" typo_refused

insmod "$module"
rm -rf "$work"
exit "$failed"
