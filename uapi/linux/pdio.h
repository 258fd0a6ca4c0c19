/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * pdio: peer-direct I/O between storage and the memory of a peer device.
 *
 * This header is the reference manual of /dev/pdio. A caller opens the node,
 * registers a dma-buf that stands for device memory (a buffer) and an open file
 * or block device (a file), and then moves bytes between the two. Every
 * completion says how many bytes went straight from device to device, and why
 * the others did not.
 */
#ifndef _LINUX_PDIO_H
#define _LINUX_PDIO_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General ioctl format
 *
 * Each command takes one structure, whose first member is its size in bytes as
 * the caller knows it. The command number does not encode the size, so that
 * structures can grow:
 *
 * - A caller older than the kernel passes a shorter structure: the members it
 *   lacks count as zero, which always means the older behaviour.
 * - A caller newer than the kernel passes a longer one: it is accepted as long
 *   as everything the kernel doesn't know is zero.
 *
 * Members named ``out_*`` are written by the kernel, on success and, where
 * stated, on failure; what they held before is ignored. All others are read.
 * Members named ``__reserved`` must be zero.
 *
 * Ids are private to the open file description of /dev/pdio: another one can't
 * name them, even in the same process. Whoever holds a descriptor of the same
 * open file description (after fork, or by SCM_RIGHTS) shares its ids. All
 * objects end with the last reference to it.
 *
 * Errors, one meaning each:
 *
 * - ENOTTY: no such command.
 * - E2BIG: the structure is longer than the kernel's and not zero beyond it, or
 *   longer than a page.
 * - EINVAL: the size is too small, or a member is outside its documented range.
 * - EOPNOTSUPP: a flag or value that this kernel doesn't know; with
 *   PDIO_REASON_UNSUPPORTED: the request needs a mover that this module doesn't
 *   have.
 * - EFAULT: a pointer can't be read or written.
 * - EBADF: a file descriptor is closed or not open for what is asked.
 * - ENOENT: no object of that kind has this id.
 * - ERANGE: a range leaves its buffer or dma-buf.
 * - EOVERFLOW: the sum of two members doesn't fit 64 bits (or a file offset).
 * - ENOMEM: out of memory.
 * - ENOSPC: no id is free: the open file description holds out_max_objects of
 *   INFO already.
 * - EDQUOT: the user's limit of pinned memory; PDIO_REASON_QUOTA.
 * - EXDEV: the request can't go the direct way, and
 *   PDIO_RW_FLAG_REQUIRE_DIRECT was set; out_reason says why.
 * - EBUSY: a device behind the request is just being bound, unbound or reset;
 *   trying again may help.
 * - ENODEV: the buffer was revoked, or a device behind it is gone;
 *   PDIO_REASON_REVOKED.
 * - EINTR: a signal arrived before anything was moved.
 *
 * What the file system or the device reports (EIO, ENOSPC, EDQUOT without
 * PDIO_REASON_QUOTA, ...) is passed on unchanged.
 */
#define PDIO_TYPE 0xBD

enum {
	PDIO_CMD_BASE = 0x80,
	PDIO_CMD_INFO = PDIO_CMD_BASE,
	PDIO_CMD_BUFFER_REGISTER = 0x81,
	PDIO_CMD_FILE_REGISTER = 0x82,
	PDIO_CMD_ROUTE = 0x83,
	PDIO_CMD_RW = 0x84,
	PDIO_CMD_DESTROY = 0x85
};

/**
 * DOC: Routes
 *
 * A route is how one (buffer, file, direction) is served.
 */
#define PDIO_ROUTE_NONE		0	/* not served; the reason says why */
#define PDIO_ROUTE_DIRECT	1	/* device to device, by struct pages */
#define PDIO_ROUTE_COMMAND	2	/* device to device, by NVMe commands */
#define PDIO_ROUTE_STAGED	3	/* through host memory */

/**
 * DOC: Mapping types
 *
 * The kernel's answer to how the client reaches the provider
 * (Documentation/driver-api/pci/p2pdma.rst).
 */
#define PDIO_MAP_UNKNOWN	0	/* not asked yet, or could not be asked */
#define PDIO_MAP_BUS_ADDR	1	/* inside a switch, by PCI bus address */
#define PDIO_MAP_HOST_BRIDGE	2	/* through a host bridge that allows it */
#define PDIO_MAP_BLOCKED	3	/* the kernel says it would not arrive */

