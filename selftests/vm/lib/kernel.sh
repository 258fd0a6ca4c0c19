# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The kernels that tests run on. Each ends up as a folder with the layout of a
# root file system (boot image, modules, headers) under the cache's kernels/,
# laid over the guest's root.
#
#   stock    newest kernel of the release's backports     P2PDMA on
#   6.12     the release's own kernel                     P2PDMA off
#   6.1      the older release's kernel                   P2PDMA off
#   6.12p2p  the release's source, P2PDMA and MOVE_NOTIFY on
#   debug    the backports' source with every sanitizer the tests lean on

PDIO_KERNELS="stock 6.12 6.1 6.12p2p debug"

kernel_known() {
	case " $PDIO_KERNELS " in *" $1 "*) return 0 ;; esac
	return 1
}

# kernel_pattern K: the versions of linux-image-amd64 (or linux-source-*) that
# K may be.
kernel_pattern() {
	case $1 in
	stock|debug) echo '~bpo13' ;;
	6.12|6.12p2p) echo '^6\.12\.[0-9]+-[0-9]+$' ;;
	6.1) echo '^6\.1\.[0-9]+-[0-9]+$' ;;
	esac
}

# kernel_resolve K: "PACKAGE VERSION" to fetch, newest that fits.
kernel_resolve() {
	local meta ver
	case $1 in
	debug|6.12p2p)
		if [ "$1" = debug ]; then
			meta=$(apt_cache pkgnames linux-source- |
				grep -E '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
		else
			meta=linux-source-6.12
		fi
		ver=$(apt_newest "$meta" "$(kernel_pattern "$1")") ;;
	*)
		meta=linux-image-amd64
		ver=$(apt_newest "$meta" "$(kernel_pattern "$1")") ;;
	esac
	[ -n "$ver" ] || die "no $1 kernel in the package lists"
	echo "$meta $ver"
}

kernel_key() {
	local k=$1 resolved=$2
	case $k in
	debug|6.12p2p)
		{
			cat "$PDIO_VM/configs/$k.config"
			declare -f kernel_compile
			echo "$resolved"
		} | short_hash ;;
	*)
		{
			declare -f kernel_unpack kernel_debs
			echo "$resolved"
		} | short_hash ;;
	esac
}

# kernel_locate K: sets KERNEL_DIR, resolving anew when the lists are new.
kernel_locate() {
	local k=$1 note=$PDIO_CACHE/kernels/$1.resolved resolved
	apt_refresh || return
	if [ "$note" -nt "$PDIO_APT/fresh" ]; then
		resolved=$(cat "$note")
	else
		resolved=$(kernel_resolve "$k") || return
		mkdir -p "$PDIO_CACHE/kernels"
		echo "$resolved" >"$note"
	fi
	KERNEL_RESOLVED=$resolved
	KERNEL_DIR=$PDIO_CACHE/kernels/$k-$(kernel_key "$k" "$resolved")
}

# kernel_ensure K: sets KERNEL_DIR (layout of a root), KERNEL_RELEASE.
kernel_ensure() {
	kernel_locate "$1" || return
	if [ ! -e "$KERNEL_DIR/.complete" ]; then
		with_lock "kernel-$1" kernel_make "$1" || return
	fi
	KERNEL_RELEASE=$(cat "$KERNEL_DIR/.release")
}

kernel_make() {
	local k=$1
	[ ! -e "$KERNEL_DIR/.complete" ] || return 0
	mkdir -p "$PDIO_CACHE/kernels" "$PDIO_CACHE/build"
	# shellcheck disable=SC2086 # "package version" is two words
	case $k in
	debug|6.12p2p) kernel_build "$k" $KERNEL_RESOLVED ;;
	*) kernel_fetch "$k" $KERNEL_RESOLVED ;;
	esac
}

# kernel_debs PACKAGE VERSION: the packages, "name=version" a line, which make
# up the kernel behind a metapackage and its headers.
kernel_debs() {
	local queue=("$1 $2" "${1/image/headers} $2") seen=" " item name ver dep
	while [ ${#queue[@]} -gt 0 ]; do
		item=${queue[0]}
		queue=("${queue[@]:1}")
		read -r name ver <<<"$item"
		case $seen in *" $name "*) continue ;; esac
		seen+="$name "
		[ -n "$ver" ] || ver=$(apt_newest "$name" "$(kernel_pattern "$k")")
		[ -n "$ver" ] || ver=$(apt_newest "$name" .)
		[ -n "$ver" ] || return 1
		echo "$name=$ver"
		while read -r dep; do
			case $dep in
			linux-image-*|linux-binary-*|linux-modules-*|\
			linux-headers-*|linux-kbuild-*|linux-compiler-*)
				queue+=("$dep") ;;
			esac
		done < <(apt_depends "$name" "$ver")
	done
}

