#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where there is no direct route the tool says why, in words and as a reason that
# scripts can read, and ends with the status for "not supported here".
set -u

disk=${PDIO_DISK:-/dev/nvme0n1}
work=$(mktemp -d)
nr=0
failed=0

result() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr $2"
	else
		echo "not ok $nr $2"
		cat "$work/err" "$work/out"
		failed=1
	fi
}

case $PDIO_BED in
nopages)
	reason=NO_P2PDMA
	words="CONFIG_PCI_P2PDMA" ;;
blocked)
	reason=HOST_BRIDGE
	words="host bridge" ;;
misroute)
	reason=UNVERIFIED
	words="proven" ;;
esac

echo "KTAP version 1"
echo "1..5"

pdio copy --require-direct --length 1048576 "$disk" gpu:fake:0 \
	>"$work/out" 2>"$work/err"
[ $? = 3 ]
result $? "copy ends with status 3"

grep -q "PDIO_REASON_$reason" "$work/err"
result $? "and names the reason $reason"

grep -qi "$words" "$work/err"
result $? "and explains it"

pdio route "$disk" gpu:fake:0 >"$work/out" 2>"$work/err"
grep -q "PDIO_REASON_$reason" "$work/out"
result $? "route names it too"

pdio -j route "$disk" gpu:fake:0 >"$work/out" 2>"$work/err"
grep -q "\"reason\":\"$reason\"" "$work/out"
result $? "and in JSON"

rm -rf "$work"
exit "$failed"
