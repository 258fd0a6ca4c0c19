#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of dkms_test.sh that runs in the chroot: dkms as a user or apt calls
# it. What it writes lands in memory and is gone afterwards.
set -euo pipefail

# shellcheck source=selftests/lib/ktap.sh
. /pdio/selftests/lib/ktap.sh

version=$(cat /pdio/VERSION)
real_kernels=$(cd /usr/lib/modules && echo ./*)
real_kernels=${real_kernels//.\//}
old=5.10.0-99-amd64
new=7.99.0-1-amd64

# A writable layer over a folder of the read-only root.
writable() {
	mkdir -p "/tmp/layer$1/up" "/tmp/layer$1/work"
	mount -t overlay -o \
		"lowerdir=$1,upperdir=/tmp/layer$1/up,workdir=/tmp/layer$1/work" \
		layer "$1"
}

# Headers that look installed, and fail whoever tries to build with them.
fake_kernel() {
	local src=/usr/src/linux-headers-$1
	mkdir -p "$src/include/config" "/usr/lib/modules/$1"
	printf '%%:\n\t@echo built for a kernel that is not supported; false\n' \
		>"$src/Makefile"
	: >"$src/.config"
	ln -s "$src" "/usr/lib/modules/$1/build"
}

# A release holds what git does; here, what the module is made of.
unpack_release() {
	local dst=/usr/src/pdio-$version part
	mkdir -p "$dst"
	for part in Kbuild Makefile VERSION dkms.conf; do
		cp "/pdio/$part" "$dst/"
	done
	mkdir "$dst/kernel"
	cp /pdio/kernel/*.[ch] "$dst/kernel/"
	cp -r /pdio/uapi "$dst/"
}

module_of() {
	find "/usr/lib/modules/$1/updates/dkms" -name 'pdio.ko*' 2>/dev/null
}

# installed KERNEL: the module is there, of this version and for this kernel.
installed() {
	local ko magic
	ko=$(module_of "$1")
	[ -n "$ko" ] || { echo "no module for $1"; return 1; }
	magic=$(modinfo -F vermagic "$ko")
	[ "${magic%% *}" = "$1" ] || { echo "vermagic: $magic"; return 1; }
	[ "$(modinfo -F version "$ko")" = "$version" ] ||
		{ echo "version: $(modinfo -F version "$ko")"; return 1; }
}

add() {
	dkms add "pdio/$version"
}

# What kernel packages run: it must build here.
autoinstall() {
	dkms autoinstall -k "$1" && installed "$1"
}

# It must neither build nor fail here.
autoinstall_skips() {
	local out rc=0
	out=$(dkms autoinstall -k "$1" 2>&1) || rc=$?
	echo "$out"
	[ "$rc" = 0 ] && [ -z "$(module_of "$1")" ] &&
		! grep -q 'not supported; false' <<<"$out" &&
		! find "/var/lib/dkms/pdio/$version" -name make.log |
			grep -q "/$1/"
}

# By hand it says why, with the status that packages' scripts take for a skip.
build_excluded() {
	local rc=0
	dkms build "pdio/$version" -k "$1" || rc=$?
	[ "$rc" = 77 ] || { echo "exit status $rc"; return 1; }
}

build_and_install() {
	dkms build "pdio/$version" -k "$1" &&
		dkms install "pdio/$version" -k "$1" && installed "$1"
}

removed() {
	local k
	dkms remove "pdio/$version" --all || return
	for k in $real_kernels; do
		[ -z "$(module_of "$k")" ] || { echo "left for $k"; return 1; }
	done
	[ -z "$(dkms status pdio)" ] || { dkms status pdio; return 1; }
}

writable /usr/src
writable /usr/lib/modules
fake_kernel "$old"
fake_kernel "$new"
unpack_release

ktap_begin
ktap_run "add" add
ktap_run "autoinstall skips $old, nothing built yet" autoinstall_skips "$old"
ktap_run "autoinstall skips $new, nothing built yet" autoinstall_skips "$new"
for k in $real_kernels; do
	ktap_run "autoinstall $k" autoinstall "$k"
done
ktap_run "autoinstall skips $old, built for others" autoinstall_skips "$old"
ktap_run "autoinstall skips $new, built for others" autoinstall_skips "$new"
ktap_run "build says that $old is excluded" build_excluded "$old"
ktap_run "remove" removed
ktap_run "add again" add
k=${real_kernels%% *}
ktap_run "build and install $k" build_and_install "$k"
ktap_run "remove again" removed
ktap_end
