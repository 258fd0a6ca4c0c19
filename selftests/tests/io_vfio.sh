#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# vfio-pci's dma-buf, an exporter that nobody here wrote: the GPU's function is
# given to vfio-pci, 64 MiB go from a file on the disk into its BAR and from there
# to a second file, all direct; the host checks the BAR.
set -euo pipefail

disk=${PDIO_DISK:-/dev/nvme0n1}
bytes=$((64 << 20))
work=$(mktemp -d)
# shellcheck source=selftests/tests/ktap_check.sh
. ktap_check.sh

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

make_files() {
	mkdir "$work/mnt"
	mkfs.ext4 -qF "$disk" && mount "$disk" "$work/mnt" &&
		head -c "$bytes" /dev/urandom >"$work/mnt/in" && sync
}

copy_works() {
	pdio -j copy --require-direct "$work/mnt/in" "gpu:vfio:$gpu" \
		"$work/mnt/out" --exec "hostsum 0 0 $bytes >$work/host" \
		>"$work/report" || return
	cat "$work/report"
}

host_agrees() {
	[ "$(cut -d' ' -f1 <"$work/host")" = "$(sha256sum <"$work/mnt/in" |
		cut -d' ' -f1)" ]
}

# Both steps of the copy.
all_direct() {
	[ "$(grep -o "\"bytes_direct\":$bytes," "$work/report" | wc -l)" = 2 ]
}

echo "KTAP version 1"
echo "1..7"
check "a file on the disk" make_files
check "vfio-pci drives the GPU's function" give_to_vfio
check "copying into the BAR and back succeeds" copy_works
check "the host finds the file's bytes in the BAR" host_agrees
check "all bytes were direct" all_direct
check "the second file is like the first" cmp "$work/mnt/in" "$work/mnt/out"
check "the GPU's own driver takes it back" give_back

umount "$work/mnt"
rm -rf "$work"
exit "$failed"
