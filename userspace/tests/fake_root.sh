# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The folder that the fake kernel takes device nodes and sysfs from.

# fake_root DIR: makes it.
fake_root() {
	local dir=$1 dev=$1/sys/bus/pci/devices/0000:01:00.0
	mkdir -p "$dir/dev/vfio/devices" "$dev/vfio-dev/vfio0" \
		"$dir/sys/bus/pci/groups/7"
	touch "$dir/dev/pdio" "$dir/dev/fakegpu0" "$dir/dev/iommu" \
		"$dir/dev/vfio/vfio" "$dir/dev/vfio/7" \
		"$dir/dev/vfio/noiommu-7"
	truncate -s 2M "$dir/dev/vfio/devices/vfio0" "$dir/dev/vfio/device"
	echo vfio-noiommu >"$dir/sys/bus/pci/groups/7/noname"
	ln -sfn ../../groups/7 "$dev/iommu_group"
}
