# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Checks that read the tree and nothing else. Each prints the offending lines.

STATIC=selftests/static

# checkpatch TYPES FILE...: with TYPES ignored besides the one that asks for an
# entry in the kernel's MAINTAINERS. It writes a cache file where it runs.
checkpatch() {
	tools 'cd /tmp && ln -s /pdio/* . && types=$1 && shift
		perl /work/scripts/checkpatch.pl --root=/work --strict --terse \
			--show-types --no-summary --max-line-length=100 \
			--ignore="FILE_PATH_CHANGES,$types" --file "$@"' "$@"
}

# Headers that programs include can't use the kernel's BIT(), and the ABI puts
# a command's number right under its struct.
PROGRAMS_SEE='^(uapi/.*|selftests/modules/(fakegpu|importer))\.h$'

# Not asked for: kzalloc_obj() and its kin, which older kernels lack; comments
# at locks, where kernel-doc has every member explained; and a macro's argument
# that is a type.
check_checkpatch_kernel() {
	local list ignore=ALLOC_WITH_SIZEOF,UNCOMMENTED_DEFINITION,MACRO_ARG_REUSE
	mapfile -t list < <(need_files '^(kernel|selftests/modules)/.*\.[ch]$' \
		"$PROGRAMS_SEE|compat\.h$")
	checkpatch "$ignore" "${list[@]}"
}

# It reads a version check as a comparison with a constant on the left.
check_checkpatch_compat() {
	local list
	mapfile -t list < <(need_files \
		'^(kernel|selftests/modules)/.*compat\.h$')
	checkpatch LINUX_VERSION_CODE,CONSTANT_COMPARISON "${list[@]}"
}

check_checkpatch_uapi() {
	local list
	mapfile -t list < <(need_files "$PROGRAMS_SEE")
	checkpatch BIT_MACRO,LINE_SPACING "${list[@]}"
}

# What it would have programs use is the kernel's own. Its test for licences
# trips over a program that writes files with one; check_spdx looks at ours.
check_checkpatch_user() {
	local list ignore=ARRAY_SIZE,CAMELCASE,ENOSYS,SPLIT_STRING,STRCPY,STRNCPY
	ignore+=,PREFER_KERNEL_TYPES,VOLATILE,STATIC_CONST_CHAR_ARRAY,BIT_MACRO
	ignore+=,MACRO_WITH_FLOW_CONTROL,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME
	ignore+=,SPDX_LICENSE_TAG,MACRO_ARG_REUSE,STRING_FRAGMENTS,NEW_TYPEDEFS
	# The macros of the test harness expand to more than a statement.
	ignore+=,BRACES,MULTIPLE_ASSIGNMENTS
	mapfile -t list < <(need_files '^(userspace|selftests/tests)/.*\.[ch]$')
	checkpatch "$ignore,PREFER_DEFINED_ATTRIBUTE_MACRO,SSCANF_TO_KSTRTO" \
		"${list[@]}"
}

check_kernel_doc() {
	local list
	mapfile -t list < <(need_files '^(kernel|uapi)/.*\.[ch]$')
	tools 'python3 /work/scripts/kernel-doc -none -Wall -Werror "$@"' \
		"${list[@]}"
}

check_codespell() {
	local list
	mapfile -t list < <(files . '^LICENSES/')
	tools "codespell --ignore-words=$STATIC/codespell.txt"' "$@"' \
		"${list[@]}"
}

# Not asked for: variables that another file of the same program uses (2034,
# 2154), scripts in single quotes that a chroot expands (2016), and QEMU's
# commas (2054). Functions called by their name in an argument look unreachable
# (2317).
check_shellcheck() {
	local list
	mapfile -t list < <(shell_files)
	tools 'shellcheck --exclude=SC2016,SC2034,SC2054,SC2154,SC2317 "$@"' \
		"${list[@]}"
}

shell_files() {
	local list
	mapfile -t list < <(files . '\.(c|h|rst|md|txt)$')
	(cd "$PDIO_TOP" && grep -lE '^#!.*\b(ba)?sh$|^# shellcheck shell=' \
		"${list[@]}")
}

# Bash scripts that run stop at the first error; only a guest's first process,
# whose end is a panic, goes on.
check_shell_strict() {
	local f bad=0
	for f in $(shell_files | grep -vx selftests/vm/guest/init.sh); do
		if head -n 1 "$PDIO_TOP/$f" | grep -q '^#!.*bash' &&
		   ! grep -qE '^set -euo pipefail$' "$PDIO_TOP/$f"; then
			echo "$f: no 'set -euo pipefail'"
			bad=1
		fi
	done
	return "$bad"
}

# words.txt: a regular expression, where it must not match, with exceptions, and
# why.
check_words() {
	local re where except why bad=0 list
	while IFS=$'\t' read -r re where except why; do
		case $re in ''|'#'*) continue ;; esac
		mapfile -t list < <(files "$where" \
			"^$STATIC/words\.txt$|^LICENSES/|$except")
		if (cd "$PDIO_TOP" && grep -nIE -- "$re" /dev/null "${list[@]}"); then
			echo "^ $why"
			bad=1
		fi
	done <"$PDIO_TOP/$STATIC/words.txt"
	return "$bad"
}

