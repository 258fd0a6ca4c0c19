# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Readies the guest for the command: mounts, loopback, NVMe, the modules.

setup_mounts() {
	mount -t tmpfs -o mode=1777 tmp /tmp
	mkdir -p /dev/pts /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 pts /dev/pts
	mount -t tmpfs -o mode=1777 shm /dev/shm
	ln -sfn /proc/self/fd /dev/fd
	ln -sfn /proc/self/fd/0 /dev/stdin
	ln -sfn /proc/self/fd/1 /dev/stdout
	ln -sfn /proc/self/fd/2 /dev/stderr
	mount -t debugfs debug /sys/kernel/debug
	[ ! -d /sys/kernel/tracing ] ||
		mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
	modprobe -q configfs
	mount -t configfs config /sys/kernel/config
	mount -t cgroup2 cgroup /sys/fs/cgroup
	ip link set lo up
	echo pdio-vm >/proc/sys/kernel/hostname
}

# setup_nvme: drives are numbered as they are probed, which happens in parallel.
# Where there are several, bind them one by one, so that /dev/nvme0n1 is the
# same drive at each boot.
setup_nvme() {
	local driver=/sys/bus/pci/drivers/nvme functions fn
	[ "$PDIO_NVMES" = 1 ] || echo 0 >/sys/bus/pci/drivers_autoprobe
	modprobe -q nvme
	[ -d "$driver" ] || broken "no NVMe driver"
	mapfile -t functions < <(pci_functions 0x010802)
	[ ${#functions[@]} = "$PDIO_NVMES" ] ||
		broken "${#functions[@]} NVMe functions instead of $PDIO_NVMES"
	if [ "$PDIO_NVMES" != 1 ]; then
		for fn in "${functions[@]}"; do
			[ ! -e "$driver/$fn" ] || echo "$fn" >"$driver/unbind"
		done
		for fn in "${functions[@]}"; do
			echo "$fn" >"$driver/bind"
		done
		echo 1 >/sys/bus/pci/drivers_autoprobe
	fi
	setup_wait_disks
}

# A controller's namespaces appear some time after its driver is bound.
setup_wait_disks() {
	local i disks
	shopt -s nullglob
	for ((i = 0; i < 300; i++)); do
		disks=(/dev/nvme*n1)
		[ ${#disks[@]} -lt "$PDIO_DISKS" ] || break
		sleep 0.1
	done
	shopt -u nullglob
	[ ${#disks[@]} = "$PDIO_DISKS" ] ||
		broken "${#disks[@]} disks instead of $PDIO_DISKS"
}

# pci_functions CLASS: addresses of the functions of that class, in order.
pci_functions() {
	local dev class
	for dev in /sys/bus/pci/devices/*; do
		read -r class <"$dev/class"
		[ "$class" != "$1" ] || echo "${dev##*/}"
	done
}

# setup_insmod NAME [ARGS]: loads /pdio-modules/NAME.ko and what it needs.
setup_insmod() {
	local ko=/pdio-modules/$1.ko dep
	shift
	for dep in $(modinfo -F depends "$ko" | tr ',' ' '); do
		modprobe "$dep" || broken "cannot load $dep, which $ko needs"
	done
	insmod "$ko" "$@" || broken "cannot load $ko"
}

# The fake GPU comes first, as a GPU's driver would.
setup_modules() {
	local cmb=()
	setup_nvme
	if [ -n "$PDIO_CMB" ]; then
		cmb=("cmb=$(basename "$(readlink -f \
			"/sys/class/nvme/$PDIO_CMB/device")")")
	fi
	setup_insmod fakegpu "${cmb[@]}"
	setup_insmod pdio
}
