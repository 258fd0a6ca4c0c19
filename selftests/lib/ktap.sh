# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reports of checks that are shell functions, as KTAP, and their total.

KTAP_NR=0 KTAP_PASSED=0 KTAP_FAILED=0 KTAP_SKIPPED=0
KTAP_ONLY=

ktap_begin() {
	printf 'TAP version 14\n'
}

# ktap_run NAME COMMAND...: one test. COMMAND's output is shown when it fails.
# Exit status 4 is a skip, whose reason is the last line of the output.
ktap_run() {
	local name=$1 out rc=0
	shift
	# shellcheck disable=SC2053 # a pattern
	if [ -n "$KTAP_ONLY" ] && [[ $name != $KTAP_ONLY ]]; then
		return 0
	fi
	KTAP_NR=$((KTAP_NR + 1))
	out=$("$@" 2>&1) || rc=$?
	case $rc in
	0)	KTAP_PASSED=$((KTAP_PASSED + 1))
		printf 'ok %d %s\n' "$KTAP_NR" "$name" ;;
	4)	KTAP_SKIPPED=$((KTAP_SKIPPED + 1))
		printf 'ok %d %s # SKIP %s\n' "$KTAP_NR" "$name" \
			"$(tail -n 1 <<<"$out")" ;;
	*)	KTAP_FAILED=$((KTAP_FAILED + 1))
		printf '# %s\n' "${out//$'\n'/$'\n# '}"
		printf 'not ok %d %s\n' "$KTAP_NR" "$name" ;;
	esac
}

# ktap_end: the plan and the total; fails if a test failed or none ran.
ktap_end() {
	printf '1..%d\n' "$KTAP_NR"
	printf '%d passed, %d failed, %d skipped\n' \
		"$KTAP_PASSED" "$KTAP_FAILED" "$KTAP_SKIPPED"
	[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_NR" -gt 0 ]
}

# ktap_total FILE: "passed failed skipped" of the last total in FILE, or nothing.
ktap_total() {
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
		"$1" | tail -n 1
}

# ktap_absorb LOG COMMAND...: a program that prints such a report itself; its
# output is shown and kept in LOG, its total added. One that fails without
# having counted a failure, or prints no total, is a failure more.
ktap_absorb() {
	local log=$1 rc=0 p=0 f=0 s=0 total
	shift
	"$@" </dev/null 2>&1 | tee "$log" || rc=${PIPESTATUS[0]}
	total=$(ktap_total "$log")
	if [ -n "$total" ]; then
		read -r p f s <<<"$total"
	else
		rc=${rc/#0/1}
	fi
	if [ "$rc" != 0 ] && [ "$f" = 0 ]; then
		printf 'not ok %s: exit status %s\n' "$*" "$rc"
		f=1
	fi
	KTAP_NR=$((KTAP_NR + p + f + s))
	KTAP_PASSED=$((KTAP_PASSED + p))
	KTAP_FAILED=$((KTAP_FAILED + f))
	KTAP_SKIPPED=$((KTAP_SKIPPED + s))
}
