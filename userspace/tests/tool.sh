# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# The tool against the fake kernel: for each run the exit status, standard output
# and standard error, as in golden/NAME.txt. GOLDEN=update writes those files anew.

# golden NAME [VAR=VALUE...] COMMAND...: runs COMMAND in the folder with the
# files; figures that differ from run to run are blanked.
golden() {
	local name=$1 rc=0
	shift
	(cd "$work/files" && env "$@" </dev/null >"$work/out" 2>"$work/err") ||
		rc=$?
	{
		printf 'exit status %d\n-- standard output\n' "$rc"
		tool_blank <"$work/out"
		printf -- '-- standard error\n'
		tool_blank <"$work/err"
	} >"$work/$name"
	if [ "${GOLDEN:-}" = update ]; then
		mkdir -p "$here/golden"
		cp "$work/$name" "$here/golden/$name.txt"
	fi
	diff -u "$here/golden/$name.txt" "$work/$name"
}

tool_blank() {
	sed -E -e 's/in [0-9.]+ s, [0-9.]+ ([KMGTP]i)?B\/s/in T s, RATE/' \
		-e 's/"seconds": ?[0-9.]+/"seconds":T/g' \
		-e "s|$(uname -r)|KERNEL|g" \
		-e "s|$(cat "$user/../VERSION")|VERSION|g" \
		-e "s|$work|WORK|g"
}

tool_case() {
	check "tool.$1" golden "$@"
}

# The data arrives, also where the kernel moves little at a time.
tool_data() {
	local dir=$work/files
	(cd "$dir" && rm -f back &&
		FAKE_PDIO="short_bytes=12345" pdio copy big gpu:fake:0 back) &&
		cmp "$dir/big" "$dir/back" &&
		(cd "$dir" && pdio copy --bounce big gpu:fake:0 back) &&
		cmp "$dir/big" "$dir/back" &&
		(cd "$dir" && pdio copy --offset 1K --length 3000 big \
			gpu:vfio:0000:01:00.0 back 2>&1) &&
		cmp -n 3000 -i 1024:0 "$dir/big" "$dir/back" &&
		[ "$(stat -c %s "$dir/back")" = 3000 ]
}

tool_exec_report() {
	local dir=$work/files
	(cd "$dir" && FAKE_PDIO="scattered=4" pdio copy small gpu:fake:0 \
		--exec "cat >report; echo seen") 2>"$work/err" >"$work/out"
	grep -q '"extents":\[{"bar_offset":4194304,"length":2048},' \
		"$dir/report" && grep -qx seen "$work/err" &&
		! grep -q seen "$work/out"
}

# A command that doesn't read its input does no harm, however much there is.
tool_exec_deaf() {
	(cd "$work/files" && FAKE_PDIO="scattered=2048" pdio -j copy big \
		gpu:fake:0 --exec true) >"$work/out" &&
		[ "$(wc -c <"$work/out")" -gt 65536 ]
}

tool_interrupt() {
	local rc=0
	(cd "$work/files" && FAKE_PDIO="interrupt=1 short_bytes=4096" pdio -j copy \
		huge gpu:fake:0 back) >"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" = 1 ] && grep -q 'EINTR' "$work/err" &&
		grep -q 'stopped after 33554432 bytes' "$work/err" &&
		grep -q '"bytes":33554432,' "$work/out"
}

tool_pipe() {
	local rc=0
	pdio help 2>"$work/err" >/dev/full || rc=$?
	[ "$rc" = 1 ] && grep -q 'standard output' "$work/err"
}

tool_terminal() {
	command -v script >/dev/null || { echo "no script(1)"; return 4; }
	(cd "$work/files" && script -qec "'$O/tests/pdio' copy huge gpu:fake:0" \
		/dev/null </dev/null) | grep -q 'route=direct'
}

tool_help_pages() {
	local command
	for command in $("$O/obj/generate" commands); do
		pdio help "$command" | grep -q "^Usage: pdio $command" || return 1
		diff <(pdio help "$command") <(pdio "$command" --help) || return 1
	done
	[ "$(pdio help copy | awk 'length > 80' | wc -l)" = 0 ]
}

pdio() {
	"$O/tests/pdio" "$@"
}

