#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make check: all parts that continuous integration runs, or those named. Every
# part runs, whatever became of the ones before; the last line is the total of
# all. A skip must be on the list of expected ones, else it counts as a failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/ktap.sh
. "$here/lib/ktap.sh"

logs=$here/../build/log
all="static unit dkms vm debug"

part() {
	case $1 in
	static) "$here/static/check.sh" ;;
	unit) "$here/unit.sh" ;;
	dkms) "$here/dkms/dkms_test.sh" ;;
	vm) "$here/run_tests.sh" ;;
	debug) "$here/run_tests.sh" --debug ;;
	*) echo "no part '$1' (one of: $all)" >&2; return 2 ;;
	esac
}

# unexpected_skips PART: skipped tests in its log that skips.txt doesn't allow.
unexpected_skips() {
	local line expected
	{ grep -E '^ *ok .*# SKIP' "$logs/$1.log" || true; } |
	while read -r line; do
		line="$1: $(sed -E 's/^ *ok [0-9]* *-? *//' <<<"$line")"
		while read -r expected; do
			# shellcheck disable=SC2053 # a pattern
			if [[ $expected != '#'* && $line == $expected ]]; then
				continue 2
			fi
		done <"$here/skips.txt"
		echo "$line"
	done
}

mkdir -p "$logs"
start=$SECONDS
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $all
for name in "$@"; do
	printf '\n# part %s\n' "$name"
	part_start=$SECONDS
	ktap_absorb "$logs/$name.log" part "$name"
	printf '# part %s took %d s\n' "$name" $((SECONDS - part_start))
	unexpected=$(unexpected_skips "$name")
	if [ -n "$unexpected" ]; then
		printf '%s\n' "$unexpected" |
			sed 's/^/not ok skipped, and not in skips.txt: /'
		KTAP_FAILED=$((KTAP_FAILED + $(wc -l <<<"$unexpected")))
	fi
done

printf '\n# %d s in all; logs of the parts: build/log/\n' $((SECONDS - start))
printf '%d passed, %d failed, %d skipped\n' \
	"$KTAP_PASSED" "$KTAP_FAILED" "$KTAP_SKIPPED"
[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_PASSED" -gt 0 ]
