# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Makes sure that the bed is the one it is called. The module p2pprobe reads the
# shape of the PCI tree and the ACS bits from the hardware, and the mapping type
# between each GPU and each drive from the kernel's own lips. All is noted in
# the kernel log; a difference ends the run before the command.

# topology_want: shape, ACS redirection and IOMMU that the bed must have. A root
# port redirects once the kernel uses an IOMMU; the debug kernel leaves that off.
# Between two root ports the route is the same either way.
topology_want() {
	case $PDIO_BED in
	switch|multi|nopages) echo "switch straight no-iommu" ;;
	misroute) echo "switch straight iommu" ;;
	ports|blocked) echo "ports straight no-iommu" ;;
	iommu)
		if [ "$PDIO_KERNEL" = debug ]; then
			echo "ports straight iommu"
		else
			echo "ports redirect iommu"
		fi ;;
	esac
}

topology_check() {
	local gpu nvme shape redirect iommu type distance want count=0
	want="$(topology_want) $PDIO_EXPECT"
	setup_insmod p2pprobe
	while read -r gpu nvme shape redirect iommu type distance; do
		echo "pdio-vm: gpu $gpu nvme $nvme: $shape, $redirect, $iommu," \
			"mapping type $type, distance $distance" >/dev/kmsg
		[ "$shape $redirect $iommu $type" = "$want" ] ||
			broken "bed $PDIO_BED: gpu $gpu, nvme $nvme:" \
				"$shape $redirect $iommu $type instead of $want"
		count=$((count + 1))
	done </sys/module/p2pprobe/parameters/pairs
	[ "$count" = $((PDIO_GPUS * PDIO_NVMES)) ] ||
		broken "bed $PDIO_BED: $count pairs of GPU and drive"
	rmmod p2pprobe
}
