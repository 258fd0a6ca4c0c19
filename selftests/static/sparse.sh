#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sparse with what its last release doesn't know of kernel 7's headers: a type
# without qualifiers (the plain one will do), and that the length of a literal
# string is a constant.
set -euo pipefail

exec /usr/bin/sparse -D__typeof_unqual__=__typeof__ \
	'-D__builtin_strlen(s)=(sizeof(s)-1)' "$@"
