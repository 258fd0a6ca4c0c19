# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads what a run left behind and decides on its exit status.

PDIO_STATUS_HARNESS=120
PDIO_STATUS_TIMEOUT=121
PDIO_STATUS_DIED=122
PDIO_STATUS_DIRTY=123

# log_lines FILE: patterns, one extended regular expression a line, without
# comments and blanks.
log_lines() {
	[ ! -e "$1" ] || grep -vE '^[[:space:]]*(#|$)' "$1" || true
}

# log_mark: adds to each line the name of the test that ran then (run-list notes
# its start and end in the kernel log).
log_mark() {
	awk '/pdio-test: start / { test = $NF; next }
		/pdio-test: end / { test = ""; next }
		{ print $0 (test != "" ? " [" test "]" : "") }'
}

# log_dirt: the lines of the run's kernel logs which match the pattern list and
# which neither the common nor the bed's allow-list expects.
log_dirt() {
	local log
	for log in "$RUN_DIR"/{console.log,ctl/dmesg}; do
		[ -e "$log" ] || continue
		tr -d '\r' <"$log" | log_mark |
			grep -aE -f <(log_lines "$PDIO_VM/dmesg/patterns") |
			grep -avE -f <(log_lines "$PDIO_VM/dmesg/common.allow"
				log_lines "$PDIO_VM/dmesg/$RUN_BED.allow"
				# An empty list would match all lines.
				echo '^$') || true
	done | awk '{ line = $0; sub(/^\[ *[0-9.]+\] */, "", line) }
		!seen[line]++'
}

verdict_tell() {
	local status=$1
	shift
	say "run.sh: $*"
	say "run.sh: console log: $RUN_DIR/console.log"
	# shellcheck disable=SC2034 # run.sh exits with it
	RUN_STATUS=$status
}

# verdict: sets RUN_STATUS; tells why when it isn't the command's own.
verdict() {
	local dirt broken
	broken=$(cat "$RUN_DIR/ctl/broken" 2>/dev/null) || true
	dirt=$(log_dirt)
	[ ! -e "$RUN_DIR/ctl/findings" ] ||
		dirt+=${dirt:+$'\n'}$(cat "$RUN_DIR/ctl/findings")
	if [ -n "$broken" ]; then
		verdict_tell $PDIO_STATUS_HARNESS "the bed is not as it must be: $broken"
	elif [ "$RUN_TIMED_OUT" = 1 ]; then
		verdict_tell $PDIO_STATUS_TIMEOUT "timeout after $RUN_TIMEOUT s"
		tail -n 5 "$RUN_DIR/console.log" >&2 || true
	elif [ ! -e "$RUN_DIR/console.log" ] ||
	     { [ ! -s "$RUN_DIR/console.log" ] && [ ! -e "$RUN_DIR/ctl/started" ]; }; then
		verdict_tell $PDIO_STATUS_HARNESS "QEMU did not start: $(cat "$RUN_DIR/qemu.log")"
	elif [ ! -e "$RUN_DIR/ctl/done" ] || [ "$QMP_SHUTDOWN" != guest-shutdown ]; then
		verdict_tell $PDIO_STATUS_DIED \
			"the guest died${QMP_SHUTDOWN:+ ($QMP_SHUTDOWN)}"
		tail -n 40 "$RUN_DIR/console.log" >&2
	elif [ -n "$dirt" ]; then
		verdict_tell $PDIO_STATUS_DIRTY \
			"dirty kernel log (COMMAND's status was $(cat "$RUN_DIR/ctl/status")):"
		head -n 40 <<<"$dirt" >&2
	else
		verdict_tell "$(cat "$RUN_DIR/ctl/status")" \
			"COMMAND's status: $(cat "$RUN_DIR/ctl/status")"
	fi
}
