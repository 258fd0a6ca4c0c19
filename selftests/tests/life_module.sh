#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module itself: it stays while anybody uses it, goes when nobody does, and
# what it leaves behind (struct pages of adopted windows) neither keeps it from
# coming back nor keeps the GPU's driver from being unbound.
set -u

disk=${PDIO_DISK:-/dev/nvme0n1}
module=/pdio-modules/pdio.ko
work=$(mktemp -d)
nr=0
failed=0

result() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr $2"
	else
		echo "not ok $nr $2"
		failed=1
	fi
}

copy_works() {
	dd if=/dev/urandom of="$work/in" bs=1M count=4 status=none
	dd if="$work/in" of="$disk" bs=1M oflag=direct status=none
	pdio copy --require-direct --length 4194304 "$disk" gpu:fake:0 \
		--exec 'cat >/dev/null' >/dev/null
}

gpu_unbind() {
	timeout 60 sh -c "echo $gpu >/sys/bus/pci/drivers/fakegpu/unbind"
}

gpu_bind() {
	echo "$gpu" >/sys/bus/pci/drivers/fakegpu/bind
}

gpu=$(basename "$(readlink -f /sys/bus/pci/drivers/fakegpu/0000:*)")
echo "KTAP version 1"
echo "1..8"

copy_works
result $? "a copy works"

exec 7<>/dev/pdio
! rmmod pdio 2>/dev/null
result $? "removal is refused while a descriptor is open"
exec 7>&-

rmmod pdio
result $? "removal works when none is"

insmod "$module" && copy_works
result $? "after a reload a copy works in the windows of the first load"

rmmod pdio
gpu_unbind && gpu_bind && insmod "$module" adopt=whole && copy_works
result $? "the whole BAR can be adopted at once"

rmmod pdio
insmod "$module" adopt=never && copy_works
result $? "pages that are there are used even if adopting is switched off"

rmmod pdio
gpu_unbind
result $? "the GPU's driver can be unbound after the module has gone"

gpu_bind
insmod "$module" adopt=never
pdio copy --require-direct --length 4194304 "$disk" gpu:fake:0 \
	>"$work/out" 2>&1
[ $? = 3 ] && grep -q PDIO_REASON_POLICY "$work/out"
result $? "with adopting switched off and no pages a copy is refused: POLICY"

rmmod pdio
insmod "$module"
rm -rf "$work"
exit "$failed"