tool_success() {
	tool_case copy_read "$t" copy small gpu:fake:0
	tool_case copy_both "$t" copy -b small gpu:fake:0 back
	tool_case copy_json "$t" -j copy small gpu:fake:0 back
	tool_case copy_pretty "$t" copy -p small gpu:fake:0
	tool_case copy_empty "$t" copy empty gpu:fake:0 back
	tool_case copy_dsync FAKE_PDIO=reason=0 "$t" copy -s small gpu:fake:0 back
	tool_case copy_bounce "$t" -j copy --bounce small gpu:fake:0 back
	tool_case copy_staged FAKE_PDIO="route=3 reason=10" \
		"$t" copy small gpu:fake:0
	tool_case copy_mixed FAKE_PDIO="route=3 reason=23" \
		"$t" copy -b odd gpu:fake:0
	tool_case copy_exec "$t" copy small gpu:fake:0 back --exec 'wc -c >&2'
	tool_case route "$t" route small gpu:fake:0
	tool_case route_json "$t" route -p small gpu:fake:0
	tool_case route_file "$t" route small
	tool_case route_file_reason FAKE_PDIO="file_reason=16" "$t" route small
	tool_case route_blocked FAKE_PDIO="route=0 reason=10" \
		"$t" route small gpu:fake:0
	tool_case version "$t" version
	tool_case version_json "$t" -j version
	tool_case version_reason FAKE_PDIO="info_reason=2" "$t" --version
	tool_case version_absent FAKE_ROOT=/nowhere "$t" version
	tool_case no_arguments "$t"
	tool_case help_copy "$t" help copy
	tool_case help_route "$t" route -h
}

tool_failures() {
	tool_case fail_source "$t" copy absent gpu:fake:0
	tool_case fail_source_json "$t" -j copy absent gpu:fake:0
	tool_case fail_quota FAKE_PDIO="register_errno=122 fail_reason=28" \
		"$t" copy small gpu:fake:0
	tool_case fail_io FAKE_PDIO="fail_errno=5" "$t" copy small gpu:fake:0
	tool_case fail_midway \
		FAKE_PDIO="short_bytes=4096 fail_errno=5 fail_after=4096" \
		"$t" -j copy small gpu:fake:0
	tool_case fail_length "$t" copy --length 1M small gpu:fake:0
	tool_case fail_exec "$t" copy small gpu:fake:0 kept --exec 'exit 7'
	tool_case fail_memory "$t" copy giant gpu:fake:0
	tool_case usage_none "$t" copy
	tool_case usage_many "$t" copy a gpu:fake:0 c d
	tool_case usage_command "$t" frobnicate
	tool_case usage_option "$t" copy --frobnicate a gpu:fake:0
	tool_case usage_letter "$t" -z
	tool_case usage_value "$t" copy small gpu:fake:0 --length
	tool_case usage_size "$t" copy small gpu:fake:0 --length 5X
	tool_case usage_overflow "$t" copy small gpu:fake:0 --length 9000000000G
	tool_case usage_gpu "$t" copy small gpu:cuda:0
	tool_case usage_no_gpu "$t" copy small back
	tool_case usage_source "$t" copy gpu:fake:0 back
	tool_case usage_same "$t" copy small gpu:fake:0 ./small
	tool_case usage_exclusive "$t" copy -B -d small gpu:fake:0
	tool_case unsupported_direct FAKE_PDIO="route=3 reason=10" \
		"$t" copy -d small gpu:fake:0
	tool_case unsupported_request FAKE_PDIO="fail_errno=95 fail_reason=1" \
		"$t" -j copy small gpu:fake:0
	tool_case unsupported_not_direct \
		FAKE_PDIO="route=0 reason=10 fail_errno=95 fail_reason=1" \
		"$t" copy small gpu:fake:0
	tool_case unsupported_route FAKE_PDIO="route=3 reason=2" \
		"$t" route -d small gpu:fake:0
	tool_case absent_module FAKE_ROOT="$work/bare" "$t" copy small gpu:fake:0
	tool_case absent_gpu "$t" -j copy small gpu:fake:3
	tool_case absent_vfio "$t" copy small gpu:vfio:0000:09:00.0
	tool_case absent_revoked FAKE_PDIO="fail_errno=19 fail_reason=27" \
		"$t" copy small gpu:fake:0
}

tool_tests() {
	local t=$O/tests/pdio
	mkdir -p "$work/files" "$work/bare/dev"
	touch "$work/bare/dev/fakegpu0"
	(
		cd "$work/files" || exit
		seq 1 100000 >small
		truncate -s 8192 small
		head -c 8191 small >odd
		seq 1 1000000 >big
		truncate -s 5000000 big
		truncate -s 0 empty
		truncate -s 40M huge
		truncate -s 1G giant
		echo precious >kept
	)
	tool_success
	tool_failures
	check tool.nothing_lost grep -qx precious "$work/files/kept"
	check tool.nothing_created [ ! -e "$work/files/d" ]
	check tool.source_unharmed cmp -n 8191 "$work/files/small" \
		"$work/files/odd"
	check tool.data tool_data
	check tool.exec_report tool_exec_report
	check tool.exec_deaf tool_exec_deaf
	check tool.interrupt tool_interrupt
	check tool.output_fails tool_pipe
	check tool.terminal tool_terminal
	check tool.help_of_each_command tool_help_pages
}
