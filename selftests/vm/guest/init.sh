#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Process 1 of the guest after initrd.sh: readies the machine, runs the command
# that run.sh left in ctl/, and tells run.sh how it went through files there:
# broken (the harness failed, and why), started, output, status, findings,
# dmesg, done.

CTL=/run/pdio/ctl
GUEST=/run/pdio/host/guest
export PATH=$GUEST/bin:/pdio/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LD_LIBRARY_PATH=/pdio/lib HOME=/root LC_ALL=C.UTF-8 TERM=dumb
PDIO_CWD=/root

# shellcheck source=/dev/null
. "$CTL/env"
# shellcheck source=selftests/vm/guest/setup.sh
. "$GUEST/setup.sh"
# shellcheck source=selftests/vm/guest/topology.sh
. "$GUEST/topology.sh"
# shellcheck source=selftests/vm/guest/finish.sh
. "$GUEST/finish.sh"

power_off() {
	sync
	exec /run/pdio/busybox poweroff -f
}

# broken MESSAGE: the bed or the harness isn't what it should be.
broken() {
	echo "pdio-vm: $*" >/dev/kmsg
	dmesg >"$CTL/dmesg"
	echo "$*" >"$CTL/broken"
	power_off
}

run_command() {
	local argv status=0 pump
	mapfile -d '' -t argv <"$CTL/command"
	mkfifo /run/pdio/output
	cat /run/pdio/output >"$CTL/output" &
	pump=$!
	cd "$PDIO_CWD" || broken "no folder $PDIO_CWD"
	echo "pdio-vm: start" >/dev/kmsg
	cut -d' ' -f1 /proc/uptime >"$CTL/started"
	setsid "${argv[@]}" </dev/null >/run/pdio/output 2>&1 || status=$?
	echo "pdio-vm: end, status $status" >/dev/kmsg
	cd /
	kill_leftovers "$pump"
	echo "$status" >"$CTL/status"
}

run_shell() {
	local status=0
	cd "$PDIO_CWD" || broken "no folder $PDIO_CWD"
	cut -d' ' -f1 /proc/uptime >"$CTL/started"
	export TERM=$PDIO_TERM
	mapfile -d '' -t argv <"$CTL/command"
	stty -F /dev/ttyS1 sane rows "$PDIO_ROWS" cols "$PDIO_COLS"
	setsid -c "${argv[@]}" </dev/ttyS1 >/dev/ttyS1 2>&1 || status=$?
	cd /
	kill_leftovers
	echo "$status" >"$CTL/status"
}

setup_mounts
setup_modules
topology_check
[ "$PDIO_KERNEL" != debug ] || echo clear >/sys/kernel/debug/kmemleak
echo 7 >/proc/sys/kernel/printk
if [ "$PDIO_INTERACTIVE" = 1 ]; then
	run_shell
else
	run_command
fi
finish_checks
dmesg >"$CTL/dmesg"
touch "$CTL/done"
power_off
