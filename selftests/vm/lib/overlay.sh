# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Packages that only some checks need (dkms, sparse, shellcheck, ...), unpacked
# into folders that image_chroot lays over the guest's root. So each check runs
# with the same version of its tool on every host, and the image stays small.

# overlay_ensure NAME PACKAGE[=VERSION]...: sets OVERLAY_DIR.
overlay_ensure() {
	local name=$1 key
	shift
	image_ensure && apt_refresh || return
	key=$(printf '%s\n' "$(image_dir)" "$@" "$(declare -f overlay_make)" |
		short_hash)
	OVERLAY_DIR=$PDIO_CACHE/overlays/$name-$key
	[ -e "$OVERLAY_DIR/.complete" ] ||
		with_lock "overlay-$name" overlay_make "$name" "$@"
}

# The image's own package state tells apt what is there already.
overlay_make() {
	local name=$1 tmp=$PDIO_CACHE/overlays/tmp-$1 deb opts
	[ ! -e "$OVERLAY_DIR/.complete" ] || return 0
	shift
	rm -rf "$tmp"
	mkdir -p "$tmp/debs/partial" "$tmp/root"
	mapfile -t opts < <(apt_options)
	opts+=("-oDir::State::status=$(image_dir)/var/lib/dpkg/status"
	       "-oDir::Cache::archives=$tmp/debs")
	quietly "tools: $name" "$PDIO_CACHE/overlays/$name.log" \
		apt-get "${opts[@]}" --download-only --no-install-recommends \
		-y install "$@" || return
	for deb in "$tmp"/debs/*.deb; do
		dpkg -x "$deb" "$tmp/root" || return
	done
	overlay_merge_usr "$tmp/root" || return
	touch "$tmp/root/.complete"
	rm -rf "$OVERLAY_DIR"
	mv "$tmp/root" "$OVERLAY_DIR"
	rm -rf "$tmp"
}

# Older packages ship /lib, /bin and /sbin, which are links in the guest's root.
overlay_merge_usr() {
	local d
	for d in lib bin sbin; do
		if [ -d "$1/$d" ]; then
			mkdir -p "$1/usr/$d"
			cp -a "$1/$d/." "$1/usr/$d/" && rm -rf "${1:?}/$d"
		fi
	done
}