/**
 * DOC: Reasons
 *
 * Why a route isn't direct, why some bytes of a request didn't go that way, or
 * why a request was refused. Numbers are never reused and new ones are only
 * appended, so treat an unknown one as "some other reason".
 */
#define PDIO_REASON_NONE		0	/* direct, nothing to explain */
#define PDIO_REASON_UNSUPPORTED		1	/* this module can't do it yet */
#define PDIO_REASON_NO_P2PDMA		2	/* kernel without CONFIG_PCI_P2PDMA */
#define PDIO_REASON_NO_PAGES		3	/* no struct pages could be made */
#define PDIO_REASON_NO_DRIVER		4	/* no driver bound to the provider */
#define PDIO_REASON_MEMTYPE		5	/* BAR mapped with clashing types */
#define PDIO_REASON_MERGE_HAZARD	6	/* requests below would be merged */
#define PDIO_REASON_FS_FELL_BACK	7	/* file system used its page cache */
#define PDIO_REASON_ZEROED		8	/* hole or unwritten: CPU wrote zeros */
#define PDIO_REASON_UNVERIFIED		9	/* the route isn't proven */
#define PDIO_REASON_HOST_BRIDGE		10	/* host bridge not known to forward */
#define PDIO_REASON_ACS_REDIRECT	11	/* a bridge redirects, and up there
						 * the host bridge blocks
						 */
#define PDIO_REASON_IOMMU		12	/* the IOMMU is in the way */
#define PDIO_REASON_NO_CLIENT		13	/* no PCI function does its DMA */
#define PDIO_REASON_QUEUE_NO_P2P	14	/* block queue refuses peer pages */
#define PDIO_REASON_STABLE_WRITES	15	/* contents must not change in flight */
#define PDIO_REASON_FS_NOT_DIRECT	16	/* file has no direct I/O */
#define PDIO_REASON_INLINE		17	/* data inside the inode */
#define PDIO_REASON_COMPRESSED		18	/* compressed file */
#define PDIO_REASON_ENCRYPTED		19	/* encrypted file */
#define PDIO_REASON_VERITY		20	/* fs-verity file */
#define PDIO_REASON_TRANSPORT		21	/* storage transport can't */
#define PDIO_REASON_UNALIGNED		22	/* not aligned for direct I/O */
#define PDIO_REASON_EOF_TAIL		23	/* last, partial block of the file */
#define PDIO_REASON_EXPORTER_RAM	24	/* the dma-buf lies in host memory */
#define PDIO_REASON_EXPORTER_RAW	25	/* exporter ignored the IOMMU */
#define PDIO_REASON_EXPORTER_REFUSED	26	/* exporter refused to attach or map */
#define PDIO_REASON_REVOKED		27	/* memory was taken away */
#define PDIO_REASON_QUOTA		28	/* user's limit of pinned memory */
#define PDIO_REASON_VERIFY_FAILED	29	/* the route delivered wrong bytes */
#define PDIO_REASON_POLICY		30	/* switched off by the administrator */
#define PDIO_REASON_NO_PROVIDER		31	/* address in no BAR, or in several */

/**
 * struct pdio_info - ioctl(PDIO_INFO)
 * @size: sizeof(struct pdio_info)
 * @flags: must be 0
 * @out_features: PDIO_FEATURE_* of this module
 * @out_max_segments: segments that one RW takes at most
 * @out_reason: PDIO_REASON_NONE if this kernel can do the direct route at all,
 *	else why not
 * @out_max_objects: objects that one open file description holds at most
 * @__reserved: 0
 * @out_ops: RW requests that this open file description completed, whether with
 *	success or with an error; those that name no file or are malformed don't
 *	count
 * @out_bytes_direct: bytes that were proven to move from device to device
 * @out_bytes_staged: bytes that went through pdio's host pages
 * @out_bytes_cpu: bytes that the kernel copied or zeroed by CPU, or of which
 *	direct movement could not be proven
 *
 * What the module can do, its limits, and the counters of this open file
 * description.
 */
