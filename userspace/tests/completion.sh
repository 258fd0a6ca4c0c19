# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# The generated completions: what bash offers for a line, and that zsh can read
# its file.

# offers LINE: what bash completes LINE to, one a line.
offers() {
	bash -c '
		cd "$3" && . "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		compopt() { :; }
		_pdio
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$O/completions/pdio" "$1" "$work/files" | sort
}

# offers_all LINE WORD...: exactly these.
offers_all() {
	local line=$1
	shift
	diff -u <(printf '%s\n' "$@" | sort) <(offers "$line")
}

completion_bash() {
	local commands
	mapfile -t commands < <("$O/obj/generate" commands)
	offers_all 'pdio ' "${commands[@]}"
	offers_all 'pdio -j r' route
	offers_all 'pdio help v' version
	offers_all 'pdio copy sm' small
	offers_all 'pdio copy --exec x sm' small
	offers_all 'pdio copy small gpu:fake:0 ke' kept
	offers_all 'pdio copy --re' --require-direct
	offers_all 'pdio route --b' --bytes
	offers_all 'pdio copy --bo' --bounce
	# The value of an option, and what comes after the last operand.
	offers_all 'pdio copy --exec ' ''
	offers_all 'pdio route a gpu:fake:0 ' ''
}

completion_bash_lint() {
	command -v shellcheck >/dev/null || { echo "no shellcheck"; return 4; }
	shellcheck -s bash "$O/completions/pdio"
}

completion_zsh() {
	command -v zsh >/dev/null || { echo "no zsh"; return 4; }
	zsh -n "$O/completions/_pdio"
	zsh -fc 'fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D
		autoload +X _pdio && [[ $_comps[pdio] == _pdio ]]' zsh \
		"$O/completions"
}

completion_tests() {
	check completion.bash completion_bash
	check completion.bash_lint completion_bash_lint
	check completion.zsh completion_zsh
}
