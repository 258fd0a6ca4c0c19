#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# vfio-pci's dma-buf, an exporter that nobody here wrote: the GPU's function is
# given to vfio-pci, 64 MiB go from the disk into its BAR and from there to
# another place of the disk, all direct; the host checks the BAR.
set -u

disk=${PDIO_DISK:-/dev/nvme0n1}
bytes=$((64 << 20))
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


echo "KTAP version 1"
echo "1..6"

gpu=$(basename "$(readlink -f /sys/bus/pci/drivers/fakegpu/0000:*)")
modprobe vfio-pci 2>/dev/null
echo "$gpu" >/sys/bus/pci/drivers/fakegpu/unbind
echo vfio-pci >"/sys/bus/pci/devices/$gpu/driver_override"
echo "$gpu" >/sys/bus/pci/drivers_probe
[ "$(basename "$(readlink "/sys/bus/pci/devices/$gpu/driver")")" = vfio-pci ]
result $? "vfio-pci drives the function"

head -c "$bytes" /dev/urandom >"$work/in"
dd if="$work/in" of="$disk" bs=1M oflag=direct status=none
want=$(sha256sum <"$work/in")

pdio -j copy --require-direct --length "$bytes" "$disk" "gpu:vfio:$gpu" \
	--exec "hostsum 0 0 $bytes >$work/host" >"$work/report"
result $? "the copy into the BAR succeeds"
cat "$work/report"

[ "$(cut -d' ' -f1 <"$work/host")" = "${want%% *}" ]
result $? "the host finds the disk's bytes in the BAR"

grep -q "\"route\":\"direct\"" "$work/report" &&
	grep -q "\"direct\":$bytes" "$work/report"
result $? "all bytes were direct"

truncate -s "$bytes" "$work/out"
pdio copy --require-direct --length "$bytes" "$disk" "gpu:vfio:$gpu" \
	"$disk"
result $? "and back to the disk"
dd if="$disk" bs=1M count=64 iflag=direct status=none | cmp - "$work/in"
result $? "which still holds the same bytes"

echo "$gpu" >/sys/bus/pci/drivers/vfio-pci/unbind
echo >"/sys/bus/pci/devices/$gpu/driver_override"
echo "$gpu" >/sys/bus/pci/drivers_probe
rm -rf "$work"
exit "$failed"
