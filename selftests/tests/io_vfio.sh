#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# vfio-pci's dma-buf, an exporter that nobody here wrote: the GPU's function is
# given to vfio-pci, 64 MiB go from the disk into its BAR and from there back to
# the disk, all direct; the host checks the BAR.
set -euo pipefail

disk=${PDIO_DISK:-/dev/nvme0n1}
bytes=$((64 << 20))
work=$(mktemp -d)
nr=0
failed=0

# check NAME COMMAND...: one result.
check() {
	local name=$1
	shift
	nr=$((nr + 1))
	if "$@"; then
		echo "ok $nr $name"
	else
		echo "not ok $nr $name"
		failed=1
	fi
}

gpu=$(basename "$(readlink -f /sys/bus/pci/drivers/fakegpu/0000:*)")

driver_is() {
	[ "$(basename "$(readlink "/sys/bus/pci/devices/$gpu/driver")")" = "$1" ]
}

give_to_vfio() {
	modprobe vfio-pci 2>/dev/null || [ -d /sys/bus/pci/drivers/vfio-pci ]
	echo "$gpu" >/sys/bus/pci/drivers/fakegpu/unbind
	echo vfio-pci >"/sys/bus/pci/devices/$gpu/driver_override"
	echo "$gpu" >/sys/bus/pci/drivers_probe
	driver_is vfio-pci
}

give_back() {
	echo "$gpu" >/sys/bus/pci/drivers/vfio-pci/unbind
	echo >"/sys/bus/pci/devices/$gpu/driver_override"
	echo "$gpu" >/sys/bus/pci/drivers_probe
	driver_is fakegpu
}

copy_there() {
	pdio -j copy --require-direct --length "$bytes" "$disk" \
		"gpu:vfio:$gpu" --exec "hostsum 0 0 $bytes >$work/host" \
		>"$work/report" || return
	cat "$work/report"
}

host_agrees() {
	[ "$(cut -d' ' -f1 <"$work/host")" = "$(sha256sum <"$work/in" |
		cut -d' ' -f1)" ]
}

all_direct() {
	grep -q '"route":"direct"' "$work/report" &&
		grep -q "\"direct\":$bytes" "$work/report"
}

copy_back() {
	pdio copy --require-direct --length "$bytes" "$disk" "gpu:vfio:$gpu" \
		"$disk"
}

disk_agrees() {
	dd if="$disk" bs=1M count=64 iflag=direct status=none |
		cmp - "$work/in"
}

echo "KTAP version 1"
echo "1..7"
head -c "$bytes" /dev/urandom >"$work/in"
dd if="$work/in" of="$disk" bs=1M oflag=direct status=none

check "vfio-pci drives the function" give_to_vfio
check "the copy into the BAR succeeds" copy_there
check "the host finds the disk's bytes in the BAR" host_agrees
check "all bytes were direct" all_direct
check "and back to the disk" copy_back
check "which still holds the same bytes" disk_agrees
check "the GPU's own driver takes it back" give_back

rm -rf "$work"
exit "$failed"
