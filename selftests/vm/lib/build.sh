# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Builds what a guest runs: the modules for one kernel, and userspace, both in
# the image and both under build/ of the tree. An unchanged tree costs one hash.

PDIO_BUILD=$PDIO_TOP/build

# tree_hash PATH...: of the contents and names of the files under PATHs.
tree_hash() {
	(cd "$PDIO_TOP" && find "$@" -type f -print0 2>/dev/null | sort -z |
		xargs -0r sha256sum) | short_hash
}

# build_lock NAME COMMAND...: with_lock, but other trees don't wait.
build_lock() {
	local name=$1
	shift
	with_lock "build-$(echo "$PDIO_TOP" | short_hash)-$name" "$@"
}

# modules_ensure DEST: the modules for KERNEL_DIR, a private copy in DEST.
modules_ensure() {
	build_lock "$PDIO_KERNEL" modules_make "$1"
}

modules_make() {
	local out=$PDIO_BUILD/$PDIO_KERNEL stamp
	stamp="$KERNEL_DIR $(image_key) $(short_hash <"$PDIO_VM/lib/build.sh")"
	stamp+=" $(tree_hash Kbuild Makefile VERSION kernel uapi selftests/modules)"
	mkdir -p "$out/src" "$out/modules"
	if [ "$(cat "$out/stamp" 2>/dev/null)" != "$stamp" ]; then
		# Objects of another kernel under the same name are no use.
		[ "$(cut -d' ' -f1 "$out/stamp" 2>/dev/null)" = "$KERNEL_DIR" ] ||
			rm -rf "$out/src" "$out/modules"
		mkdir -p "$out/src" "$out/modules"
		rm -f "$out/stamp"
		echo "$KERNEL_DIR" >"$out/stamp"
		quietly "modules for $PDIO_KERNEL" "$out/build.log" \
			modules_compile "$out" || return
		echo "$stamp" >"$out/stamp"
	fi
	cp -a "$out/modules/." "$1/"
}

modules_compile() {
	local cc=
	# Debian's headers name their own compiler; ours are built with this one.
	case $PDIO_KERNEL in debug|6.12p2p) cc=CC=gcc-14 ;; esac
	# shellcheck disable=SC2016 # expands in the chroot
	image_chroot "$KERNEL_DIR" '
		cd /work
		# What was built there stays, what left the tree goes.
		rsync -aR --delete --exclude=".*" --exclude="*.o" \
			--exclude="*.ko" --exclude="*.mod" --exclude="*.mod.c" \
			--exclude=Module.symvers --exclude=modules.order \
			Kbuild Makefile VERSION kernel uapi selftests/modules \
			/build/src/
		make="make -C /usr/lib/modules/'"$KERNEL_RELEASE"'/build '"$cc"'"
		cd /build/src
		$make -j"$(nproc)" M=/build/src modules
		$make -j"$(nproc)" M=/build/src/selftests/modules modules
		rm -f /build/modules/*.ko
		find /build/src -name "*.ko" -exec cp -t /build/modules {} +
	' "$PDIO_TOP:/work:ro" "$1:/build"
}

# kselftest_ensure: sets KSELFTEST, a folder with the kernel's two test headers.
kselftest_ensure() {
	local KERNEL_DIR KERNEL_RESOLVED
	kernel_locate debug || return
	KSELFTEST=$PDIO_CACHE/kselftest/${KERNEL_RESOLVED// /-}
	[ -e "$KSELFTEST/kselftest_harness.h" ] ||
		with_lock kselftest kselftest_get
}

kselftest_get() {
	local tmp=$PDIO_CACHE/kselftest/tmp src
	src=$PDIO_CACHE/source/${KERNEL_RESOLVED// /-}
	[ ! -e "$KSELFTEST/kselftest_harness.h" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/out"
	if [ -e "$src/.complete" ]; then
		cp "$src"/tools/testing/selftests/kselftest{,_harness}.h "$tmp/out"
	else
		quietly "kselftest headers" "$PDIO_CACHE/kselftest/get.log" \
			kselftest_fetch "$tmp" || return
	fi
	[ -s "$tmp/out/kselftest_harness.h" ] || return 1
	rm -rf "$KSELFTEST"
	mv "$tmp/out" "$KSELFTEST"
	rm -rf "$tmp"
}

kselftest_fetch() {
	apt_fetch "$1/deb" "${KERNEL_RESOLVED/ /=}" &&
		dpkg -x "$1"/deb/*.deb "$1/deb" &&
		tar -C "$1/out" --strip-components=4 --wildcards \
			-xf "$1"/deb/usr/src/linux-source-*.tar.xz \
			'*/tools/testing/selftests/kselftest.h' \
			'*/tools/testing/selftests/kselftest_harness.h'
}

# user_ensure DEST: library, tool and tests, a private copy in DEST.
user_ensure() {
	kselftest_ensure && build_lock user user_make "$1"
}

user_make() {
	local out=$PDIO_BUILD/user stamp=$PDIO_BUILD/user.stamp key
	key="$(image_key) $KSELFTEST $(short_hash <"$PDIO_VM/lib/build.sh")"
	key+=" $(tree_hash VERSION uapi userspace selftests/tests selftests/modules)"
	mkdir -p "$out/bin" "$out/lib"
	if [ "$(cat "$stamp" 2>/dev/null)" != "$key" ]; then
		rm -f "$stamp"
		quietly userspace "$PDIO_BUILD/user.log" user_compile "$out" ||
			return
		echo "$key" >"$stamp"
	fi
	cp -a "$out/." "$1/"
}

user_compile() {
	# shellcheck disable=SC2016 # expands in the chroot
	image_chroot "" '
		cd /work
		for dir in userspace selftests/tests; do
			make -C $dir -j"$(nproc)" O=/pdio KSELFTEST=/out
		done
	' "$PDIO_TOP:/work:ro" "$1:/pdio" "$KSELFTEST:/out:ro"
}
