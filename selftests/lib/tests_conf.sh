# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads tests.conf: which boots there are, and which tests a boot runs.

CONF=$(dirname "${BASH_SOURCE[0]}")/../tests.conf

# conf_boots CLASSES KERNEL BED: "KERNEL BED" of the boots of those classes (a
# comma list), of that kernel and bed if given.
conf_boots() {
	local word class kernel beds bed
	while read -r word class kernel beds; do
		[ "$word" = boot ] || continue
		list_has "$1" "$class" || continue
		[ -z "$2" ] || [ "$2" = "$kernel" ] || continue
		for bed in $beds; do
			[ -z "$3" ] || [ "$3" = "$bed" ] || continue
			echo "$kernel $bed"
		done
	done <"$CONF"
}

# list_has LIST WORD
list_has() {
	case ,$1, in *",$2,"*) return 0 ;; esac
	return 1
}

kernel_fits() {
	case $1 in
	all) return 0 ;;
	p2pdma) list_has stock,debug,6.12p2p "$2" ;;
	*) list_has "$1" "$2" ;;
	esac
}

# conf_tests KERNEL BED LONG: "NAME BUDGET OPTIONS COMMAND" of the tests there.
conf_tests() {
	local word name kernels beds budget options command
	while read -r word name kernels beds budget options command; do
		[ "$word" = test ] || continue
		kernel_fits "$kernels" "$1" || continue
		[ "$beds" = all ] || list_has "$beds" "$2" || continue
		[ "$3" = 1 ] || ! list_has "$options" long || continue
		echo "$name $(conf_budget "$budget" "$1" "$3") $options $command"
	done <"$CONF"
}

conf_budget() {
	local stock debug long budget
	IFS=/ read -r stock debug long <<<"$1"
	budget=$stock
	[ "$2" != debug ] || budget=$debug
	[ "$3" = 0 ] || budget=${long:-$budget}
	echo "$budget"
}

# conf_names: of all tests.
conf_names() {
	awk '$1 == "test" { print $2 }' "$CONF"
}
