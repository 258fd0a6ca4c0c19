# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# One virtual machine: its command line, and the conversation with QEMU's
# monitor (QMP), which goes over a pair of FIFOs so that bash can hold it.

declare -A DEVICE_ARGS=() DEVICE_MEMORY=()
QEMU_ARGS=()
QMP_NEXT=0
# The last reason for which QEMU said that the machine stopped.
QMP_SHUTDOWN=

# qemu_share TAG FOLDER [OPTION]: a folder that the guest can mount over 9p.
qemu_share() {
	QEMU_ARGS+=(-fsdev
		"local,id=fs-$1,path=${2//,/,,},security_model=none,multidevs=remap${3:+,$3}"
		-device "virtio-9p-pci,fsdev=fs-$1,mount_tag=$1")
}

# qemu_machine BED KERNEL: all but the bed's devices. TCG, because stock
# kernels must boot where there is no KVM. Hot-plug is the ports' own, not
# ACPI's, so that every kernel here can do it.
qemu_machine() {
	local memory=2G machine=q35
	[ "$2" != debug ] || memory=3G
	! bed_iommu "$1" || machine+=,kernel-irqchip=split
	QEMU_ARGS+=(-machine "$machine" -accel "tcg,thread=multi" -smp 2
		-cpu "$(bed_cpu "$1")" -m "$memory"
		-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
		-nodefaults -no-user-config -display none -no-reboot)
	! bed_iommu "$1" ||
		QEMU_ARGS+=(-device "intel-iommu,intremap=on,caching-mode=on")
}

# qemu_append BED KERNEL: the kernel's command line.
qemu_append() {
	local line="console=ttyS0 loglevel=5 log_buf_len=8M printk.devkmsg=on"
	line+=" panic=-1 oops=panic panic_on_warn=1"
	# A busy host can keep an emulated CPU waiting for long.
	line+=" watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60"
	line+=" workqueue.watchdog_thresh=60 no_timer_check"
	! bed_iommu "$1" || line+=" intel_iommu=on iommu.passthrough=0"
	[ "$2" != debug ] ||
		line+=" sysctl.kernel.hung_task_panic=1 softlockup_panic=1"
	[ -z "$RUN_SHARE" ] || line+=" pdio.share"
	echo "$line"
}

# qemu_start FOLDER: starts the machine; sets QEMU_PID.
qemu_start() {
	local dir=$1
	mkfifo "$dir/qmp.in" "$dir/qmp.out"
	# shellcheck disable=SC2054 # "pipe,id=" is one word
	QEMU_ARGS+=(
		-kernel "$KERNEL_DIR/usr/lib/modules/$KERNEL_RELEASE/vmlinuz"
		-initrd "$INITRD" -append "$(qemu_append "$RUN_BED" "$PDIO_KERNEL")"
		-chardev "file,id=console,path=$dir/console.log"
		-serial chardev:console
		-chardev "pipe,id=qmp,path=$dir/qmp" -mon chardev=qmp,mode=control
		-qmp "unix:$dir/qmp.sock,server=on,wait=off")
	if [ "$RUN_INTERACTIVE" = 1 ]; then
		QEMU_ARGS+=(-chardev "stdio,id=tty,signal=off" -serial chardev:tty)
		qemu-system-x86_64 "${QEMU_ARGS[@]}" <&0 2>"$dir/qemu.log" &
	else
		qemu-system-x86_64 "${QEMU_ARGS[@]}" </dev/null \
			>"$dir/qemu.log" 2>&1 &
	fi
	QEMU_PID=$!
	exec {QMP_IN}<>"$dir/qmp.in" {QMP_OUT}<>"$dir/qmp.out"
	printf '{"execute":"qmp_capabilities"}\n' >&"$QMP_IN"
}

qemu_alive() {
	kill -0 "$QEMU_PID" 2>/dev/null
}

