# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # used by run.sh and qemu.sh
# The test beds as QEMU arguments. A GPU is ivshmem-plain over a host file, so
# that the host sees the memory behind its BAR. Every GPU, drive and port has a
# QEMU id (gpu0, nvme0, ...); what hostqmp needs to plug one back in is noted
# in DEVICE_ARGS.

PDIO_BEDS="switch ports iommu misroute blocked multi nopages"

# bed_expect BED: the kernel's mapping type between its GPUs and drives.
bed_expect() {
	case $1 in
	switch|misroute|multi) echo BUS_ADDR ;;
	ports|iommu) echo THRU_HOST_BRIDGE ;;
	blocked) echo NOT_SUPPORTED ;;
	nopages) echo none ;;
	*) return 1 ;;
	esac
}

# bed_kernels BED: the kernels it may run with, the default one first.
bed_kernels() {
	case $1 in
	nopages) echo "6.12 6.1" ;;
	*) echo "stock debug 6.12p2p" ;;
	esac
}

# bed_cpu BED: whether the kernel routes peer traffic through the host bridge
# depends on the CPU's vendor and family.
bed_cpu() {
	case $1 in
	ports|iommu) echo EPYC ;;
	*) echo Nehalem ;;
	esac
}

bed_iommu() {
	case $1 in iommu|misroute) return 0 ;; esac
	return 1
}

# bed_disks BED: the names of its drives; each has a disk file.
bed_disks() {
	case $1 in
	multi) echo "nvme0 nvme1 nvme2 nvme3 nvme4" ;;
	*) echo nvme0 ;;
	esac
}

# bed_nvmes BED: how many NVMe controllers the guest must find.
bed_nvmes() {
	case $1 in
	multi) echo 6 ;;
	*) echo 1 ;;
	esac
}

bed_gpus() {
	case $1 in
	multi) echo "gpu0 gpu1" ;;
	*) echo gpu0 ;;
	esac
}

# qemu_device ID ARGS: a device that can be plugged out and in again.
qemu_device() {
	QEMU_ARGS+=(-device "$2")
	DEVICE_ARGS[$1]=$2
}

# bed_switch COUNT: a switch with COUNT downstream ports p0, p1, ...
bed_switch() {
	local i
	QEMU_ARGS+=(-device "pcie-root-port,id=root0,bus=pcie.0,chassis=1,slot=1"
		-device "x3130-upstream,id=up0,bus=root0")
	for ((i = 0; i < $1; i++)); do
		QEMU_ARGS+=(-device
			"xio3130-downstream,id=p$i,bus=up0,chassis=$((i + 2)),slot=$((i + 2))")
	done
}

# bed_ports COUNT: root ports p0, p1, ...
bed_ports() {
	local i
	for ((i = 0; i < $1; i++)); do
		QEMU_ARGS+=(-device
			"pcie-root-port,id=p$i,bus=pcie.0,chassis=$((i + 1)),slot=$((i + 1))")
	done
}

# bed_fabric BED: what lies between the drives, the GPUs and the CPU. Drives
# sit behind p0, p1, ..., GPUs behind the ports after theirs.
bed_fabric() {
	case $1 in
	switch|misroute|nopages) bed_switch 2 ;;
	ports|iommu|blocked) bed_ports 2 ;;
	multi) bed_switch 8 ;;
	esac
}

# bed_gpu NAME PORT FOLDER SIZE
bed_gpu() {
	QEMU_ARGS+=(-object
		"memory-backend-file,id=mem-$1,share=on,mem-path=${3//,/,,}/$1,size=$4")
	qemu_device "$1" "ivshmem-plain,id=$1,memdev=mem-$1,bus=$2"
	DEVICE_MEMORY[$1]=$3/$1
}

# bed_drive NAME FILE: the backend of a drive; outlives an unplugged device.
bed_drive() {
	QEMU_ARGS+=(-blockdev
		"driver=raw,node-name=disk-$1,file.driver=file,file.filename=${2//,/,,}")
}

# bed_nvme NAME PORT [OPTIONS]: one controller with one namespace.
bed_nvme() {
	qemu_device "$1" "nvme,id=$1,serial=$1,bus=$2${3:+,$3},drive=disk-$1"
}

# bed_simple FOLDER GPU_FOLDER GPU_SIZE: one drive, one GPU.
bed_simple() {
	bed_drive nvme0 "$1/nvme0"
	bed_nvme nvme0 p0
	bed_gpu gpu0 p1 "$2" "$3"
}

# bed_multi FOLDER GPU_FOLDER GPU_SIZE: drives of every format that a route
# must tell apart; nvme4 has a second controller, nvme5, for multipath.
bed_multi() {
	local name
	for name in $(bed_disks multi); do
		bed_drive "$name" "$1/$name"
	done
	bed_nvme nvme0 p0
	bed_nvme nvme1 p1 logical_block_size=4096,physical_block_size=4096
	QEMU_ARGS+=(-device "nvme,id=nvme2,serial=nvme2,bus=p2"
		-device "nvme-ns,drive=disk-nvme2,bus=nvme2,ms=8,pi=1")
	bed_nvme nvme3 p3 cmb_size_mb=64
	QEMU_ARGS+=(-device "nvme-subsys,id=subsys4,nqn=pdio4"
		-device "nvme,id=nvme4,serial=nvme4,bus=p4,subsys=subsys4"
		-device "nvme,id=nvme5,serial=nvme4,bus=p5,subsys=subsys4"
		-device "nvme-ns,drive=disk-nvme4,bus=nvme4,nsid=1,shared=on")
	bed_gpu gpu0 p6 "$2" "$3"
	bed_gpu gpu1 p7 "$2" "$3"
}

# bed_devices BED FOLDER GPU_FOLDER GPU_SIZE
bed_devices() {
	bed_fabric "$1"
	case $1 in
	multi) bed_multi "$2" "$3" "$4" ;;
	*) bed_simple "$2" "$3" "$4" ;;
	esac
}