struct pdio_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 out_features;
	__u32 out_max_segments;
	__u32 out_reason;
	__u32 out_max_objects;
	__u32 __reserved;
	__aligned_u64 out_ops;
	__aligned_u64 out_bytes_direct;
	__aligned_u64 out_bytes_staged;
	__aligned_u64 out_bytes_cpu;
};
#define PDIO_INFO _IO(PDIO_TYPE, PDIO_CMD_INFO)

/* The direct route is compiled in (it still depends on buffer and file). */
#define PDIO_FEATURE_DIRECT	(1ULL << 0)
/* Requests that can't go direct are staged through host memory. */
#define PDIO_FEATURE_STAGED	(1ULL << 1)

/**
 * struct pdio_buffer_register - ioctl(PDIO_BUFFER_REGISTER)
 * @size: sizeof(struct pdio_buffer_register)
 * @flags: must be 0
 * @dmabuf_fd: file descriptor of the dma-buf; may be closed afterwards
 * @file_id: 0, or a registered file that the buffer will be used with: the
 *	memory is then pinned and mapped for the file's device at once, and what
 *	would go wrong later goes wrong here
 * @offset: first byte of the dma-buf that the buffer stands for, in bytes, a
 *	multiple of 4096
 * @length: bytes, a multiple of 4096; 0 means all from @offset to the end
 * @out_id: the buffer's id, never 0
 * @out_reason: on failure, why, where the errno alone doesn't tell; on success
 *	with a @file_id, why the route to that file isn't direct
 * @out_length: bytes that were registered
 *
 * Registers a range of a dma-buf. The same memory may be registered any number
 * of times. A dma-buf that was opened read-only can be written to storage, but
 * never read into. Memory is pinned when the buffer is first used with a file
 * (or here, with @file_id), and counts then against the user's limit.
 *
 * The out members are written on failure too; @out_id is 0 then.
 */
struct pdio_buffer_register {
	__u32 size;
	__u32 flags;
	__s32 dmabuf_fd;
	__u32 file_id;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 out_id;
	__u32 out_reason;
	__aligned_u64 out_length;
};
#define PDIO_BUFFER_REGISTER _IO(PDIO_TYPE, PDIO_CMD_BUFFER_REGISTER)

/**
 * struct pdio_file_register - ioctl(PDIO_FILE_REGISTER)
 * @size: sizeof(struct pdio_file_register)
 * @flags: must be 0
 * @fd: an open regular file or block device; may be closed afterwards. O_DIRECT
 *	isn't needed; O_APPEND is refused with EINVAL, and so are requests while it
 *	is set later.
 * @__reserved: 0
 * @out_id: the file's id, never 0
 * @out_reason: PDIO_REASON_NONE if the file can be one end of a direct route,
 *	else why not; the file is registered all the same
 * @out_offset_align: alignment of file offsets and lengths for direct I/O, in
 *	bytes; 0 if the file has no direct I/O
 * @out_mem_align: alignment of buffer offsets for direct I/O, in bytes; 0 as
 *	above
 *
 * Registers an open file. What may be done with it is what the file descriptor
 * was opened for.
 */
struct pdio_file_register {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 __reserved;
	__u32 out_id;
	__u32 out_reason;
	__u32 out_offset_align;
	__u32 out_mem_align;
};
#define PDIO_FILE_REGISTER _IO(PDIO_TYPE, PDIO_CMD_FILE_REGISTER)

/* Directions, seen from storage as in read(2) and write(2). */
#define PDIO_OP_READ	0	/* file to buffer */
#define PDIO_OP_WRITE	1	/* buffer to file */

/**
 * struct pdio_route - ioctl(PDIO_ROUTE)
 * @size: sizeof(struct pdio_route)
 * @flags: must be 0
 * @buffer_id: a registered buffer
 * @file_id: a registered file
 * @op: PDIO_OP_READ or PDIO_OP_WRITE
 * @out_route: PDIO_ROUTE_*: how a well-aligned request would be served
 * @out_reason: why that isn't PDIO_ROUTE_DIRECT
 * @out_map_type: PDIO_MAP_*: the kernel's answer for this pair of devices
 * @out_provider_domain: PCI domain of the function whose BAR holds the buffer
 * @out_provider_bdf: its bus << 8 | device << 3 | function, or 0xffffffff if
 *	there is none or it isn't known
 * @out_client_domain: PCI domain of the function that does the file's DMA
 * @out_client_bdf: as @out_provider_bdf
 *
 * Tells how requests between a buffer and a file would be served, without I/O.
 * Pins and maps the buffer for the file's device if that has not happened yet,
 * and fails with the same errors as RW would then. The out members are written on
 * failure too.
 */
