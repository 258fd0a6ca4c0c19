#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What compilers make of the ABI header; runs in the guest's root, whose gcc
# can do 32-bit. compile: alone, as C90 and C++98. holes: no padding, and the
# same layout for 32-bit callers. table: all of the ABI in numbers, as text.
set -euo pipefail

header=linux/pdio.h
cc=(-Iuapi -Wall -Wextra -Werror -pedantic -Wno-long-long)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

compile() {
	local m
	printf '#include <%s>\n' "$header" >"$dir/alone.c"
	cp "$dir/alone.c" "$dir/alone.cc"
	for m in -m64 -m32; do
		gcc "$m" -std=c90 "${cc[@]}" -fsyntax-only "$dir/alone.c"
		gcc "$m" -std=c11 "${cc[@]}" -fsyntax-only "$dir/alone.c"
		g++ "$m" -std=c++98 "${cc[@]}" -fsyntax-only "$dir/alone.cc"
		g++ "$m" -std=c++20 "${cc[@]}" -fsyntax-only "$dir/alone.cc"
	done
}

structs() {
	sed -nE 's/^struct (pdio_[a-z0-9_]+) \{.*/\1/p' "uapi/$header"
}

# layout -m64|-m32: pahole's words on every struct.
layout() {
	local s
	{
		printf '#include <%s>\n' "$header"
		for s in $(structs); do
			printf 'struct %s var_%s;\n' "$s" "$s"
		done
	} >"$dir/all.c"
	gcc "$1" -g -Iuapi -c -o "$dir/all$1.o" "$dir/all.c"
	pahole -F dwarf "$dir/all$1.o"
}

holes() {
	[ -n "$(structs)" ]
	layout -m64 >"$dir/64"
	layout -m32 >"$dir/32"
	diff -u "$dir/64" "$dir/32"
	if grep -nE 'hole|padding|bit_' "$dir/64"; then
		return 1
	fi
	! sed -nE 's/.*size: ([0-9]+),.*/\1/p' "$dir/64" | awk '$1 % 8' | grep .
}

# The numbers are the compiler's, in the order of the header.
table() {
	local s
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	echo "# Made by check.sh --write-abi: changes here are changes of the ABI."
	{
		printf '#include <stdio.h>\n#include <stddef.h>\n'
		printf '#include <%s>\nint main(void)\n{\n' "$header"
		sed -nE 's/^#define (PDIO_[A-Z0-9_]+)\s+.*/\1/p' "uapi/$header" |
			while read -r s; do
				printf 'printf("%s 0x%%llx\\n", (unsigned long long)%s);\n' \
					"$s" "$s"
			done
		layout -m64 | awk '
			/^struct / {
				s = $2
				printf "printf(\"struct %s %%zu\\n\", sizeof(struct %s));\n", s, s
			}
			/^\t[^\/].*;/ {
				m = $0
				sub(/;.*/, "", m)
				sub(/ __attribute__.*/, "", m)
				sub(/.*[ \t]/, "", m)
				sub(/\[.*/, "", m)
				printf "printf(\"%s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n",
					s, m, s, m, s, m
			}'
		printf 'return 0;\n}\n'
	} >"$dir/table.c"
	gcc -Iuapi -o "$dir/table" "$dir/table.c"
	"$dir/table"
}

case $1 in
compile|holes|table) "$1" ;;
*) echo "usage: uapi.sh compile|holes|table" >&2; exit 1 ;;
esac
