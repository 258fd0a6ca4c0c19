# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by every script under selftests/vm: where things are cached, how long
# work is guarded against a second runner, and how trouble is told.
#
# Everything that can be made again from the tree lives in one cache folder and
# is named by a hash of what it was made from. A thing appears there under its
# final name only when it is whole, so a broken download or an interrupted
# build is never taken for a good one.

# The root file system, the apt state and the kernels are Debian 13's, whatever
# release the host runs.
PDIO_SUITE=trixie

PDIO_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
PDIO_VM=$PDIO_TOP/selftests/vm
PDIO_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pdio

say() {
	printf '%s\n' "$*" >&2
}

die() {
	say "${0##*/}: $*"
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || die "must run as root (it mounts and chroots)"
}

# with_lock NAME COMMAND...: one COMMAND a NAME at a time on this machine.
with_lock() {
	local name=$1 fd rc=0
	shift
	mkdir -p "$PDIO_CACHE/lock"
	exec {fd}>"$PDIO_CACHE/lock/$name"
	if ! flock -n "$fd"; then
		say "waiting for another run to finish with '$name'"
		flock "$fd"
	fi
	"$@" || rc=$?
	exec {fd}>&-
	return "$rc"
}

# quietly LABEL LOG COMMAND...: runs COMMAND with its output in LOG, and shows
# the end of LOG only when COMMAND fails.
quietly() {
	local label=$1 log=$2 start=$SECONDS
	shift 2
	say "  $label ..."
	if ! "$@" >"$log" 2>&1; then
		say "$label failed; the last lines of $log:"
		tail -n 25 "$log" >&2
		return 1
	fi
	say "  $label: done in $((SECONDS - start)) s"
}

# short_hash: 12 hex digits of standard input.
short_hash() {
	sha256sum | cut -c1-12
}

# host_packages COMMAND=PACKAGE...: installs the packages whose command is
# missing on the host. An empty command asks dpkg instead.
host_packages() {
	local pair cmd pkg missing=()
	for pair in "$@"; do
		cmd=${pair%%=*} pkg=${pair#*=}
		if [ -n "$cmd" ]; then
			command -v "$cmd" >/dev/null || missing+=("$pkg")
		else
			dpkg-query -W -f '${Status}' "$pkg" 2>/dev/null |
				grep -q 'ok installed' || missing+=("$pkg")
		fi
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	mkdir -p "$PDIO_CACHE"
	with_lock host-apt quietly "apt-get install ${missing[*]}" \
		"$PDIO_CACHE/host-apt.log" host_apt_install "${missing[@]}"
}

host_apt_install() {
	local -x DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends "$@" && return
	apt-get update && apt-get install -y --no-install-recommends "$@"
}
