# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the guest looks for after the command: processes that won't die, modules
# that won't unload, leaks. A finding makes the run dirty.

finding() {
	echo "pdio-vm: finding: $*" >/dev/kmsg
	echo "$*" >>"$CTL/findings"
}

# kill_leftovers [PUMP]: ends what the command left running. PUMP, which
# carries the output, ends by itself once nothing can write to it any more.
kill_leftovers() {
	local i pid left
	for ((i = 0; i < 50; i++)); do
		left=
		for pid in $(user_processes); do
			[ "$pid" != "${1:-}" ] || continue
			left+=" $pid"
			kill -KILL "$pid" 2>/dev/null
		done
		[ -n "$left" ] || break
		sleep 0.1
	done
	[ -z "$left" ] || finding "processes that cannot be killed:$left"
	[ -z "${1:-}" ] || wait "$1"
}

# user_processes: all but this shell and kernel threads.
user_processes() {
	local dir
	for dir in /proc/[0-9]*; do
		[ "$dir" != /proc/1 ] && [ "$dir" != "/proc/$BASHPID" ] &&
			[ -n "$(readlink "$dir/exe")" ] && echo "${dir##*/}"
	done 2>/dev/null
}

# Tests that were cut short leave file systems and arrays behind.
finish_storage() {
	umount -a -f -t ext4,xfs,btrfs 2>/dev/null
	swapoff -a 2>/dev/null
	[ ! -e /proc/mdstat ] || mdadm --stop --scan 2>/dev/null
}

finish_unload() {
	local module
	for module in p2pprobe importer pdio fakegpu; do
		[ -d "/sys/module/$module" ] || continue
		[ -d "/sys/module/$module/holders" ] || continue
		rmmod "$module" || finding "module $module does not unload"
	done
}

# DMA-API debug reports what a device still has mapped when its driver leaves.
finish_dma() {
	local fn errors
	for fn in $(pci_functions 0x010802); do
		[ ! -e "/sys/bus/pci/drivers/nvme/$fn" ] ||
			echo "$fn" >/sys/bus/pci/drivers/nvme/unbind
	done
	errors=$(cat /sys/kernel/debug/dma-api/error_count)
	[ "$errors" = 0 ] || finding "DMA-API debug counted $errors errors"
}

# leaks_reported: what kmemleak has found, less what the kernel itself is known to
# leak: vfio-pci's dma-buf loses the list of each mapping, since 7.3's
# dma_buf_phys_vec_to_sgt() sets orig_nents to 0 and sg_free_table() goes by it.
leaks_reported() {
	awk '/^unreferenced object/ {
			if (!known)
				printf "%s", record
			record = ""
			known = 0
		}
		/vfio_pci_dma_buf_map/ { known = 1 }
		{ record = record $0 "\n" }
		END { if (!known) printf "%s", record }' \
		/sys/kernel/debug/kmemleak
}

# An object is reported only when it is five seconds old and was found
# unreferenced twice.
finish_leaks() {
	local leaks
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	leaks=$(leaks_reported)
	[ -n "$leaks" ] || return 0
	finding "kmemleak found unreferenced objects"
	echo "$leaks" >>"$CTL/findings"
}

finish_checks() {
	finish_storage
	finish_unload
	[ "$PDIO_KERNEL" = debug ] || return 0
	finish_dma
	finish_leaks
}
