# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The initial RAM disk of a kernel: busybox, the modules that a root over 9p
# needs, and guest/initrd.sh. Made inside the image, so that the host needs no
# module tools; cached by what it is made from.

# initrd_ensure: sets INITRD for KERNEL_DIR.
initrd_ensure() {
	local key
	key=$({
		echo "$KERNEL_DIR $(image_key)"
		cat "$PDIO_VM/lib/initrd.sh" "$PDIO_VM/guest/initrd.sh"
	} | short_hash)
	INITRD=$PDIO_CACHE/initrd/$PDIO_KERNEL-$key.gz
	[ -e "$INITRD" ] || with_lock "initrd-$PDIO_KERNEL" initrd_make
}

initrd_make() {
	local tmp=$PDIO_CACHE/initrd/tmp-$PDIO_KERNEL
	[ ! -e "$INITRD" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp"
	quietly "initrd for $PDIO_KERNEL" "$PDIO_CACHE/initrd/$PDIO_KERNEL.log" \
		initrd_pack "$tmp" || return
	find "$PDIO_CACHE/initrd" -name "$PDIO_KERNEL-*.gz" -mtime +1 -delete
	mv "$tmp/initrd.gz" "$INITRD"
	rm -rf "$tmp"
}

initrd_pack() {
	# shellcheck disable=SC2016 # expands in the chroot
	image_chroot "$KERNEL_DIR" '
		d=/tmp/initrd
		mkdir -p $d/bin $d/modules
		cp "$(command -v busybox)" $d/bin/busybox
		for m in virtio_pci 9pnet_virtio 9p overlay; do
			# Fails for what is built in, when no list says so.
			modprobe -S '"$KERNEL_RELEASE"' --show-depends $m ||
				true
		done | awk "\$1 == \"insmod\" && !seen[\$2]++ { print \$2 }" |
		while read -r file; do
			name=${file##*/}
			case $file in
			*.xz) xz -dc "$file" >"$d/modules/${name%.xz}" ;;
			*.zst) zstd -qdc "$file" >"$d/modules/${name%.zst}" ;;
			*) cp "$file" "$d/modules/$name" ;;
			esac
			echo "${name%%.ko*}.ko"
		done >$d/modules/order
		cp /work/guest/initrd.sh $d/init
		chmod 755 $d/init
		cd $d
		find . | cpio -o -H newc --quiet | gzip -1 >/out/initrd.gz
	' "$PDIO_VM:/work:ro" "$1:/out" || return
	[ -s "$1/initrd.gz" ]
}