struct pdio_route {
	__u32 size;
	__u32 flags;
	__u32 buffer_id;
	__u32 file_id;
	__u32 op;
	__u32 out_route;
	__u32 out_reason;
	__u32 out_map_type;
	__u32 out_provider_domain;
	__u32 out_provider_bdf;
	__u32 out_client_domain;
	__u32 out_client_bdf;
};
#define PDIO_ROUTE _IO(PDIO_TYPE, PDIO_CMD_ROUTE)
#define PDIO_BDF_NONE 0xffffffffU

/**
 * struct pdio_segment - a part of a request's memory
 * @buffer_id: a registered buffer
 * @__reserved: 0
 * @offset: first byte in the buffer
 * @length: bytes; 0 is allowed and moves nothing
 */
struct pdio_segment {
	__u32 buffer_id;
	__u32 __reserved;
	__aligned_u64 offset;
	__aligned_u64 length;
};

/**
 * struct pdio_rw - ioctl(PDIO_RW)
 * @size: sizeof(struct pdio_rw)
 * @flags: PDIO_RW_FLAG_*
 * @file_id: a registered file
 * @op: PDIO_OP_READ or PDIO_OP_WRITE
 * @file_offset: first byte in the file
 * @segments: pointer to an array of struct pdio_segment: the memory, in the
 *	order of the file's bytes, as in preadv(2) and pwritev(2)
 * @nr_segments: elements of @segments, 1 to out_max_segments of INFO
 * @out_reason: on success, the first reason for which bytes of this request
 *	weren't direct; on failure, the reason for that, if there is one
 * @out_bytes: bytes moved in all
 * @out_bytes_direct: of these, proven to have moved from device to device
 * @out_bytes_staged: of these, moved through pdio's host pages
 * @out_bytes_cpu: of these, copied or zeroed by CPU inside the kernel, or not
 *	proven direct
 *
 * Moves bytes between a file and buffers, synchronously. Fewer bytes than asked
 * for means the end of the file, a fatal signal, or an error that the next call
 * reports. On failure nothing was moved and all out_bytes are 0. Bytes of the
 * buffers past @out_bytes aren't touched, unless the file is truncated while it
 * is being read. Ordering against work that the device itself does on the
 * memory is the caller's.
 *
 * The out members are written on failure too.
 */
struct pdio_rw {
	__u32 size;
	__u32 flags;
	__u32 file_id;
	__u32 op;
	__aligned_u64 file_offset;
	__aligned_u64 segments;
	__u32 nr_segments;
	__u32 out_reason;
	__aligned_u64 out_bytes;
	__aligned_u64 out_bytes_direct;
	__aligned_u64 out_bytes_staged;
	__aligned_u64 out_bytes_cpu;
};
#define PDIO_RW _IO(PDIO_TYPE, PDIO_CMD_RW)

/*
 * Fail with EXDEV, before any byte moves, rather than go another way. What nobody
 * could foresee (a file system that falls back on the way) is not undone, but
 * counted in out_bytes_cpu.
 */
#define PDIO_RW_FLAG_REQUIRE_DIRECT	(1U << 0)
/* The written bytes are durable when the call returns, as with O_DSYNC. */
#define PDIO_RW_FLAG_DSYNC		(1U << 1)

/**
 * struct pdio_destroy - ioctl(PDIO_DESTROY)
 * @size: sizeof(struct pdio_destroy)
 * @id: a buffer's or file's id
 *
 * Retires the id at once: calls that start later get ENOENT. Then waits for
 * requests that use the object, and for a buffer unpins the memory, before it
 * returns 0. A fatal signal ends the wait (EINTR); the object is gone and its
 * release completes by itself.
 */
struct pdio_destroy {
	__u32 size;
	__u32 id;
};
#define PDIO_DESTROY _IO(PDIO_TYPE, PDIO_CMD_DESTROY)

#endif /* _LINUX_PDIO_H */
