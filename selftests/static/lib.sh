# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the static checks share: which files there are, and the tools to look at
# them with, which come from Debian 13 whatever the host is.

STATIC_TOOLS=(sparse shellcheck codespell python3)

# static_prepare: tools, the kernel's source (checkpatch, kernel-doc) and the
# headers to build against.
static_prepare() {
	need_root
	overlay_ensure static "${STATIC_TOOLS[@]}" || return
	kernel_locate debug || return
	# shellcheck disable=SC2086 # "package version" is two words
	source_ensure $KERNEL_RESOLVED || return
	kernel_ensure stock || return
	mkdir -p "$PDIO_TOP/build/static/src"
}

# tools SCRIPT [ARGUMENT...]: runs SCRIPT at the top of the tree, which is
# read-only, with the kernel's source in /work and a folder to build in, /build.
tools() {
	local script=$1
	shift
	[ $# = 0 ] || script="set -- ${*@Q}; $script"
	image_chroot "$OVERLAY_DIR:$KERNEL_DIR" "cd /pdio; $script" \
		"$PDIO_TOP:/pdio:ro" "$SOURCE_DIR:/work:ro" \
		"$PDIO_TOP/build/static:/build"
}

# all_files: what a release would hold, a path a line.
all_files() {
	if git -C "$PDIO_TOP" rev-parse HEAD >/dev/null 2>&1 ||
	   [ -e "$PDIO_TOP/.git" ]; then
		git -C "$PDIO_TOP" -c safe.directory="$PDIO_TOP" ls-files -co \
			--exclude-standard | while read -r f; do
			[ ! -f "$PDIO_TOP/$f" ] || echo "$f"
		done
	else
		(cd "$PDIO_TOP" && find . -path ./build -prune -o -type f \
			-printf '%P\n')
	fi | sort
}

# files REGEX [REGEX]: paths that match the first and not the second.
files() {
	grep -E -- "$1" <<<"$ALL_FILES" | grep -vE -- "${2:-^$}" || true
}

# need_files REGEX: fails the check that would look at nothing.
need_files() {
	local list
	list=$(files "$@")
	[ -n "$list" ] || { echo "no file matches $1" >&2; return 1; }
	echo "$list"
}
