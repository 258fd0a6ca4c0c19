# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian packages of other releases than the host's, fetched with the host's own
# apt (its mirror, proxy, certificates and keys) but with lists and sources of
# their own, so that the host's package state is never touched.

# apt_mirror LABEL: the base URI from which the host gets packages of that
# label ("Debian" or "Debian-Security"), or nothing.
apt_mirror() {
	apt-get indextargets --format '$(LABEL)|$(SITE)|$(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		awk -F'|' -v l="$1" '$1 == l { print $3; exit }'
}

apt_keyring() {
	local k=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e "$k" ] || die "$k is missing: install debian-archive-keyring"
	echo "$k"
}

# apt_sources: sources.list lines for the guest's release and the older one
# whose kernel is tested.
apt_sources() {
	local main sec key
	main=$(apt_mirror Debian)
	sec=$(apt_mirror Debian-Security)
	if [ -z "$main" ]; then
		apt-get update >/dev/null 2>&1
		main=$(apt_mirror Debian)
		sec=$(apt_mirror Debian-Security)
	fi
	[ -n "$main" ] || die "no Debian mirror in this host's apt configuration"
	key=$(apt_keyring)
	printf "deb [signed-by=$key] $main %s main\n" "$PDIO_SUITE" \
		"$PDIO_SUITE-updates" "$PDIO_SUITE-backports" bookworm
	[ -z "$sec" ] ||
		printf "deb [signed-by=$key] $sec %s main\n" \
			"$PDIO_SUITE-security" bookworm-security
}

PDIO_APT=$PDIO_CACHE/apt
apt_options() {
	printf '%s\n' "-oDir::Etc::sourcelist=$PDIO_APT/sources.list" \
		-oDir::Etc::sourceparts=/dev/null \
		-oDir::Etc::preferences=/dev/null \
		-oDir::Etc::preferencesparts=/dev/null \
		"-oDir::State=$PDIO_APT/state" "-oDir::Cache=$PDIO_APT/cache" \
		"-oDir::State::status=$PDIO_APT/state/status" \
		-oAPT::Architecture=amd64 -oAPT::Architectures=amd64 \
		-oAPT::Sandbox::User=root -oAcquire::Retries=3 \
		-oAcquire::Languages=none
}

# apt_refresh [force]: package lists not older than a day.
apt_refresh() {
	if [ "${1:-}" = force ] || ! apt_fresh; then
		with_lock apt apt_update "$@"
	fi
}

apt_fresh() {
	[ -e "$PDIO_APT/fresh" ] &&
		[ -z "$(find "$PDIO_APT/fresh" -mmin +1440)" ]
}

apt_update() {
	local opts
	# Another run may have done it while this one waited.
	[ "${1:-}" = force ] || ! apt_fresh || return 0
	mkdir -p "$PDIO_APT"/{state/lists/partial,cache/archives/partial}
	: >"$PDIO_APT/state/status"
	apt_sources >"$PDIO_APT/sources.list" || return
	mapfile -t opts < <(apt_options)
	if quietly "package lists" "$PDIO_APT/update.log" \
		apt-get "${opts[@]}" update; then
		touch "$PDIO_APT/fresh"
	elif [ -e "$PDIO_APT/fresh" ]; then
		say "package lists could not be refreshed; using the older ones"
	else
		return 1
	fi
}

apt_cache() {
	local opts
	mapfile -t opts < <(apt_options)
	apt-cache "${opts[@]}" "$@"
}

# apt_newest PACKAGE REGEX: the newest version of PACKAGE matching REGEX.
apt_newest() {
	apt_cache show "$1" 2>/dev/null | awk '$1 == "Version:" { print $2 }' |
		grep -E -- "$2" | sort -V | tail -n 1
}

# apt_depends PACKAGE VERSION: first alternatives of its dependencies, a line
# each: "name" or "name version".
apt_depends() {
	apt_cache show "$1=$2" 2>/dev/null |
		awk '/^Depends:/ { sub(/^Depends: /, ""); print; exit }' |
		tr ',' '\n' |
		sed -E 's/\|.*//; s/^ +//; s/\(= ([^)]*)\)/\1/; s/\([^)]*\)//; s/ +$//'
}

# apt_fetch DIR PACKAGE=VERSION...: the .deb files into DIR.
apt_fetch() {
	local dir=$1 opts
	shift
	mkdir -p "$dir"
	mapfile -t opts < <(apt_options)
	(cd "$dir" && apt-get "${opts[@]}" download "$@")
}
