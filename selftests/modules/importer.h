/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The importer: a test driver that attaches to a dma-buf for any PCI function,
 * maps it, and lets go of it early, late or never. It does no DMA. It stands
 * for the other importers that an exporter must cope with. Not an ABI.
 *
 * Each open of /dev/importer holds one attachment, which ends with it.
 */
#ifndef _PDIO_IMPORTER_H
#define _PDIO_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define IMPORTER_DYNAMIC	0x1U	/* with importer ops */
#define IMPORTER_PEER2PEER	0x2U	/* can do peer-to-peer */
#define IMPORTER_INVALIDATE	0x4U	/* can be told to let go */
#define IMPORTER_PIN		0x8U	/* pins at attach */

/* Of hold_ms: unmap only when asked. */
#define IMPORTER_FOREVER	0xffffffffU

struct importer_attach {
	__s32 fd;		/* dma-buf */
	__u32 flags;
	__u32 domain;		/* PCI function that the attachment is for */
	__u32 bdf;
	__u32 hold_ms;		/* from being told to let go to the unmap */
	__u32 pad;
};

struct importer_map {
	__u32 write;		/* 1: for DMA into the memory, too */
	__u32 nents;		/* out: segments */
	__u64 bytes;		/* out: sum of their lengths */
	__u64 first;		/* out: DMA address of the first */
	__u64 longest;		/* out: bytes of the longest */
	__u32 pages;		/* out: segments that carry struct pages */
	__u32 pad;
};

struct importer_stat {
	__u32 mapped;		/* 1: mapped now */
	__u32 invalidations;	/* how often we were told to let go */
	__u32 peer2peer;	/* what the exporter left of it */
	__u32 pad;
};

#define IMPORTER_IOC_ATTACH	_IOW('I', 1, struct importer_attach)
#define IMPORTER_IOC_DETACH	_IO('I', 2)
#define IMPORTER_IOC_MAP	_IOWR('I', 3, struct importer_map)
#define IMPORTER_IOC_UNMAP	_IO('I', 4)
#define IMPORTER_IOC_STAT	_IOR('I', 5, struct importer_stat)
#define IMPORTER_IOC_FENCE	_IO('I', 6)	/* arg: ms until it signals */
#define IMPORTER_IOC_VMAP	_IOR('I', 7, __u64)	/* reads 8 bytes by CPU */

#endif /* _PDIO_IMPORTER_H */