# A struct of the kernel's that is private to one of its files must not be
# written down again here: it would go stale unseen. A copy has the name and the
# first member of the original.
check_private_structs() {
	local name bad=0 list first
	mapfile -t list < <(need_files '^kernel/.*\.[ch]$')
	while read -r name; do
		first=$(cd "$PDIO_TOP" && grep -hA1 -E "^struct $name \{" \
			"${list[@]}" | sed -n 2p)
		if (cd "$SOURCE_DIR" && grep -rhA1 -E "^struct $name \{" \
			drivers/pci drivers/nvme drivers/dma-buf drivers/md \
			block fs mm lib include io_uring kernel |
			grep -xF -- "$first"); then
			echo "^ struct $name is the kernel's"
			bad=1
		fi
	done < <(cd "$PDIO_TOP" && sed -nE \
		's/^struct ([a-z0-9_]+) \{.*/\1/p' "${list[@]}" |
		grep -v '^pdio_' | sort -u)
	return "$bad"
}

check_sizes() {
	local list
	mapfile -t list < <(files \
		'\.(c|h|sh|awk|txt|py|rst|md)$|(^|/)(Makefile|Kbuild)$' '^LICENSES/')
	(cd "$PDIO_TOP" && awk -f "$STATIC/sizes.awk" "${list[@]}") || return
	[ "$(wc -l <"$PDIO_TOP/kernel/compat.h")" -le 200 ] ||
		{ echo "kernel/compat.h: more than 200 lines"; return 1; }
}

# licences.txt: which identifier the files of a folder carry, first match wins.
check_spdx() {
	local f re id want got bad=0
	while read -r f; do
		want=
		while IFS=$'\t' read -r re id; do
			case $re in ''|'#'*) continue ;; esac
			[[ ! $f =~ $re ]] || { want=$id; break; }
		done <"$PDIO_TOP/$STATIC/licences.txt"
		[ "$want" != none ] || continue
		got=$(sed -nE '1,5s/.*SPDX-License-Identifier: (.*)/\1/p' \
			"$PDIO_TOP/$f" | head -n 1 | sed -E 's/ *(\*\/|-->)$//')
		[ "$got" = "$want" ] ||
			{ echo "$f: '$got' should be '$want'"; bad=1; }
	done <<<"$ALL_FILES"
	return "$bad"
}

check_version() {
	local version
	version=$(cat "$PDIO_TOP/VERSION")
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
		{ echo "VERSION: '$version'"; return 1; }
	grep -nxF "PACKAGE_VERSION=\"$version\"" "$PDIO_TOP/dkms.conf" ||
		{ echo "dkms.conf: PACKAGE_VERSION isn't $version"; return 1; }
}

# The range that DKMS builds by itself is the one that the manual publishes.
check_tested_kernels() {
	local page=$PDIO_TOP/Documentation/admin-guide/install.rst
	local first last max
	first=$(sed -nE 's/.*tested kernels: ([0-9.]+) to ([0-9]+\.[0-9]+).*/\1/Ip' "$page")
	last=$(sed -nE 's/.*tested kernels: ([0-9.]+) to ([0-9]+\.[0-9]+).*/\2/Ip' "$page")
	max=$(sed -nE 's/^pdio_tested=.*\[0-([0-9]+)\].*/\1/p' "$PDIO_TOP/dkms.conf")
	if [ "$first" != 6.1 ] || [ -z "$max" ] || [ "$last" != "7.$max" ]; then
		echo "install.rst: $first to $last; dkms.conf: to 7.$max"
		return 1
	fi
}

# Every reason of the ABI is explained to operators.
check_reasons_documented() {
	local name bad=0
	while read -r name; do
		grep -qxE "\`\`$name\`\`( .*)?" \
			"$PDIO_TOP/Documentation/admin-guide/reasons.rst" ||
			{ echo "reasons.rst doesn't explain $name"; bad=1; }
	done < <(sed -nE 's/^#define PDIO_REASON_([A-Z0-9_]+)\s.*/\1/p' \
		"$PDIO_TOP/uapi/linux/pdio.h")
	return "$bad"
}

check_commits() {
	local bad
	git -C "$PDIO_TOP" -c safe.directory="$PDIO_TOP" rev-parse -q \
		--verify HEAD >/dev/null 2>&1 ||
		{ echo "not a git checkout with commits"; return 4; }
	bad=$(git -C "$PDIO_TOP" -c safe.directory="$PDIO_TOP" \
		log --format='%h %s' | awk '
		{ subject = substr($0, index($0, " ") + 1) }
		length(subject) > 72 { print $0 "  (" length(subject) " > 72)" }
		subject !~ /^[a-zA-Z0-9][a-zA-Z0-9_.\/, -]*: [^ ]/ {
			print $0 "  (not \"area: subject\")" }')
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}
