# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The guest's root file system: a plain folder, served read-only to the VM over
# 9p, in which modules and tests are built too (in a chroot), so that the
# compiler always fits the kernel.

PDIO_IMAGE_PACKAGES=(
	kmod pciutils iproute2 procps strace busybox-static
	e2fsprogs xfsprogs btrfs-progs mdadm dmsetup nvme-cli fio
	gcc-14 gcc-12 gcc-14-multilib libc6-dev libc6-dev-i386 make bc
	g++-14 flex bison perl python3-minimal python3-yaml
	libelf-dev libssl-dev libjson-c-dev liburing-dev
	libnl-3-dev libnl-genl-3-dev sparse
	dwarves rsync cpio xz-utils zstd ca-certificates
)

image_key() {
	{
		printf '%s\n' "$PDIO_SUITE" "${PDIO_IMAGE_PACKAGES[@]}"
		cat "$PDIO_VM/lib/image.sh"
	} | short_hash
}

image_dir() {
	echo "$PDIO_CACHE/images/$PDIO_SUITE-$(image_key)"
}

image_ensure() {
	[ -e "$(image_dir)/.complete" ] || with_lock image image_build
}

image_build() {
	local dir tmp include
	dir=$(image_dir)
	[ ! -e "$dir/.complete" ] || return 0
	host_packages mmdebstrap=mmdebstrap =debian-archive-keyring
	tmp=$PDIO_CACHE/images/tmp.$$
	mkdir -p "$PDIO_CACHE/images"
	rm -rf "$PDIO_CACHE"/images/tmp.*
	include=$(IFS=,; echo "${PDIO_IMAGE_PACKAGES[*]}")
	apt_sources | grep -v bookworm >"$PDIO_CACHE/images/sources"
	[ -s "$PDIO_CACHE/images/sources" ] || return 1
	quietly "root file system ($PDIO_SUITE)" "$PDIO_CACHE/images/build.log" \
		mmdebstrap --mode=root --variant=minbase --architectures=amd64 \
		--include="$include" --aptopt='Acquire::Retries "3"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$PDIO_SUITE" "$tmp" "$PDIO_CACHE/images/sources" || {
		rm -rf "$tmp"
		return 1
	}
	# The mirror is the host's affair, not the image's.
	rm -f "$tmp/etc/apt/sources.list"
	ln -sf gcc-14 "$tmp/usr/bin/gcc"
	ln -sf gcc-14 "$tmp/usr/bin/cc"
	ln -sf g++-14 "$tmp/usr/bin/g++"
	mkdir -p "$tmp"/{mnt/share,pdio,work,build,out}
	touch "$tmp/.complete"
	rm -rf "$dir"
	mv "$tmp" "$dir"
}

# image_chroot KERNEL_ROOT SCRIPT [BIND...]: runs SCRIPT (bash -c) in the image,
# read-only, with KERNEL_ROOT (a folder, or "") laid over it, and each BIND
# ("HOSTDIR:GUESTDIR[:ro]") mounted. All mounts are private to the call.
image_chroot() {
	local kroot=$1 script=$2
	shift 2
	unshare --mount --propagation private bash -euc '
		root=$1 kroot=$2 script=$3
		shift 3
		m=$(mktemp -d)
		if [ -n "$kroot" ]; then
			mount -t overlay -o "ro,lowerdir=$kroot:$root" pdio "$m"
		else
			mount --bind "$root" "$m"
		fi
		mount --rbind /dev "$m/dev"
		mount -t proc proc "$m/proc"
		mount -t tmpfs tmp "$m/tmp"
		for bind in "$@"; do
			IFS=: read -r src dst opt <<<"$bind"
			mount --bind "$src" "$m$dst"
			[ -z "$opt" ] || mount -o "remount,bind,$opt" "$m$dst"
		done
		rc=0
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C \
			TERM=dumb chroot "$m" bash -euc "$script" || rc=$?
		umount -R -l "$m"
		rmdir "$m"
		exit "$rc"
	' image_chroot "$(image_dir)" "$kroot" "$script" "$@"
}
