#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of the demo that runs in the guest. It writes figures, a line
# "name=value" each, to the shared folder; the host judges them.
set -euo pipefail

out=/mnt/share
disk=/dev/nvme0n1
dir=/tmp/nvme
gpu=gpu:fake:0

if [ "${1:-}" = --gpu-sum ]; then
	# While the data lies in GPU memory: ask the host what it sees there.
	cat >"$out/memory.json"
	perl -MJSON::PP -e 'my $r = decode_json(join "", <STDIN>);
		print "$_->{bar_offset} $_->{length}\n" for @{$r->{extents}};' \
		<"$out/memory.json" >"$out/extents"
	echo "extents=$(wc -l <"$out/extents")" >>"$out/facts"
	echo "sum.gpu=$(hostsum 0 -l "$out/extents")" >>"$out/facts"
	exit
fi

# Nothing of the files stays in host memory.
forget() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

sum_of() {
	forget
	sha256sum <"$1" | cut -d' ' -f1
}

# figures PREFIX: of the report on standard input.
figures() {
	perl -MJSON::PP -e '
		my ($prefix, $r) = (shift, decode_json(join "", <STDIN>));
		for my $s (@{$r->{steps}}) {
			my $p = "$prefix$s->{op}";
			print "$p.$_->[0]=$s->{$_->[1]}\n" for (
				["bytes", "bytes"], ["direct", "bytes_direct"],
				["staged", "bytes_staged"], ["cpu", "bytes_cpu"],
				["route", "route"], ["seconds", "seconds"]);
			next unless $s->{plan};
			print "map=$s->{plan}{map_type}\n",
				"provider=$s->{plan}{provider}\n",
				"client=$s->{plan}{client}\n";
		}' "$1" >>"$out/facts"
}

mkfs.ext4 -q -F "$disk"
mkdir -p "$dir"
mount "$disk" "$dir"
head -c "$1" /dev/urandom >"$dir/source"
{
	echo "kernel=$(uname -r)"
	echo "filesystem=$(findmnt -n -o FSTYPE "$dir") on $disk"
	echo "sum.source=$(sum_of "$dir/source")"
} >"$out/facts"

forget
pdio -j copy --require-direct --dsync --exec "bash $0 --gpu-sum" \
	"$dir/source" "$gpu" "$dir/copy" >"$out/copy.json"
figures '' <"$out/copy.json"
echo "sum.copy=$(sum_of "$dir/copy")" >>"$out/facts"

forget
pdio -j copy --bounce --dsync "$dir/source" "$gpu" "$dir/bounced" \
	>"$out/bounce.json"
figures bounce. <"$out/bounce.json"
umount "$dir"
