#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs a command of this tree on a Debian 13 that has nothing but git and make, in
# a chroot: with that release's QEMU and tools, whatever the host is. Kernels and
# images come from the host's cache.
set -euo pipefail

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/vm/lib/common.sh
. "$vm/lib/common.sh"
# shellcheck source=selftests/vm/lib/apt.sh
. "$vm/lib/apt.sh"

usage() {
	cat <<'EOF'
usage: on_trixie.sh COMMAND [ARG...]

Runs COMMAND at the top of the tree, in a chroot of Debian 13. Its exit status
is COMMAND's.
EOF
}

machine_key() {
	{ echo "$PDIO_SUITE"; cat "$vm/on_trixie.sh"; } | short_hash
}

machine_build() {
	local tmp=$PDIO_CACHE/machines/tmp
	[ ! -e "$machine/.complete" ] || return 0
	mkdir -p "$PDIO_CACHE/machines"
	rm -rf "$tmp"
	apt_sources | grep -v bookworm >"$PDIO_CACHE/machines/sources"
	quietly "machine ($PDIO_SUITE)" "$PDIO_CACHE/machines/build.log" \
		mmdebstrap --mode=root --variant=minbase --architectures=amd64 \
		--include=git,make,ca-certificates \
		"$PDIO_SUITE" "$tmp" "$PDIO_CACHE/machines/sources" || return
	# As on a machine of that release: its own sources, our way to them.
	mkdir -p "$tmp/etc/apt/apt.conf.d"
	find /etc/apt/apt.conf.d -type f ! -name '*docker*' \
		-exec cp -t "$tmp/etc/apt/apt.conf.d" {} +
	cp -L /etc/resolv.conf "$tmp/etc/resolv.conf"
	mkdir -p "$tmp/tree" "$tmp/cache"
	touch "$tmp/.complete"
	rm -rf "$machine"
	mv "$tmp" "$machine"
}

case ${1:---help} in
--help|-h) usage; exit 0 ;;
esac
need_root
host_packages mmdebstrap=mmdebstrap =debian-archive-keyring
machine=$PDIO_CACHE/machines/$PDIO_SUITE-$(machine_key)
with_lock machine machine_build

# shellcheck disable=SC2016 # expands in the shell it is for
unshare --mount --propagation private bash -euc '
	machine=$1 tree=$2 cache=$3
	shift 3
	mount --bind "$machine" "$machine"
	mount --rbind /dev "$machine/dev"
	mount -t proc proc "$machine/proc"
	mount -t sysfs sysfs "$machine/sys"
	mount -t tmpfs tmp "$machine/tmp"
	mount --bind "$tree" "$machine/tree"
	mount --bind "$cache" "$machine/cache"
	exec env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root TERM=dumb XDG_CACHE_HOME=/cache \
		chroot "$machine" sh -c "cd /tree && exec \"\$@\"" sh "$@"
' on_trixie "$machine" "$PDIO_TOP" "$(dirname "$PDIO_CACHE")" "$@"
