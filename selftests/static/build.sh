# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Checks on what the compiler makes of the modules, against stock's headers.

# static_build FLAGS: builds pdio and the test modules; prints the diagnostics
# that name our files.
static_build() {
	local log=$PDIO_TOP/build/static/make.log rc=0
	tools '
		release=$1 flags=$2
		rsync -a --delete --exclude="*.o" --exclude="*.ko" \
			--exclude="*.mod" --exclude="*.mod.c" --exclude=".*" \
			--exclude=Module.symvers --exclude=modules.order \
			Kbuild VERSION kernel uapi selftests /build/src/
		for dir in . selftests/modules; do
			eval "make -C /usr/lib/modules/$release/build \
				-j$(nproc) M=/build/src/$dir $flags modules"
		done
		' "$KERNEL_RELEASE" "$1" >"$log" 2>&1 || rc=$?
	# Paths of ours are relative to the module's folder, or below it. For
	# sparse, get_unaligned() loses a const that gcc sees it drop.
	if grep -E '^([^/ ]|/build/src/)[^ ]*: (warning|error)|^(WARNING|ERROR): |\*\*\*' \
		"$log" | grep -v '(different modifiers)$'; then
		rc=1
	fi
	[ "$rc" = 0 ] || tail -n 30 "$log"
	return "$rc"
}

check_build() {
	rm -rf "$PDIO_TOP/build/static/src"
	mkdir -p "$PDIO_TOP/build/static/src"
	static_build W=1
}

# The objects are there: 2 has sparse look at all of them again. It is switched
# on behind C='s back, which would have a script tell whether sparse is new
# enough, and Debian's headers lack that script. Nothing found counts only if
# sparse was run on every file.
check_sparse() {
	local want got
	static_build 'KBUILD_CHECKSRC=2 CHECK=/pdio/selftests/static/sparse.sh' ||
		return
	want=$(cd "$PDIO_TOP/build/static/src" &&
		find kernel selftests/modules -name '*.o' ! -name '*.mod.o' |
		while read -r o; do [ ! -e "${o%.o}.c" ] || echo "$o"; done |
		wc -l)
	got=$(grep -cE '^ +CHECK ' "$PDIO_TOP/build/static/make.log")
	[ "$got" -ge "$want" ] ||
		{ echo "sparse ran on $got of $want files"; return 1; }
}

# layer_of NAME: its row, or nothing.
layer_of() {
	awk -v n="$1" '!/^#/ { for (i = 2; i <= NF; i++) if ($i == n) print $1 }' \
		"$PDIO_TOP/$STATIC/layers.txt"
}

check_layer_table() {
	local f name bad=0
	for f in $(need_files '^kernel/.*\.[ch]$' '^kernel/generated/'); do
		name=$(basename "${f%.[ch]}")
		[ "$(layer_of "$name" | wc -l)" = 1 ] ||
			{ echo "$f: not in one row of layers.txt"; bad=1; }
	done
	return "$bad"
}

check_layer_includes() {
	local f inc up low bad=0
	for f in $(need_files '^kernel/.*\.[ch]$'); do
		up=$(layer_of "$(basename "${f%.[ch]}")")
		while read -r inc; do
			low=$(layer_of "$(basename "${inc%.h}")")
			if [[ $inc != *.h || -z $low || $low -gt ${up:-9} ]]; then
				echo "$f (row $up) includes $inc (row $low)"
				bad=1
			fi
		done < <(sed -nE 's/^#include "([^"]+)".*/\1/p' "$PDIO_TOP/$f")
	done
	return "$bad"
}

# symbols [OPTION...]: nm's words on the objects of pdio; not of pdio.o, whose
# undefined symbols are the kernel's.
symbols() {
	tools 'cd /build/src; nm -g "$@" kernel/*.o' "$@"
}

# What headers hide, the objects tell: who needs a symbol, and who has it.
check_layer_symbols() {
	symbols -A | awk -v table="$PDIO_TOP/$STATIC/layers.txt" \
		-f "$PDIO_TOP/$STATIC/layers.awk"
}

# Each function that other files can call has a kernel-doc comment.
check_functions_documented() {
	local name docs list bad=0
	docs=$(cd "$PDIO_TOP" && cat kernel/*.c | grep -A1 -xF '/**')
	list=$(symbols --defined-only) || return
	while read -r name; do
		grep -qE "^ \* $name(\(\))? - " <<<"$docs" ||
			{ echo "no kernel-doc for $name()"; bad=1; }
	done < <(awk '$2 == "T" &&
		$3 !~ /^(init|cleanup)_module$|^__(pfx|SCT)/ { print $3 }' <<<"$list")
	return "$bad"
}

check_uapi_c() {
	tools 'bash selftests/static/uapi.sh compile'
}

check_uapi_holes() {
	tools 'bash selftests/static/uapi.sh holes'
}

check_uapi_frozen() {
	tools 'bash selftests/static/uapi.sh table' |
		diff -u "$PDIO_TOP/$STATIC/uapi.abi" -
}
