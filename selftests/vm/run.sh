#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a virtual GPU server and runs one command in it as root.

set -euo pipefail

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/vm/lib/common.sh
. "$vm/lib/common.sh"
# shellcheck source=selftests/vm/lib/apt.sh
. "$vm/lib/apt.sh"
# shellcheck source=selftests/vm/lib/image.sh
. "$vm/lib/image.sh"
# shellcheck source=selftests/vm/lib/kernel.sh
. "$vm/lib/kernel.sh"
# shellcheck source=selftests/vm/lib/initrd.sh
. "$vm/lib/initrd.sh"
# shellcheck source=selftests/vm/lib/build.sh
. "$vm/lib/build.sh"
# shellcheck source=selftests/vm/lib/beds.sh
. "$vm/lib/beds.sh"
# shellcheck source=selftests/vm/lib/qemu.sh
. "$vm/lib/qemu.sh"
# shellcheck source=selftests/vm/lib/requests.sh
. "$vm/lib/requests.sh"
# shellcheck source=selftests/vm/lib/verdict.sh
. "$vm/lib/verdict.sh"

usage() {
	cat <<'EOF'
usage: run.sh [OPTION...] -- COMMAND [ARG...]
       run.sh [OPTION...] --interactive [-- COMMAND [ARG...]]

Boots a VM with an NVMe drive and a fake GPU, pdio and the fake GPU's driver
loaded, pdio's tool and tests on PATH, and runs COMMAND in it as root.
COMMAND's output appears on standard output, what run.sh says itself on
standard error.

  --bed B          switch (default), ports, iommu, misroute, blocked, multi,
                   nopages
  --kernel K       stock, debug, 6.12p2p; on bed nopages 6.12 (its default), 6.1
  --share DIR      mount this folder read-write at /mnt/share; COMMAND starts there
  --gpu-mem DIR    folder for the GPUs' memory: a file gpu0 (gpu1) each, which is
                   the BAR that the guest sees
  --gpu-size SIZE  of each GPU's memory: a power of two, with M or G; default 256M
  --disk-size SIZE of each NVMe drive, with M or G; default 1G
  --timeout S      seconds from start to power-off; default 600
  --interactive    COMMAND (default: a shell) on this terminal; no timeout
                   unless asked for
  -v               name the QMP socket and other details
  --help

Exit status: COMMAND's own, or
  120  run.sh or the bed failed: COMMAND may not have run
  121  timeout
  122  the guest died: panic, reset, or anything but an orderly power-off
  123  the kernel log is dirty, a module did not unload, or (kernel debug)
       something leaked; COMMAND's status is named on standard error
The last lines on standard error say which, and name the console log.

Environment: PDIO_LONG=1 is handed to the guest (tests use their long counts).
EOF
}

RUN_BED=switch
RUN_SHARE='' RUN_GPU_MEM='' RUN_GPU_SIZE=256M RUN_DISK_SIZE=1G
RUN_TIMEOUT='' RUN_INTERACTIVE=0 RUN_VERBOSE=0
RUN_COMMAND=()
RUN_STATUS=$PDIO_STATUS_HARNESS
RUN_TIMED_OUT=0
RUN_DIR='' RUN_GPU_OWN='' QEMU_PID='' TAIL_PID=''

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--help|-h) usage; exit 0 ;;
		--interactive) RUN_INTERACTIVE=1; shift; continue ;;
		-v) RUN_VERBOSE=1; shift; continue ;;
		--) shift; RUN_COMMAND=("$@"); break ;;
		esac
		[ $# -ge 2 ] || die "option '$1': unknown or without a value (see --help)"
		case $1 in
		--bed) RUN_BED=$2 ;;
		--kernel) PDIO_KERNEL=$2 ;;
		--share) RUN_SHARE=$2 ;;
		--gpu-mem) RUN_GPU_MEM=$2 ;;
		--gpu-size) RUN_GPU_SIZE=$2 ;;
		--disk-size) RUN_DISK_SIZE=$2 ;;
		--timeout) RUN_TIMEOUT=$2 ;;
		*) die "unknown option '$1' (see --help)" ;;
		esac
		shift 2
	done
}