kernel_fetch() {
	local k=$1 tmp=$PDIO_CACHE/kernels/tmp-$1 debs
	image_ensure || return
	rm -rf "$tmp"
	mkdir -p "$tmp/debs"
	mapfile -t debs < <(kernel_debs "$2" "$3")
	[ ${#debs[@]} -gt 2 ] || die "cannot resolve kernel $k"
	quietly "kernel $k ($3): download" "$PDIO_CACHE/kernels/fetch-$k.log" \
		apt_fetch "$tmp/debs" "${debs[@]}" || {
		# Lists can be older than the mirror: once more with new ones.
		apt_refresh force && quietly "kernel $k: download again" \
			"$PDIO_CACHE/kernels/fetch-$k.log" \
			apt_fetch "$tmp/debs" "${debs[@]}" || return
	}
	quietly "kernel $k: unpack" "$PDIO_CACHE/kernels/unpack-$k.log" \
		kernel_unpack "$tmp" || return
	kernel_finish "$tmp"
}

# shellcheck disable=SC2115 # $tmp is never empty
kernel_unpack() {
	local tmp=$1 deb rel
	for deb in "$tmp"/debs/*.deb; do
		dpkg -x "$deb" "$tmp" || return
	done
	rm -rf "$tmp/debs" "$tmp/usr/share"
	# Older packages ship /lib, which is a link in the guest's root.
	if [ -d "$tmp/lib" ]; then
		mkdir -p "$tmp/usr/lib"
		cp -al "$tmp/lib/." "$tmp/usr/lib/" && rm -rf "$tmp/lib"
	fi
	rel=$(find "$tmp/usr/lib/modules" -mindepth 1 -maxdepth 1 -printf '%f\n')
	[ -d "$tmp/usr/lib/modules/$rel/kernel" ] || return
	if [ ! -e "$tmp/usr/lib/modules/$rel/vmlinuz" ]; then
		mv "$tmp/boot/vmlinuz-$rel" "$tmp/usr/lib/modules/$rel/vmlinuz"
	fi
	rm -rf "$tmp/boot"
	# The host may have no module tools, the image has.
	image_chroot "" "depmod -b /out/usr $rel" "$tmp:/out" || return
	[ -s "$tmp/usr/lib/modules/$rel/modules.dep" ] || return
	echo "$rel" >"$tmp/.release"
}

kernel_finish() {
	[ -s "$1/.release" ] || return 1
	touch "$1/.complete"
	rm -rf "$KERNEL_DIR"
	mv "$1" "$KERNEL_DIR"
}

# source_ensure PACKAGE VERSION: sets SOURCE_DIR, the unpacked kernel source.
source_ensure() {
	SOURCE_DIR=$PDIO_CACHE/source/$1-$2
	[ -e "$SOURCE_DIR/.complete" ] || with_lock "source-$1" source_get "$1" "$2"
}

source_get() {
	local dir=$PDIO_CACHE/source/$1-$2 tmp=$PDIO_CACHE/source/tmp-$1
	[ ! -e "$dir/.complete" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/deb" "$tmp/tree"
	quietly "source $1 $2" "$PDIO_CACHE/source/get.log" \
		source_unpack "$tmp" "$1=$2" || return
	touch "$tmp/tree/.complete"
	rm -rf "$dir"
	mv "$tmp/tree" "$dir"
	rm -rf "$tmp"
}

source_unpack() {
	apt_fetch "$1/deb" "$2" && dpkg -x "$1"/deb/*.deb "$1/deb" &&
		tar -C "$1/tree" --strip-components=1 \
			-xf "$1"/deb/usr/src/linux-source-*.tar.xz
}

# kernel_build K PACKAGE VERSION: out of tree, in the image; what a stopped
# build had compiled is used by the next one.
kernel_build() {
	local k=$1 obj out=$PDIO_CACHE/kernels/tmp-$1
	image_ensure && source_ensure "$2" "$3" || return
	obj=$PDIO_CACHE/build/$(basename "$KERNEL_DIR")
	# What was begun for another configuration will never be finished.
	find "$PDIO_CACHE/build" -mindepth 1 -maxdepth 1 -type d -name "$k-*" \
		! -path "$obj" -exec rm -rf {} +
	rm -rf "$out"
	mkdir -p "$obj" "$out"
	quietly "kernel $k ($3): build, 15 to 30 minutes" \
		"$PDIO_CACHE/build/$k.log" kernel_compile "$k" "$obj" "$out" || return
	kernel_finish "$out" && rm -rf "$obj"
}

kernel_compile() {
	image_chroot "" '
		cd /build
		make="make -C /work O=/build CC=gcc-14 HOSTCC=gcc-14"
		make="$make KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=pdio"
		make="$make KBUILD_BUILD_HOST=pdio"
		if [ ! -e .config ]; then
			/work/scripts/kconfig/merge_config.sh -m -O /tmp \
				/pdio/selftests/vm/configs/'"$1"'.config >/dev/null
			$make KCONFIG_ALLCONFIG=/tmp/.config allnoconfig
		fi
		# A symbol that the kernel no longer has, or whose needs are not
		# met, would leave the tests without what they lean on.
		bad=
		while IFS= read -r want; do
			case $want in
			CONFIG_*=n)
				! grep -q "^${want%=n}=" .config || bad="$bad $want" ;;
			CONFIG_*) grep -qx "$want" .config || bad="$bad $want" ;;
			esac
		done </pdio/selftests/vm/configs/'"$1"'.config
		if [ -n "$bad" ]; then
			echo "not in the final configuration:$bad"
			rm -f .config
			exit 1
		fi
		$make -j"$(nproc)" bzImage modules
		$make INSTALL_MOD_PATH=/out/usr INSTALL_MOD_STRIP=1 modules_install
		rel=$($make -s kernelrelease)
		cp arch/x86/boot/bzImage "/out/usr/lib/modules/$rel/vmlinuz"
		$make run-command KBUILD_RUN_COMMAND="/work/scripts/package/install-extmod-build /out/usr/src/linux-headers-$rel"
		rm -f "/out/usr/lib/modules/$rel/build"
		ln -s "/usr/src/linux-headers-$rel" "/out/usr/lib/modules/$rel/build"
		echo "$rel" >/out/.release
	' "$SOURCE_DIR:/work:ro" "$2:/build" "$3:/out" "$PDIO_TOP:/pdio:ro"
}
