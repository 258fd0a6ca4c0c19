#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# /init of the guest. Lays a tmpfs over the image (read-only, over 9p), mounts
# the kernel's folders and the run's folders in it and hands over to init.sh.
# busybox goes along on a tmpfs: powering off must not need a page from 9p.

# The exact applet list doesn't matter; having them by name does.
/bin/busybox --install -s /bin
export PATH=/bin

die() {
	echo "initrd: $*" >/dev/kmsg
	[ ! -d /root/run/pdio/ctl ] || echo "$*" >/root/run/pdio/ctl/broken
	poweroff -f
}

mount9p() {
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" \
		"$1" "$2" || die "cannot mount 9p '$1'"
}

mkdir -p /proc /sys /dev /image /kernel /rw /root
mount -t proc proc /proc
mount -t sysfs sys /sys
[ -e /dev/null ] || mount -t devtmpfs dev /dev

while read -r module; do
	insmod "/modules/$module" || die "cannot load $module"
done </modules/order

mount9p image /image cache=loose,ro
mount9p kernel /kernel cache=loose,ro
mount -t tmpfs -o mode=755 rw /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/image,upperdir=/rw/upper,workdir=/rw/work \
	root /root || die "cannot overlay the root"
mkdir -p /root/usr/lib/modules /root/usr/src /root/pdio-modules
mount --bind /kernel/usr/lib/modules /root/usr/lib/modules
[ ! -d /kernel/usr/src ] || mount --bind /kernel/usr/src /root/usr/src

mount -t tmpfs -o mode=755 run /root/run
mkdir -p /root/run/pdio/ctl /root/run/pdio/host
cp /bin/busybox /root/run/pdio/busybox
mount9p ctl /root/run/pdio/ctl cache=none
mount9p host /root/run/pdio/host cache=loose,ro
mount --bind /root/run/pdio/host/user /root/pdio
mount --bind /root/run/pdio/host/modules /root/pdio-modules
if grep -qw pdio.share /proc/cmdline; then
	mount9p share /root/mnt/share cache=none
fi

for fs in dev proc sys; do
	mount --move /$fs /root/$fs
done
exec switch_root /root /bin/bash /run/pdio/host/guest/init.sh
