# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the guest asks of the host: checksums of GPU memory taken outside the VM,
# and hot-plugging. A request is a file ctl/request/ID, which appears whole; the
# answer is ctl/answer/ID: a line "ok TEXT" or "error TEXT".

requests_answer() {
	local file id words answer
	for file in "$RUN_DIR"/ctl/request/*; do
		case $file in *'*'|*.new|*.list) continue ;; esac
		id=${file##*/}
		read -ra words <"$file" || true
		rm -f "$file"
		answer=$(request_sum "$id" "${words[@]}") || answer=
		[ -n "$answer" ] || request_other "${words[@]}"
		printf '%s\n' "$answer" >"$RUN_DIR/ctl/answer/$id.new"
		mv "$RUN_DIR/ctl/answer/$id.new" "$RUN_DIR/ctl/answer/$id"
	done
}

# request_sum ID sum GPU OFFSET LENGTH | ID sumlist GPU: of the extents, in the
# order in which ID.list names them.
request_sum() {
	local id=$1 list=$RUN_DIR/ctl/request/$1.list sum file
	shift
	case ${1:-} in sum|sumlist) ;; *) return 1 ;; esac
	case ${2:-} in ''|*[!0-9]*) echo "error no GPU '${2:-}'"; return ;; esac
	file=$RUN_GPU_MEM/gpu$2
	[ -e "$file" ] || { echo "error no GPU '$2'"; return; }
	if [ "$1" = sum ]; then
		sum=$(echo "${3:-} ${4:-}" | memory_read "$file" | sha256sum) ||
			sum=
	else
		sum=$(memory_read "$file" <"$list" | sha256sum) || sum=
		rm -f "$list"
	fi
	[ -n "$sum" ] || { echo "error extents outside the memory of GPU $2"; return; }
	echo "ok ${sum%% *}"
}

# memory_read FILE: writes the extents "OFFSET LENGTH" named on standard input.
# In perl, because thousands of extents are too many for a process each.
memory_read() {
	perl -e '
		use strict;
		open(my $f, "<:raw", $ARGV[0]) or die "open: $!\n";
		binmode(STDOUT);
		sub number { $_[0] =~ /^(0x[0-9a-f]+|\d+)$/i or die "bad number\n";
			return $_[0] =~ /^0x/i ? hex($_[0]) : $_[0] + 0; }
		while (<STDIN>) {
			my ($offset, $length) = map { number($_) } split;
			sysseek($f, $offset, 0) or die "seek: $!\n";
			while ($length > 0) {
				my $want = $length < 1048576 ? $length : 1048576;
				my $got = sysread($f, my $data, $want);
				die "past the end\n" unless $got;
				print $data or die "write: $!\n";
				$length -= $got;
			}
		}
	' "$1"
}

# request_other WORDS...: sets answer.
request_other() {
	case ${1:-} in
	unplug) qmp_unplug "${2:-}" ;;
	plug) qmp_plug "${2:-}" ;;
	*) QMP_LINE="unknown request '${1:-}'"; false ;;
	esac && answer="ok" || answer="error $QMP_LINE"
}
