# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# What the build makes: symbols, headers, the installed tree, manual pages.

build_symbols() {
	nm -D --defined-only "$O/lib/libpdio.so" | awk '$2 == "T" { print $3 }' |
		sort | diff -u "$here/symbols.txt" -
}

# Nothing but the interface is visible in the static library either.
build_static_symbols() {
	nm -g --defined-only "$O/lib/libpdio.a" | awk 'NF == 3 { print $3 }' |
		sort | diff -u <(sed 's/@.*//' "$here/symbols.txt") -
}

build_soname() {
	objdump -p "$O/lib/libpdio.so" | grep -Eq 'SONAME +libpdio\.so\.0$'
}

# The version that the map seals is the first one until there is a second.
build_map() {
	grep -Eq '^LIBPDIO_0\.1 \{$' "$user/lib/libpdio.map" &&
		grep -q 'sealed' "$user/lib/libpdio.map"
}

build_header() {
	local flags=(-I"$user/lib" -I"$user/../uapi" -fsyntax-only -Wall -Wextra
		-Werror)
	echo '#include "libpdio.h"' >"$work/header.c"
	# C90 has no stdint.h and no long long; everything else must hold.
	"$CC" -std=c90 -pedantic -Wno-long-long "${flags[@]}" "$work/header.c"
	"$CC" -std=c11 -pedantic "${flags[@]}" "$work/header.c"
	"$CXX" -std=c++98 -pedantic -Wno-long-long "${flags[@]}" -x c++ \
		"$work/header.c"
	"$CXX" -std=c++17 -pedantic "${flags[@]}" -x c++ "$work/header.c"
}

build_no_inline() {
	! grep -nE '\binline\b|^static' "$user/lib/libpdio.h"
}

# Every function that the header declares is exported, and the reverse.
build_declared() {
	grep -oE '^[a-z].*\blibpdio_[a-z_0-9]+\(' "$user/lib/libpdio.h" |
		grep -oE 'libpdio_[a-z_0-9]+\(' | tr -d '(' | sort |
		diff -u <(sed 's/@.*//' "$here/symbols.txt") -
}

build_install() {
	"$MAKE" -s -C "$user" O="$O" install DESTDIR="$work/dest" PREFIX=/usr
	[ -x "$work/dest/usr/bin/pdio" ]
	LD_LIBRARY_PATH=$work/dest/usr/lib "$work/dest/usr/bin/pdio" version |
		grep -q '^libpdio'
	! objdump -p "$work/dest/usr/bin/pdio" | grep -Eq 'R(UN)?PATH'
	! grep -r '@' "$work/dest/usr/lib/pkgconfig"
}

# build_flags WHAT: of the installed libpdio.pc, below the staging folder.
build_flags() {
	local pc=$work/dest/usr/lib/pkgconfig/libpdio.pc
	sed -n "s/^$1: //p" "$pc" | sed \
		-e "s|\${includedir}|$work/dest/usr/include|g" \
		-e "s|\${libdir}|$work/dest/usr/lib|g"
}

# A program sees nothing but what was installed.
build_program() {
	local cflags libs out
	read -ra cflags <<<"$(build_flags Cflags)"
	read -ra libs <<<"$(build_flags Libs)"
	cat >"$work/program.c" <<-'END'
		#include <libpdio.h>
		#include <stdio.h>
		int main(void)
		{
			struct libpdio_ctx *ctx;
			int ret = libpdio_open(0, &ctx);

			if (!ret)
				libpdio_close(ctx);
			puts(libpdio_reason_name(PDIO_REASON_NO_P2PDMA));
			return 0;
		}
	END
	"$CC" -Wall -Werror "${cflags[@]}" -o "$work/shared" "$work/program.c" \
		"${libs[@]}"
	out=$(LD_LIBRARY_PATH=$work/dest/usr/lib "$work/shared")
	[ "$out" = NO_P2PDMA ]
	"$CC" -Wall -Werror "${cflags[@]}" -o "$work/static" "$work/program.c" \
		"$work/dest/usr/lib/libpdio.a" -pthread
	[ "$("$work/static")" = NO_P2PDMA ]
}

build_pc() {
	command -v pkg-config >/dev/null || { echo "no pkg-config"; return 4; }
	PKG_CONFIG_PATH=$work/dest/usr/lib/pkgconfig pkg-config --validate libpdio
	[ "$(PKG_CONFIG_PATH=$work/dest/usr/lib/pkgconfig \
		pkg-config --modversion libpdio)" = "$(cat "$user/../VERSION")" ]
}

build_man_complete() {
	local name
	sed 's/@.*//' "$here/symbols.txt" | while read -r name; do
		[ -s "$O/man/$name.3" ]
		grep -q "^\.BR $name (3)" "$O/man/libpdio.3"
		# What a page lacks, the header's comment lacks.
		grep -q '^\.SH SYNOPSIS' "$O/man/$name.3"
		grep -q "$name(" "$O/man/$name.3"
	done
	for name in $("$O/obj/generate" commands); do
		grep -q "^\.BR pdio\\\\-$name (8)" "$O/man/pdio.8"
		[ -s "$O/man/pdio-$name.8" ]
	done
}

build_man_lint() {
	command -v mandoc >/dev/null || { echo "no mandoc"; return 4; }
	# Pages carry no date, so that builds are reproducible.
	! mandoc -Tlint -W warning "$O"/man/*.[38] | grep -v 'missing date'
}

# The sources may be read-only: nothing is written beside them.
build_out_of_tree() {
	local before after
	before=$(find "$user" -newer "$O/obj/flags" -type f | sort)
	"$MAKE" -s -C "$user" O="$O" all
	after=$(find "$user" -newer "$O/obj/flags" -type f | sort)
	[ "$before" = "$after" ]
}

build_tests() {
	local name
	for name in symbols static_symbols soname map header no_inline declared \
		install program pc man_complete man_lint out_of_tree; do
		check "build.$name" "build_$name"
	done
}
