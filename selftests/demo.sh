#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: boots a virtual GPU server, moves a file from its NVMe drive into
# GPU memory and from there to a second file, and tells what happened. The
# verdict is this script's, on the host: the guest only delivers figures, and
# the checksum of the GPU's memory is taken from the host's side of it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bytes=$((64 * 1024 * 1024))
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
declare -A fact

fail() {
	printf '\nFAIL: %s\n' "$*"
	exit 1
}

read_facts() {
	local key value
	[ -s "$share/facts" ] || fail "the guest delivered no figures"
	while IFS='=' read -r key value; do
		fact[$key]=$value
	done <"$share/facts"
}

# mib BYTES: for people; nothing is 0 without a unit.
mib() {
	awk -v b="$1" 'BEGIN { printf b ? "%.1f MiB" : "0", b / 1048576 }'
}

# leg LABEL STEP: a line of the report.
leg() {
	local host=$((fact[$2.staged] + fact[$2.cpu]))
	printf '  %-14s %s in %.2f s, route=%s, direct %s, through host memory %s\n' \
		"$1" "$(mib "${fact[$2.bytes]}")" "${fact[$2.seconds]}" \
		"${fact[$2.route]}" "$(mib "${fact[$2.direct]}")" \
		"$(mib "$host")"
	printf '  %-14s %s in %.2f s by the classic way, a bounce through host memory\n' \
		'' "$(mib "${fact[bounce.$2.bytes]}")" \
		"${fact[bounce.$2.seconds]}"
}

report() {
	printf '\npdio demo: a file from an NVMe drive into GPU memory and back\n\n'
	printf '  machine        QEMU, kernel %s, NVMe %s and GPU %s below one PCIe switch\n' \
		"${fact[kernel]}" "${fact[client]}" "${fact[provider]}"
	printf '  file           %s of random data on %s\n' \
		"$(mib "$bytes")" "${fact[filesystem]}"
	printf '  path           %s, by the kernel'\''s p2pdma\n\n' "${fact[map]}"
	leg 'NVMe -> GPU' read
	leg 'GPU -> NVMe' write
	printf '\n  SHA-256        %s  source file\n' "${fact[sum.source]}"
	printf '                 %s  GPU memory, read by the host in %s piece(s)\n' \
		"${fact[sum.gpu]}" "${fact[extents]}"
	printf '                 %s  second file\n' "${fact[sum.copy]}"
	printf '\n  Times are those of an emulator: compare them with each other, not with hardware.\n'
}

# check_leg STEP: all bytes went from device to device, by pdio's own counters.
check_leg() {
	[ "${fact[$1.bytes]}" = "$bytes" ] ||
		fail "$1: ${fact[$1.bytes]} of $bytes bytes moved"
	[ "${fact[$1.route]}" = direct ] ||
		fail "$1: route=${fact[$1.route]}"
	[ "${fact[$1.direct]}" = "$bytes" ] ||
		fail "$1: only ${fact[$1.direct]} bytes went direct"
	[ "$((fact[$1.staged] + fact[$1.cpu]))" = 0 ] ||
		fail "$1: bytes went through host memory"
	[ "${fact[bounce.$1.bytes]}" = "$bytes" ] ||
		fail "$1: the bounce to compare with moved ${fact[bounce.$1.bytes]} bytes"
}

check() {
	local sum=${fact[sum.source]}
	[[ $sum =~ ^[0-9a-f]{64}$ ]] || fail "no checksum of the source file"
	[ "${fact[sum.gpu]}" = "$sum" ] ||
		fail "GPU memory differs from the source file"
	[ "${fact[sum.copy]}" = "$sum" ] ||
		fail "the second file differs from the source file"
	check_leg read
	check_leg write
}

cp "$here/demo_guest.sh" "$share/"
status=0
"$here/vm/run.sh" --bed switch --kernel stock --share "$share" --timeout 600 \
	-- bash /mnt/share/demo_guest.sh "$bytes" || status=$?
[ "$status" = 0 ] || fail "the virtual machine ended with status $status, see above"
read_facts
report
check
printf '\nPASS: every byte went straight from device to device, and all three checksums agree.\n'
