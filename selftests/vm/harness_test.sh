#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests run.sh itself, on the host: a harness that cannot fail proves nothing.
# Prints KTAP. BED and KERNEL of the environment say where.

set -euo pipefail

run=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/run.sh
bed=${PDIO_BED:-switch} kernel=${PDIO_KERNEL:-stock}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0

vm() {
	"$run" --bed "$bed" --kernel "$kernel" --timeout 300 "$@"
}

result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count $2"
	else
		failed=$((failed + 1))
		echo "not ok $count $2"
		sed 's/^/# /' "$work/out" "$work/err"
	fi
}

# expect STATUS NAME PATTERN ARG...: run.sh ends with STATUS, and its words on
# standard error match PATTERN.
expect() {
	local want=$1 name=$2 pattern=$3 got=0 rc=0
	shift 3
	vm "$@" >"$work/out" 2>"$work/err" || got=$?
	if [ "$got" != "$want" ] || ! grep -qE -- "$pattern" "$work/err"; then
		echo "# status $got instead of $want"
		rc=1
	fi
	result "$rc" "$name"
}

# The arguments arrive as they are, the folder is shared both ways, and the
# host's view of the GPU's memory is the guest's.
# shellcheck disable=SC2016 # the guest expands what is quoted here
test_command() {
	local rc=0 sum
	mkdir -p "$work/share" "$work/gpu"
	echo from-host >"$work/share/in"
	truncate -s 256M "$work/gpu/gpu0"
	printf peer | dd of="$work/gpu/gpu0" bs=1 seek=8192 conv=notrunc 2>/dev/null
	sum=$(printf peerpeer | sha256sum)
	vm --share "$work/share" --gpu-mem "$work/gpu" -- bash -c '
		set -e
		printf "<%s>\n" "$@"
		[ "$(cat in)" = from-host ]
		echo from-guest >out
		printf "8192 2\n8194 2\n0x2000 4\n" >/tmp/list
		hostsum 0 -l /tmp/list
		hostsum 0 8192 4
		! hostsum 0 0x0fffffff 2
		! hostsum 7 0 1
		exit 37' _ 'a  b' '' '"*$x' \
		>"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" = 37 ] && [ "$(cat "$work/share/out")" = from-guest ] &&
		[ "$(head -n 3 "$work/out" | tr '\n' ,)" = '<a  b>,<>,<"*$x>,' ] &&
		[ "$(sed -n 4p "$work/out")" = "${sum%% *}" ] &&
		[ "$(sed -n 5p "$work/out")" = "$(printf peer | sha256sum | cut -d' ' -f1)" ]
	result $? "arguments, share, checksums by the host, status"
}

# A drive and a GPU leave and come back while the guest runs.
# shellcheck disable=SC2016 # the guest expands what is quoted here
test_hotplug() {
	local rc=0
	vm -- bash -c '
		set -e
		count() { lspci -n | grep -c "$1" || true; }
		hostqmp del gpu0; [ "$(count 1af4:1110)" = 0 ]
		hostqmp del nvme0; [ "$(count 0108:)" = 0 ]; [ ! -e /dev/nvme0n1 ]
		hostqmp add gpu0; hostqmp add nvme0
		for i in $(seq 100); do
			[ ! -e /dev/nvme0n1 ] || [ "$(count 1af4:1110)" = 0 ] || exit 0
			sleep 0.1
		done
		exit 1' >"$work/out" 2>"$work/err" || rc=$?
	result "$rc" "unplug and plug"
}

# Two machines at once don't get into each other's way.
test_two() {
	local rc=0 first
	vm -- sh -c 'echo one; sleep 5' >"$work/one" 2>"$work/err1" &
	first=$!
	vm -- sh -c 'echo two; sleep 5' >"$work/two" 2>"$work/err2" || rc=1
	wait "$first" || rc=1
	cat "$work"/one "$work"/two >"$work/out"
	cat "$work"/err1 "$work"/err2 >"$work/err"
	[ "$(tr '\n' , <"$work/out")" = one,two, ] || rc=1
	result "$rc" "two at once"
}

echo "KTAP version 1"
echo "1..9"
expect 1 "status of COMMAND" "COMMAND's status: 1" -- false
expect 127 "no such COMMAND" "COMMAND's status: 127" -- /no/such/command
expect 120 "a bed that doesn't exist" "no bed" --bed nosuch -- true
expect 121 "timeout" "timeout after 60 s" --timeout 60 -- sleep 1000
expect 122 "panic" "the guest died" -- sh -c 'echo c >/proc/sysrq-trigger'
expect 123 "dirty kernel log" "WARNING: pdio harness test" -- \
	sh -c 'echo "WARNING: pdio harness test" >/dev/kmsg'
set +e
test_command
test_hotplug
test_two
[ "$failed" = 0 ]
