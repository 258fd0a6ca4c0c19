#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the tests of tests.conf in virtual machines: all tests of one kernel and
# bed in one boot, except those that want a machine of their own. The last line
# is "N passed, N failed, N skipped".

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/lib/tests_conf.sh
. "$here/lib/tests_conf.sh"

usage() {
	cat <<'EOF'
usage: run_tests.sh [--kernel K] [--bed B] [--debug] [--long] [--summary FILE]
                    [NAME...]

Runs the tests of tests.conf, or those named, on the boots of class "ci". Ends
with status 0 if none failed and at least one passed.

  --kernel K      only on this kernel, whatever the class
  --bed B         only on this bed; without --kernel on its default kernel
  --debug         the boots of class "debug"
  --long          all classes, and long counts and budgets (hours)
  --summary FILE  append "KERNEL BED PASSED FAILED SKIPPED" for each boot
Logs: build/results/KERNEL-BED/NAME.log
EOF
}

die() {
	echo "run_tests.sh: $*" >&2
	exit 2
}

kernel='' bed='' classes=ci long=0 summary=''
names=()
passed=0 failed=0 skipped=0

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--help|-h) usage; exit 0 ;;
		--debug) classes=debug ;;
		--long) classes=ci,debug,long long=1 ;;
		--kernel|--bed|--summary)
			[ $# -ge 2 ] || die "$1 needs a value"
			case $1 in
			--kernel) kernel=$2 ;;
			--bed) bed=$2 ;;
			--summary) summary=$2 ;;
			esac
			shift ;;
		-*) die "unknown option '$1' (see --help)" ;;
		*) conf_names | grep -qxF -- "$1" || die "no test '$1'"
		   names+=("$1") ;;
		esac
		shift
	done
	[ -z "$kernel" ] || classes=ci,debug,long
}

# wanted NAME: no names asked for, or this one.
wanted() {
	[ ${#names[@]} = 0 ] || list_has "$(IFS=,; echo "${names[*]}")" "$1"
}

# count RESULT TEXT: one result of the current test.
count() {
	case $1 in
	pass) passed=$((passed + 1)) ;;
	fail)
		failed=$((failed + 1))
		echo "not ok $2" ;;
	skip)
		skipped=$((skipped + 1))
		echo "# skipped: $2" ;;
	esac
}

# skip_allowed NAME KERNEL BED TEXT
skip_allowed() {
	local name k b pattern
	while read -r name k b pattern; do
		# shellcheck disable=SC2053 # patterns
		if [[ $name != '#'* && -n $pattern && $1 == $name && $2 == $k &&
		      $3 == $b && $4 =~ $pattern ]]; then
			return 0
		fi
	done <"$here/skips.allow"
	return 1
}

# judge NAME KERNEL BED FOLDER: counts the results of a test that ran.
judge() {
	local status seconds overrun result text where="$1 ($2, $3)" before=$failed
	if ! read -r status seconds overrun 2>/dev/null <"$4/$1.status"; then
		count fail "$where: did not finish"
		return
	fi
	while read -r result text; do
		if [ "$result" = skip ] &&
		   { [[ ! $text =~ \#\ *SKIP.*[[:alnum:]] ]] ||
		     ! skip_allowed "$1" "$2" "$3" "$text"; }; then
			count fail "$where: skip without a reason, or not in skips.allow: $text"
		else
			count "$result" "$where: $text"
		fi
	done < <(awk -v status="$status" -v overrun="$overrun" \
			-f "$here/lib/ktap_read.awk" "$4/$1.log")
	if [ "$failed" = "$before" ]; then
		echo "ok $where: $seconds s"
	else
		echo "# the end of $4/$1.log:"
		tail -n 30 "$4/$1.log" | sed 's/^/#   /'
	fi
}

# run_vm KERNEL BED FOLDER SECONDS OPTION...: the tests of FOLDER/list.
run_vm() {
	local k=$1 b=$2 folder=$3 seconds=$4 status=0 spare=180
	shift 4
	[ "$k" != debug ] || spare=360
	PDIO_LONG=$long "$here/vm/run.sh" --kernel "$k" --bed "$b" \
		--share "$folder" --timeout $((seconds + spare)) "$@" \
		-- run-list 2>&1 || status=$?
	[ "$status" = 0 ] ||
		count fail "$k, $b: the machine ended with status $status, see above"
}

# run_shared KERNEL BED FOLDER: the tests that share a boot.
run_shared() {
	local name budget options command seconds=0 list=()
	mkdir -p "$3"
	: >"$3/list"
	while read -r name budget options command; do
		wanted "$name" || continue
		list_has "$options" own-vm || list_has "$options" host && continue
		echo "$name $budget $command" >>"$3/list"
		seconds=$((seconds + budget))
		list+=("$name")
	done < <(conf_tests "$1" "$2" "$long")
	[ ${#list[@]} -gt 0 ] || return 0
	run_vm "$1" "$2" "$3" "$seconds"
	for name in "${list[@]}"; do
		judge "$name" "$1" "$2" "$3"
	done
}

# run_own KERNEL BED FOLDER NAME BUDGET OPTIONS COMMAND: a boot for one test.
run_own() {
	local option args=()
	for option in ${6//,/ }; do
		case $option in
		gpu-size=*|disk-size=*) args+=("--${option%%=*}" "${option#*=}") ;;
		esac
	done
	mkdir -p "$3"
	echo "$4 $5 $7" >"$3/list"
	run_vm "$1" "$2" "$3" "$5" "${args[@]}"
	judge "$4" "$1" "$2" "$3"
}

# run_host KERNEL BED FOLDER NAME BUDGET COMMAND
run_host() {
	local status=0 overrun=0 start=$SECONDS
	mkdir -p "$3"
	(cd "$here/.." && PDIO_LONG=$long PDIO_KERNEL=$1 PDIO_BED=$2 \
		timeout --kill-after=15 "$5" bash -c "$6") \
		>"$3/$4.log" 2>&1 </dev/null || status=$?
	[ $((SECONDS - start)) -lt "$5" ] || overrun=1
	echo "$status $((SECONDS - start)) $overrun" >"$3/$4.status"
	judge "$4" "$1" "$2" "$3"
}

# run_boot KERNEL BED
run_boot() {
	local name budget options command p=$passed f=$failed s=$skipped
	local folder=$here/../build/results/$1-$2
	printf '\n# kernel %s, bed %s\n' "$1" "$2"
	rm -rf "$folder"
	mkdir -p "$folder"
	folder=$(cd "$folder" && pwd)
	run_shared "$1" "$2" "$folder"
	while read -r name budget options command <&4; do
		wanted "$name" || continue
		if list_has "$options" own-vm; then
			run_own "$1" "$2" "$folder/$name" "$name" "$budget" \
				"$options" "$command"
		elif list_has "$options" host; then
			run_host "$1" "$2" "$folder" "$name" "$budget" "$command"
		fi
	done 4< <(conf_tests "$1" "$2" "$long")
	[ -z "$summary" ] ||
		echo "$1 $2 $((passed - p)) $((failed - f)) $((skipped - s))" \
			>>"$summary"
}

parse_options "$@"
mapfile -t boots < <(conf_boots "$classes" "$kernel" "$bed")
[ ${#boots[@]} -gt 0 ] || die "no boot of kernel '$kernel', bed '$bed'"
for boot in "${boots[@]}"; do
	# shellcheck disable=SC2086 # "kernel bed" is two words
	run_boot $boot
done
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
