#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests of library and tool; run by "make check", which sets O, CC, CXX
# and MAKE. Prints KTAP, and the total as the last line.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2034 # used by the parts
user=$(cd "$here/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export FAKE_ROOT=$work/root
export ASAN_OPTIONS=detect_leaks=1:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1
unset FAKE_PDIO

for part in fake_root tool build completion; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done

nr=0 passed=0 failed=0 skipped=0

# result STATUS NAME [OUTPUT]: one line of the report.
result() {
	local last
	nr=$((nr + 1))
	case $1 in
	0)	passed=$((passed + 1))
		printf 'ok %d %s\n' "$nr" "$2" ;;
	4)	skipped=$((skipped + 1))
		last=${3##*$'\n'}
		printf 'ok %d %s # SKIP %s\n' "$nr" "$2" "$last" ;;
	*)	failed=$((failed + 1))
		[ -z "${3:-}" ] || printf '# %s\n' "${3//$'\n'/$'\n# '}"
		printf 'not ok %d %s\n' "$nr" "$2" ;;
	esac
}

# check NAME COMMAND...: status 4 is a skip, the last line of output says why.
check() {
	local name=$1 out rc=0
	shift
	out=$(set -e; "$@" 2>&1) || rc=$?
	result "$rc" "$name" "$out"
}

# unit PROGRAM: a test program in C; its tests are counted one by one.
unit() {
	local out rc=0 line plan count=0 bad=0
	out=$("$O/tests/$1" 2>&1) || rc=$?
	while read -r line; do
		case $line in
		"ok "*)	result 0 "$1.${line##* }"
			count=$((count + 1)) ;;
		"not ok "*) result 1 "$1.${line##* }"
			count=$((count + 1)) bad=1 ;;
		1..*)	plan=${line#1..} ;;
		TAP*) ;;
		*)	printf '%s\n' "# ${line#\# }" ;;
		esac
	done <<<"$out"
	# A program that died, or that a sanitizer stopped, is a failure too.
	if [ "$count" != "${plan:-none}" ] || [ "$rc" -gt "$bad" ]; then
		result 1 "$1" "exit status $rc, $count of ${plan:-?} tests"
	fi
}

fake_root "$FAKE_ROOT"
printf 'TAP version 14\n'
unit lib_test
unit accel_test
tool_tests
build_tests
completion_tests
printf '1..%d\n' "$nr"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