check_options() {
	local allowed
	bed_expect "$RUN_BED" >/dev/null || die "no bed '$RUN_BED' (one of: $PDIO_BEDS)"
	allowed=$(bed_kernels "$RUN_BED")
	PDIO_KERNEL=${PDIO_KERNEL:-${allowed%% *}}
	case " $allowed " in
	*" $PDIO_KERNEL "*) ;;
	*) die "bed $RUN_BED runs with kernel: $allowed" ;;
	esac
	if [ ${#RUN_COMMAND[@]} = 0 ]; then
		[ "$RUN_INTERACTIVE" = 1 ] || die "no COMMAND (see --help)"
		RUN_COMMAND=(/bin/bash)
	fi
	[[ $RUN_GPU_SIZE =~ ^[0-9]+[MG]$ ]] || die "--gpu-size: not a size with M or G"
	[[ $RUN_DISK_SIZE =~ ^[0-9]+[MG]$ ]] || die "--disk-size: not a size with M or G"
	if [ "$RUN_INTERACTIVE" = 0 ]; then
		RUN_TIMEOUT=${RUN_TIMEOUT:-600}
	fi
	[[ ${RUN_TIMEOUT:-1} =~ ^[0-9]+$ ]] || die "--timeout: not a number of seconds"
	[ -z "$RUN_SHARE" ] || RUN_SHARE=$(cd "$RUN_SHARE" && pwd) ||
		die "--share: no folder '$RUN_SHARE'"
	need_root
}

# prune_runs: the logs of the twenty latest runs stay; a folder whose run is
# still going on is locked.
prune_runs() {
	local dir fd prune
	mkdir -p "$PDIO_CACHE/runs"
	exec {prune}>"$PDIO_CACHE/runs/.prune"
	# Another run is at it: then it needn't be done here.
	flock -n "$prune" || return 0
	find "$PDIO_CACHE/runs" -mindepth 1 -maxdepth 1 -type d \
		-printf '%T@ %p\n' | sort -rn | tail -n +21 | cut -d' ' -f2- |
	while read -r dir; do
		exec {fd}>"$dir/lock" || continue
		! flock -n "$fd" || rm -rf "$dir" "/dev/shm/pdio-${dir##*/}"
		exec {fd}>&-
	done
	exec {prune}>&-
}

# gpu_folder: where the GPUs' memory lies if nobody asked to see it: in memory if
# there is room for twice as much, else beside the disks.
gpu_folder() {
	local size=${RUN_GPU_SIZE%[MG]} room
	[ "${RUN_GPU_SIZE: -1}" = M ] || size=$((size * 1024))
	room=$(df --output=avail -B1M /dev/shm 2>/dev/null | tail -n 1)
	if [ "${room:-0}" -gt $((size * 2 * $(bed_gpus "$RUN_BED" | wc -w))) ]; then
		echo "/dev/shm/pdio-${RUN_DIR##*/}"
	else
		echo "$RUN_DIR/gpu"
	fi
}

prepare_folder() {
	local name
	RUN_DIR=$(mktemp -d "$PDIO_CACHE/runs/$(date +%m%d-%H%M%S)-$RUN_BED-XXXXXX")
	exec {RUN_LOCK}>"$RUN_DIR/lock"
	flock "$RUN_LOCK"
	mkdir -p "$RUN_DIR"/ctl/{request,answer} "$RUN_DIR"/host/{guest,user,modules}
	if [ -z "$RUN_GPU_MEM" ]; then
		RUN_GPU_OWN=$(gpu_folder)
		RUN_GPU_MEM=$RUN_GPU_OWN
	fi
	mkdir -p "$RUN_GPU_MEM"
	RUN_GPU_MEM=$(cd "$RUN_GPU_MEM" && pwd)
	for name in $(bed_gpus "$RUN_BED"); do
		truncate -s "$RUN_GPU_SIZE" "$RUN_GPU_MEM/$name"
	done
	for name in $(bed_disks "$RUN_BED"); do
		truncate -s "$RUN_DISK_SIZE" "$RUN_DIR/$name"
	done
	cp -a "$PDIO_VM/guest/." "$RUN_DIR/host/guest/"
}

prepare_builds() {
	host_packages qemu-system-x86_64=qemu-system-x86 flock=util-linux
	image_ensure
	kernel_ensure "$PDIO_KERNEL"
	initrd_ensure
	modules_ensure "$RUN_DIR/host/modules"
	user_ensure "$RUN_DIR/host/user"
}

prepare_orders() {
	local rows=24 cols=80 disks
	[ ! -t 0 ] || read -r rows cols < <(stty size)
	disks=$(bed_disks "$RUN_BED" | wc -w)
	printf '%s\0' "${RUN_COMMAND[@]}" >"$RUN_DIR/ctl/command"
	{
		printf 'export %s=%q\n' PDIO_BED "$RUN_BED" \
			PDIO_KERNEL "$PDIO_KERNEL" PDIO_LONG "${PDIO_LONG:-0}"
		printf '%s=%q\n' PDIO_INTERACTIVE "$RUN_INTERACTIVE" \
			PDIO_TERM "${TERM:-dumb}" PDIO_ROWS "$rows" \
			PDIO_COLS "$cols" PDIO_DISKS "$disks" \
			PDIO_NVMES "$(bed_nvmes "$RUN_BED")" \
			PDIO_GPUS "$(bed_gpus "$RUN_BED" | wc -w)" \
			PDIO_EXPECT "$(bed_expect "$RUN_BED")" \
			PDIO_CMB "$([ "$RUN_BED" != multi ] || echo nvme3)" \
			PDIO_CWD "$([ -n "$RUN_SHARE" ] && echo /mnt/share || echo /root)"
	} >"$RUN_DIR/ctl/env"
}

boot() {
	qemu_machine "$RUN_BED" "$PDIO_KERNEL"
	qemu_share image "$(image_dir)" readonly=on
	qemu_share kernel "$KERNEL_DIR" readonly=on
	qemu_share host "$RUN_DIR/host" readonly=on
	qemu_share ctl "$RUN_DIR/ctl"
	[ -z "$RUN_SHARE" ] || qemu_share share "$RUN_SHARE"
	bed_devices "$RUN_BED" "$RUN_DIR" "$RUN_GPU_MEM" "$RUN_GPU_SIZE"
	: >"$RUN_DIR/ctl/output"
	qemu_start "$RUN_DIR"
	if [ "$RUN_INTERACTIVE" = 0 ]; then
		tail -n +1 -s 0.2 -f --pid="$QEMU_PID" "$RUN_DIR/ctl/output" &
		TAIL_PID=$!
	fi
}

# attend: until the machine stops; answers the guest and watches the clock.
attend() {
	local start=$EPOCHREALTIME started=0 tenths
	start=${start/./}
	while qemu_alive; do
		qmp_line 0.1 || true
		if [ "$started" = 0 ] && [ -e "$RUN_DIR/ctl/started" ]; then
			started=1
			tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
			say "run.sh: bed $RUN_BED, kernel $KERNEL_RELEASE:" \
				"COMMAND after $((tenths / 10)).$((tenths % 10)) s"
		fi
		requests_answer
		if [ -n "$RUN_TIMEOUT" ] &&
		   [ $(((${EPOCHREALTIME/./} - start) / 1000000)) -ge "$RUN_TIMEOUT" ]; then
			RUN_TIMED_OUT=1
			qemu_kill || true
		fi
	done
	while qmp_line 0.05; do :; done
	wait "$QEMU_PID" 2>/dev/null || true
	[ -z "$TAIL_PID" ] || wait "$TAIL_PID" || true
}

cleanup() {
	trap - EXIT
	[ -z "$QEMU_PID" ] || ! qemu_alive || qemu_kill || true
	[ -z "$RUN_GPU_OWN" ] || rm -rf "$RUN_GPU_OWN"
	if [ -n "$RUN_DIR" ]; then
		rm -rf "$RUN_DIR"/host "$RUN_DIR"/nvme? "$RUN_DIR"/qmp.*
	fi
	exit "$RUN_STATUS"
}

main() {
	PDIO_KERNEL=''
	parse_options "$@"
	trap cleanup EXIT
	trap 'say "run.sh: interrupted"; exit' INT TERM HUP
	check_options
	prune_runs
	prepare_folder
	prepare_builds
	prepare_orders
	boot
	[ "$RUN_VERBOSE" = 0 ] || say "run.sh: QMP socket $RUN_DIR/qmp.sock"
	attend
	verdict
}

main "$@"
