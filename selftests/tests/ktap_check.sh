# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Read by the test scripts, which find it on PATH: counts their results.

nr=0
# shellcheck disable=SC2034 # the script exits with it
failed=0

# check NAME COMMAND...: one result.
check() {
	local name=$1
	shift
	nr=$((nr + 1))
	if "$@"; then
		echo "ok $nr $name"
	else
		echo "not ok $nr $name"
		failed=1
	fi
}
