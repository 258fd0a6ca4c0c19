/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The fake GPU: a test driver that binds QEMU's ivshmem-plain device and
 * behaves towards importers of its dma-bufs as real GPU drivers do. Not an ABI:
 * it and its users are built together.
 *
 * Nodes: /dev/fakegpu0, 1, ... one per ivshmem function, numbered by PCI
 * address; /dev/fakegpu-cmb, which wraps the controller memory buffer of an
 * NVMe drive. Allocations belong to the open file; dma-bufs keep their memory
 * by themselves. New memory is zero.
 *
 * Errors: ENOENT (no such handle), EINVAL (bad value), ERANGE (outside the
 * allocation), ENOSPC (no room), EOPNOTSUPP (not for this behaviour), ENODEV
 * (the device is gone, or a reset took the allocation's contents).
 */
#ifndef _PDIO_FAKEGPU_H
#define _PDIO_FAKEGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* How an allocation's dma-buf treats importers; modelled on real exporters. */
#define FAKEGPU_STATIC		0	/* no pin op, never invalidates */
#define FAKEGPU_REVOCABLE	1	/* invalidates, then waits for the unmap */
#define FAKEGPU_MOVABLE		2	/* honours pins, else moves on request */
#define FAKEGPU_LIAR		3	/* raw BAR addresses despite the IOMMU */
#define FAKEGPU_RAM		4	/* system pages */

/*
 * Flags of FAKEGPU_ALLOC. Those that the behaviour has no use for are refused
 * with EINVAL; the CMB's node knows FAKEGPU_STATIC without flags only.
 */
#define FAKEGPU_SCATTERED	0x1U	/* chunks of extent_size, shuffled */
#define FAKEGPU_REFUSE_PIN	0x2U	/* movable: pin fails with EBUSY */
#define FAKEGPU_SPLIT_SG	0x4U	/* segments cut at odd page counts */
#define FAKEGPU_NO_WAIT		0x8U	/* revocable: doesn't wait for unmap */

struct fakegpu_info {
	__u64 bar_size;		/* bytes of the memory BAR */
	__u64 free;		/* bytes not allocated (CMB: by this driver) */
	__u32 domain;		/* PCI address of the function */
	__u32 bdf;		/* bus << 8 | device << 3 | function */
	__u32 wc_mapped;	/* 1: driver holds a write-combined mapping */
	__u32 pad;
};

struct fakegpu_alloc {
	__u64 size;		/* bytes, multiple of 4096 */
	__u64 extent_size;	/* FAKEGPU_SCATTERED: bytes a chunk, 0 = 4096 */
	__u32 behaviour;	/* FAKEGPU_STATIC ... */
	__u32 flags;
	__u32 seed;		/* of the shuffle */
	__u32 handle;		/* out */
};

struct fakegpu_export {
	__u32 handle;
	__u32 open_flags;	/* O_RDWR or O_RDONLY, O_CLOEXEC */
	__s32 fd;		/* out */
	__u32 pad;
};

/*
 * One physically contiguous piece, in buffer order. With FAKEGPU_SCATTERED no
 * two pieces that follow each other are neighbours in the BAR, except perhaps
 * the last. Memory in system RAM has none: ENXIO.
 */
struct fakegpu_extent {
	__u64 bar_offset;	/* equals the offset in the host's memory file */
	__u64 length;
};

struct fakegpu_extents {
	__u64 array;		/* pointer to struct fakegpu_extent */
	__u32 handle;
	__u32 count;		/* in: room, out: number there are */
};

/* Work the "device" does on its own memory (by CPU, over the BAR). */
struct fakegpu_fill {
	__u64 offset;		/* multiple of 8, as the length */
	__u64 length;
	__u32 handle;
	__u32 seed;		/* 64-bit words: fakegpu_word(seed, offset / 8) */
};

struct fakegpu_sum {
	__u64 offset;
	__u64 length;
	__u64 sum;		/* out: 64-bit FNV-1a over the bytes */
	__u32 handle;
	__u32 pad;
};

/* The "copy engine": host memory to and from an allocation. */
struct fakegpu_copy {
	__u64 offset;
	__u64 length;
	__u64 host;		/* user pointer */
	__u32 handle;
	__u32 to_device;	/* 1: host to device */
};

/*
 * For FAKEGPU_REVOCABLE only. The memory stays the device's, which goes on
 * working on it. ETIMEDOUT: an importer still maps; calling again waits again.
 */
struct fakegpu_revoke {
	__u32 handle;
	__u32 timeout_ms;	/* 0: forever */
	__u64 drain_ns;		/* out: from invalidate to last unmap */
	__u32 attachments;	/* out: how many were mapped */
	__u32 pad;
};

/* What importers have done so far with an allocation's dma-buf. */
struct fakegpu_stat {
	__u32 handle;
	__u32 attached;		/* attachments now */
	__u32 pinned;		/* pin count now */
	__u32 mapped;		/* maps now */
	__u32 moves;		/* how often movable memory moved */
	__u32 in_ram;		/* 1: movable memory lies in system RAM now */
};

#define FAKEGPU_IOC_INFO	_IOR('G', 1, struct fakegpu_info)
#define FAKEGPU_IOC_ALLOC	_IOWR('G', 2, struct fakegpu_alloc)
#define FAKEGPU_IOC_FREE	_IO('G', 3)	/* arg: handle; dma-bufs live on */
#define FAKEGPU_IOC_EXPORT	_IOWR('G', 4, struct fakegpu_export)
#define FAKEGPU_IOC_EXTENTS	_IOWR('G', 5, struct fakegpu_extents)
#define FAKEGPU_IOC_FILL	_IOW('G', 6, struct fakegpu_fill)
#define FAKEGPU_IOC_SUM		_IOWR('G', 7, struct fakegpu_sum)
#define FAKEGPU_IOC_COPY	_IOW('G', 8, struct fakegpu_copy)
#define FAKEGPU_IOC_REVOKE	_IOWR('G', 9, struct fakegpu_revoke)
/* arg: handle, movable only; EBUSY if pinned. To RAM only if the BAR is full. */
#define FAKEGPU_IOC_MOVE	_IO('G', 10)
/* Revokes all, clears the BAR. ETIMEDOUT: done, but an importer still maps. */
#define FAKEGPU_IOC_RESET	_IO('G', 11)
#define FAKEGPU_IOC_STAT	_IOWR('G', 12, struct fakegpu_stat)

/* fakegpu_word - the pattern of FAKEGPU_IOC_FILL, for checks elsewhere */
static inline __u64 fakegpu_word(__u32 seed, __u64 index)
{
	__u64 x = index + ((__u64)seed << 32) + 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

#endif /* _PDIO_FAKEGPU_H */