qemu_kill() {
	kill -KILL "$QEMU_PID" 2>/dev/null
	wait "$QEMU_PID" 2>/dev/null
}

# qmp_line SECONDS: the next line that QEMU says, in QMP_LINE; notes why the
# machine stopped. The wait is also what paces run.sh.
qmp_line() {
	QMP_LINE=
	IFS= read -r -t "$1" -u "$QMP_OUT" QMP_LINE || return 1
	case $QMP_LINE in
	*'"event": "SHUTDOWN"'*)
		QMP_SHUTDOWN=${QMP_LINE##*'"reason": "'}
		QMP_SHUTDOWN=${QMP_SHUTDOWN%%'"'*} ;;
	esac
}

# qmp_command JSON: JSON lacks its closing brace; the reply is in QMP_LINE.
# Fails when QEMU refuses or says nothing for ten seconds.
qmp_command() {
	local id=$((QMP_NEXT++)) deadline=$((SECONDS + 10))
	printf '%s,"id":"r%d"}\n' "$1" "$id" >&"$QMP_IN"
	while [ "$SECONDS" -lt "$deadline" ]; do
		qmp_line 1 || continue
		case $QMP_LINE in
		*"\"id\": \"r$id\""*)
			[ "${QMP_LINE#*'"error"'}" = "$QMP_LINE" ]
			return ;;
		esac
	done
	QMP_LINE="QEMU does not answer"
	return 1
}

# qmp_unplug ID: as an operator's button press; waits until the guest let go.
qmp_unplug() {
	local deadline=$((SECONDS + 60))
	qmp_command "{\"execute\":\"device_del\",\"arguments\":{\"id\":\"$1\"}" ||
		return
	while [ "$SECONDS" -lt "$deadline" ]; do
		qmp_line 1 || continue
		case $QMP_LINE in
		*'"DEVICE_DELETED"'*"\"device\": \"$1\""*)
			qmp_forget_memory "$1"
			return ;;
		esac
	done
	QMP_LINE="the guest does not let go of $1"
	return 1
}

# qmp_forget_memory ID: QEMU 7.2 aborts when a second device gets a memory object
# that one had before, so each GPU that is plugged gets a new one over the same
# file. QEMU lets go of the old one a little after the device.
qmp_forget_memory() {
	local try json
	printf -v json '{"execute":"object-del","arguments":{"id":"mem-%s"}' "$1"
	[ -n "${DEVICE_MEMORY[$1]:-}" ] || return 0
	for ((try = 0; try < 20; try++)); do
		! qmp_command "$json" || return 0
		qmp_line 0.1 || true
	done
	return 1
}

qmp_make_memory() {
	local file=${DEVICE_MEMORY[$1]:-} json
	[ -n "$file" ] || return 0
	file=${file//\\/\\\\}
	printf -v json '{"execute":"object-add","arguments":{%s,%s,"id":"mem-%s","mem-path":"%s","size":%d}' \
		'"qom-type":"memory-backend-file"' '"share":true' "$1" \
		"${file//\"/\\\"}" "$(stat -c %s "${DEVICE_MEMORY[$1]}")"
	qmp_command "$json"
}

# qmp_plug ID: the device with the properties it had at first.
qmp_plug() {
	local property json='"driver":"'
	local -a properties
	[ -n "${DEVICE_ARGS[$1]:-}" ] || {
		QMP_LINE="no device $1 that can be plugged"
		return 1
	}
	qmp_make_memory "$1" || return
	IFS=, read -ra properties <<<"${DEVICE_ARGS[$1]}"
	json+="${properties[0]}\""
	for property in "${properties[@]:1}"; do
		# Sizes are numbers to QMP, all else here is text.
		case $property in
		*_size=*|*_mb=*) json+=",\"${property%%=*}\":${property#*=}" ;;
		*) json+=",\"${property%%=*}\":\"${property#*=}\"" ;;
		esac
	done
	qmp_command "{\"execute\":\"device_add\",\"arguments\":{$json}"
}
