# SPDX-License-Identifier: GPL-2.0-only
# Size budgets: 600 lines a file, 60 lines a function (between its braces).

function file_end()
{
	if (lines > 600) {
		printf "%s: %d lines, more than 600\n", name, lines
		bad = 1
	}
}

FNR == 1 {
	if (name != "")
		file_end()
	name = FILENAME
	start = 0
	prev = ""
	c = name ~ /\.[ch]$/
	sh = name ~ /\.sh$/
}

{ lines = FNR }

# A C function's brace stands alone in the first column; so does that of a
# type whose head didn't fit one line, which ends with a semicolon.
c && /^\{/ { start = FNR; head = prev }
sh && /^[A-Za-z0-9_]+\(\) *[{(]$/ { start = FNR; head = $0 }

start && (c && /^\}$/ || sh && /^[})]$/) {
	if (FNR - start - 1 > 60) {
		printf "%s:%d: %d lines in a function, more than 60: %s\n",
		       name, start, FNR - start - 1, head
		bad = 1
	}
	start = 0
}
c && /^\}.*;$/ { start = 0 }

NF { prev = $0 }

END {
	file_end()
	exit bad
}
