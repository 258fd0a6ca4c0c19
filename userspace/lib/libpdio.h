/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpdio: peer-direct I/O between files and the memory of a peer device.
 *
 * A program opens a context, registers a dma-buf (a buffer) and an open file,
 * and moves bytes between the two. Every result says how many bytes went
 * straight from device to device, and why the others did not.
 *
 * Rules that hold for every function:
 *
 * - It returns 0 (or what its comment says) on success and a negative errno on
 *   failure; errno itself means nothing. Nothing is printed.
 * - Offsets and lengths are bytes.
 * - A structure that the library fills has its size as the first member, set by
 *   the caller: struct libpdio_result r = { sizeof(r) }. Members that the
 *   library does not know are zeroed, so programs and library may be of
 *   different age.
 * - "flags" must be 0 unless the comment lists some; unknown ones give
 *   -EOPNOTSUPP.
 * - Threads: handles do not change after they were made, so any number of
 *   threads may use one at once, and none of them waits for another. Releasing
 *   a handle (close, unregister, free) is the end of it: no other thread may be
 *   inside a call with it then, or start one later.
 * - Order of release: buffers and files keep their context, memory keeps its
 *   accelerator. They may be released in any order; the descriptor beneath is
 *   closed with the last of them.
 * - fork: a child may go on using inherited handles. What it releases is its
 *   own copy only: kernel objects stay until the process that made them
 *   releases them or the last copy of the descriptor is closed. Descriptors are
 *   close-on-exec.
 */
#ifndef LIBPDIO_H
#define LIBPDIO_H

#include <stddef.h>
#include <stdint.h>
#include <linux/pdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open /dev/pdio. */
struct libpdio_ctx;
/* A registered range of a dma-buf. */
struct libpdio_buffer;
/* A registered open file or block device. */
struct libpdio_file;
/* An accelerator (GPU) that memory can be allocated on. */
struct libpdio_accel;
/* Memory on an accelerator. */
struct libpdio_mem;

/**
 * libpdio_version() - the library's version
 *
 * Return: a string such as "0.1.0", valid forever.
 */
const char *libpdio_version(void);

/**
 * libpdio_open() - open /dev/pdio
 * @flags: must be 0
 * @ctx: where the new context is stored; release it with libpdio_close()
 *
 * Return: 0; -ENOENT, -ENODEV or -ENXIO if the module is not loaded; -EACCES if
 * the caller may not use the device node; -ENOMEM.
 */
int libpdio_open(uint32_t flags, struct libpdio_ctx **ctx);

/**
 * libpdio_close() - release a context
 * @ctx: a context, or NULL
 *
 * Buffers and files of the context stay usable until they are unregistered.
 */
void libpdio_close(struct libpdio_ctx *ctx);

/**
 * libpdio_fd() - the descriptor of /dev/pdio
 * @ctx: a context
 *
 * For poll(2): POLLPRI tells that a buffer was revoked. The descriptor belongs
 * to the library; it is closed with the context.
 *
 * Return: the descriptor.
 */
int libpdio_fd(const struct libpdio_ctx *ctx);

/**
 * struct libpdio_info - what the module can do, and counters of a context
 * @size: sizeof(struct libpdio_info), set by the caller
 * @reason: PDIO_REASON_NONE if this kernel can do the direct route at all, else
 *	why not
 * @features: PDIO_FEATURE_* of the module
 * @max_segments: segments that the module takes at once; longer vectors are
 *	split by the library
 * @max_objects: objects that one context holds at most
 * @ops: requests completed, whether with success or with an error
 * @bytes_direct: bytes proven to have moved from device to device
 * @bytes_staged: bytes that went through the module's host pages
 * @bytes_cpu: bytes that the kernel copied or zeroed by CPU, or of which direct
 *	movement could not be proven
 */
struct libpdio_info {
	uint32_t size;
	uint32_t reason;
	uint64_t features;
	uint32_t max_segments;
	uint32_t max_objects;
	uint64_t ops;
	uint64_t bytes_direct;
	uint64_t bytes_staged;
	uint64_t bytes_cpu;
};

/**
 * libpdio_info_get() - ask for features, limits and counters
 * @ctx: a context
 * @info: filled on success; @info->size is set by the caller
 *
 * Return: 0; -EINVAL if @info->size is too small.
 */
int libpdio_info_get(struct libpdio_ctx *ctx, struct libpdio_info *info);

/**
 * libpdio_file_register() - register an open file or block device
 * @ctx: a context
 * @fd: an open regular file or block device; may be closed afterwards. O_DIRECT
 *	is not needed.
 * @flags: must be 0
 * @file: where the new handle is stored; release it with
 *	libpdio_file_unregister()
 *
 * A file that can't be one end of a direct route is registered all the same;
 * libpdio_file_reason() tells.
 *
 * Return: 0; -EBADF for a bad descriptor; -EINVAL for one that is neither, or
 * was opened with O_APPEND; -ENOMEM.
 */
int libpdio_file_register(struct libpdio_ctx *ctx, int fd, uint32_t flags,
			  struct libpdio_file **file);

/**
 * libpdio_file_unregister() - release a file
 * @file: a registered file, or NULL
 *
 * Waits for requests of other processes that use the same registration.
 *
 * Return: 0, also where the kernel object was gone already; else what the
 * module said. The handle is released in any case.
 */
int libpdio_file_unregister(struct libpdio_file *file);

/**
 * libpdio_file_reason() - why a file has no direct route
 * @file: a registered file
 *
 * Return: PDIO_REASON_NONE if the file can be one end of a direct route, else
 * the reason why not.
 */
uint32_t libpdio_file_reason(const struct libpdio_file *file);

/**
 * libpdio_file_offset_align() - alignment of file offsets and lengths
 * @file: a registered file
 *
 * Return: the alignment that direct I/O needs, in bytes; 0 if the file has no
 * direct I/O.
 */
uint32_t libpdio_file_offset_align(const struct libpdio_file *file);

/**
 * libpdio_file_mem_align() - alignment of buffer offsets
 * @file: a registered file
 *
 * Return: the alignment that direct I/O needs, in bytes; 0 if the file has no
 * direct I/O.
 */
uint32_t libpdio_file_mem_align(const struct libpdio_file *file);

/**
 * libpdio_buffer_register() - register a range of a dma-buf
 * @ctx: a context
 * @dmabuf_fd: descriptor of the dma-buf; may be closed afterwards
 * @offset: first byte of the dma-buf, a multiple of 4096
 * @length: bytes, a multiple of 4096; 0 means all from @offset to the end
 * @hint: NULL, or a file of the same context that the buffer will be used with:
 *	the memory is then pinned and mapped at once, and what would go wrong at
 *	the first request goes wrong here
 * @flags: must be 0
 * @buffer: where the new handle is stored; release it with
 *	libpdio_buffer_unregister()
 * @reason: NULL, or where the reason is stored: on failure why, where the errno
 *	alone does not tell; on success, with a @hint, why the route to that file
 *	is not direct
 *
 * Return: 0; -EBADF if @dmabuf_fd is no dma-buf; -EINVAL for a misaligned range
 * or a @hint of another context; -ERANGE for a range that leaves the dma-buf;
 * -EDQUOT for too much pinned memory; -ENODEV if the device is gone; -ENOMEM.
 */
int libpdio_buffer_register(struct libpdio_ctx *ctx, int dmabuf_fd,
			    uint64_t offset, uint64_t length,
			    struct libpdio_file *hint, uint32_t flags,
			    struct libpdio_buffer **buffer, uint32_t *reason);

/**
 * libpdio_buffer_unregister() - release a buffer
 * @buffer: a registered buffer, or NULL
 *
 * Waits for requests of other processes that use the same registration, and
 * unpins the memory.
 *
 * Return: 0, also where the kernel object was gone already; else what the
 * module said. The handle is released in any case.
 */
int libpdio_buffer_unregister(struct libpdio_buffer *buffer);

/**
 * libpdio_buffer_length() - the length of a buffer
 * @buffer: a registered buffer
 *
 * Return: the bytes that were registered.
 */
uint64_t libpdio_buffer_length(const struct libpdio_buffer *buffer);

/**
 * struct libpdio_route - how a buffer and a file are served
 * @size: sizeof(struct libpdio_route), set by the caller
 * @route: PDIO_ROUTE_*
 * @reason: why that is not PDIO_ROUTE_DIRECT
 * @map_type: PDIO_MAP_*: the kernel's answer for this pair of devices
 * @provider_domain: PCI domain of the function whose BAR holds the buffer
 * @provider_bdf: its bus << 8 | device << 3 | function, or PDIO_BDF_NONE
 * @client_domain: PCI domain of the function that does the file's DMA
 * @client_bdf: as @provider_bdf
 */
struct libpdio_route {
	uint32_t size;
	uint32_t route;
	uint32_t reason;
	uint32_t map_type;
	uint32_t provider_domain;
	uint32_t provider_bdf;
	uint32_t client_domain;
	uint32_t client_bdf;
};

/**
 * libpdio_route_get() - ask how requests would be served, without I/O
 * @file: a registered file
 * @buffer: a registered buffer of the same context
 * @op: PDIO_OP_READ (file to buffer) or PDIO_OP_WRITE (buffer to file)
 * @route: @route->size is set by the caller; filled on success, and on failure
 *	@route->reason says why where the errno alone does not tell
 *
 * Pins and maps the buffer for the file's device if that has not happened yet.
 *
 * Return: 0; -EBADF if the file is not open for @op; -EDQUOT, -ENODEV and
 * others as libpdio_pread().
 */
int libpdio_route_get(struct libpdio_file *file, struct libpdio_buffer *buffer,
		      uint32_t op, struct libpdio_route *route);

/* Fail with -EXDEV, before any byte moves, rather than go another way. */
#define LIBPDIO_REQUIRE_DIRECT	PDIO_RW_FLAG_REQUIRE_DIRECT
/* Written bytes are durable when the call returns, as with O_DSYNC. */
#define LIBPDIO_DSYNC		PDIO_RW_FLAG_DSYNC

/**
 * struct libpdio_result - what a request did
 * @size: sizeof(struct libpdio_result), set by the caller
 * @reason: the first reason for which bytes were not direct, or
 *	PDIO_REASON_NONE
 * @error: 0, or the negative errno that ended the request early
 * @error_reason: the reason of that error, if it has one
 * @bytes: bytes moved in all
 * @bytes_direct: of these, proven to have moved from device to device
 * @bytes_staged: of these, moved through the module's host pages
 * @bytes_cpu: of these, copied or zeroed by CPU inside the kernel, or not
 *	proven direct
 */
struct libpdio_result {
	uint32_t size;
	uint32_t reason;
	int32_t error;
	uint32_t error_reason;
	uint64_t bytes;
	uint64_t bytes_direct;
	uint64_t bytes_staged;
	uint64_t bytes_cpu;
};

/**
 * struct libpdio_segment - one piece of a request's memory
 * @buffer: a registered buffer of the file's context
 * @offset: first byte in the buffer
 * @length: bytes; 0 is allowed
 *
 * Elements of an array: this structure never grows.
 */
struct libpdio_segment {
	struct libpdio_buffer *buffer;
	uint64_t offset;
	uint64_t length;
};

/**
 * libpdio_pread() - read from a file into a buffer
 * @file: a registered file
 * @buffer: a registered buffer of the same context
 * @buffer_offset: first byte in the buffer
 * @length: bytes to move
 * @file_offset: first byte in the file
 * @flags: LIBPDIO_REQUIRE_DIRECT or 0
 * @result: @result->size is set by the caller; filled on success and on
 *	failure
 *
 * Goes on after short results until everything is moved, the file ends, or an
 * error comes. @result->bytes says how much that was; fewer bytes than asked
 * for with @result->error 0 mean the end of the file. An error after some bytes
 * is in @result->error, and the call still returns 0.
 *
 * Return: 0 if bytes were moved or the file has ended; else -EXDEV if
 * LIBPDIO_REQUIRE_DIRECT can't be had; -EOPNOTSUPP for a request that this
 * module can't serve; -ENODEV if the buffer was revoked; -ERANGE for a range
 * that leaves the buffer; -EBADF if the file is not open for this; -EDQUOT for
 * too much pinned memory; -EOVERFLOW for offsets past 2^63 - 1; -EINVAL for a
 * buffer of another context; -ENOMEM; or what the storage reports.
 */
int libpdio_pread(struct libpdio_file *file, struct libpdio_buffer *buffer,
		  uint64_t buffer_offset, uint64_t length, uint64_t file_offset,
		  uint32_t flags, struct libpdio_result *result);

/**
 * libpdio_pwrite() - write from a buffer to a file
 * @file: a registered file
 * @buffer: a registered buffer of the same context
 * @buffer_offset: first byte in the buffer
 * @length: bytes to move
 * @file_offset: first byte in the file
 * @flags: LIBPDIO_REQUIRE_DIRECT, LIBPDIO_DSYNC, both, or 0
 * @result: @result->size is set by the caller; filled on success and on
 *	failure
 *
 * As libpdio_pread(), the other way. Fewer bytes than asked for always come
 * with @result->error, or with a file system that took no more.
 *
 * Return: as libpdio_pread().
 */
int libpdio_pwrite(struct libpdio_file *file, struct libpdio_buffer *buffer,
		   uint64_t buffer_offset, uint64_t length,
		   uint64_t file_offset, uint32_t flags,
		   struct libpdio_result *result);

/**
 * libpdio_preadv() - read from a file into several pieces of memory
 * @file: a registered file
 * @segments: the pieces, in the order of the file's bytes
 * @count: elements of @segments; 0 moves nothing
 * @file_offset: first byte in the file
 * @flags: as libpdio_pread()
 * @result: as libpdio_pread()
 *
 * A vector longer than the module takes at once is split: it is not one atomic
 * request.
 *
 * Return: as libpdio_pread().
 */
int libpdio_preadv(struct libpdio_file *file,
		   const struct libpdio_segment *segments, uint32_t count,
		   uint64_t file_offset, uint32_t flags,
		   struct libpdio_result *result);

/**
 * libpdio_pwritev() - write several pieces of memory to a file
 * @file: a registered file
 * @segments: the pieces, in the order of the file's bytes
 * @count: elements of @segments; 0 moves nothing
 * @file_offset: first byte in the file
 * @flags: as libpdio_pwrite()
 * @result: as libpdio_pread()
 *
 * Vectors are split as by libpdio_preadv().
 *
 * Return: as libpdio_pread().
 */
int libpdio_pwritev(struct libpdio_file *file,
		    const struct libpdio_segment *segments, uint32_t count,
		    uint64_t file_offset, uint32_t flags,
		    struct libpdio_result *result);

/**
 * libpdio_reason_name() - the short name of a reason
 * @reason: PDIO_REASON_*
 *
 * Return: a name such as "HOST_BRIDGE", or "UNKNOWN"; valid forever.
 */
const char *libpdio_reason_name(uint32_t reason);

/**
 * libpdio_reason_str() - a reason in words
 * @reason: PDIO_REASON_*
 *
 * Return: one or two English sentences: what it means, and what to do about it
 * if something can be done; valid forever.
 */
const char *libpdio_reason_str(uint32_t reason);

/**
 * libpdio_route_name() - the name of a route
 * @route: PDIO_ROUTE_*
 *
 * Return: "none", "direct", "command", "staged", or "unknown"; valid forever.
 */
const char *libpdio_route_name(uint32_t route);

/**
 * libpdio_map_name() - the name of a mapping type
 * @map_type: PDIO_MAP_*
 *
 * Return: "unknown", "bus-address", "host-bridge" or "blocked"; valid forever.
 */
const char *libpdio_map_name(uint32_t map_type);

/**
 * libpdio_accel_open() - open an accelerator
 * @spec: which one: "fake:0" (the test driver's device 0), "fake:cmb" (its
 *	wrapper of an NVMe CMB), or "vfio:0000:01:00.0" (the largest memory BAR
 *	of a PCI function that is bound to vfio-pci)
 * @flags: must be 0
 * @accel: where the new handle is stored; release it with
 *	libpdio_accel_close()
 *
 * Return: 0; -EINVAL for a @spec of no known form; -ENOENT or -ENODEV if there
 * is no such device or it has another driver; -EACCES or -EPERM if the caller
 * may not use it; -EBUSY if someone else does; -EOPNOTSUPP if it has no memory
 * to offer; -ENOMEM.
 */
int libpdio_accel_open(const char *spec, uint32_t flags,
		       struct libpdio_accel **accel);

/**
 * libpdio_accel_close() - release an accelerator
 * @accel: an accelerator, or NULL
 *
 * Memory allocated on it stays usable until it is freed.
 */
void libpdio_accel_close(struct libpdio_accel *accel);

/**
 * struct libpdio_accel_info - facts about an accelerator
 * @size: sizeof(struct libpdio_accel_info), set by the caller
 * @domain: PCI domain of the function
 * @bdf: its bus << 8 | device << 3 | function
 * @reserved: 0
 * @bytes_total: bytes of memory that it has
 * @bytes_free: bytes that are not allocated
 */
struct libpdio_accel_info {
	uint32_t size;
	uint32_t domain;
	uint32_t bdf;
	uint32_t reserved;
	uint64_t bytes_total;
	uint64_t bytes_free;
};

/**
 * libpdio_accel_info_get() - ask for facts about an accelerator
 * @accel: an accelerator
 * @info: filled on success; @info->size is set by the caller
 *
 * Return: 0; -EINVAL if @info->size is too small; -ENODEV if it is gone.
 */
int libpdio_accel_info_get(struct libpdio_accel *accel,
			   struct libpdio_accel_info *info);

/**
 * libpdio_accel_alloc() - allocate memory on an accelerator
 * @accel: an accelerator
 * @length: bytes, a multiple of 4096, not 0
 * @flags: must be 0
 * @mem: where the new handle is stored; release it with libpdio_accel_free()
 *
 * What the memory holds at first is not defined.
 *
 * Return: 0; -EINVAL for a bad @length; -ENOMEM or -ENOSPC if there is not
 * enough; -ENODEV if the accelerator is gone.
 */
int libpdio_accel_alloc(struct libpdio_accel *accel, uint64_t length,
			uint32_t flags, struct libpdio_mem **mem);

/**
 * libpdio_accel_free() - free memory on an accelerator
 * @mem: memory, or NULL
 *
 * Close and unregister the dma-bufs of it first: the same place in the BAR may
 * be given out again at once.
 */
void libpdio_accel_free(struct libpdio_mem *mem);

/**
 * libpdio_accel_export() - export memory as a dma-buf
 * @mem: memory of an accelerator
 * @flags: must be 0
 *
 * Return: a descriptor of a dma-buf, readable, writable and close-on-exec,
 * which the caller closes; -EOPNOTSUPP if the driver exports none; -ENODEV if
 * the accelerator is gone; -ENOMEM.
 */
int libpdio_accel_export(struct libpdio_mem *mem, uint32_t flags);

/**
 * libpdio_accel_copy_in() - copy from host memory to an accelerator's
 * @mem: memory of an accelerator
 * @offset: first byte of it
 * @src: host memory
 * @length: bytes
 *
 * Return: 0; -ERANGE if the range leaves @mem; -ENODEV if the accelerator is
 * gone.
 */
int libpdio_accel_copy_in(struct libpdio_mem *mem, uint64_t offset,
			  const void *src, size_t length);

/**
 * libpdio_accel_copy_out() - copy from an accelerator's memory to the host's
 * @mem: memory of an accelerator
 * @offset: first byte of it
 * @dst: host memory
 * @length: bytes
 *
 * Return: as libpdio_accel_copy_in().
 */
int libpdio_accel_copy_out(struct libpdio_mem *mem, uint64_t offset, void *dst,
			   size_t length);

/**
 * struct libpdio_extent - one contiguous piece of accelerator memory
 * @bar_offset: first byte in the PCI BAR
 * @length: bytes
 *
 * Elements of an array: this structure never grows.
 */
struct libpdio_extent {
	uint64_t bar_offset;
	uint64_t length;
};

/**
 * libpdio_accel_extents() - where in the BAR memory lies
 * @mem: memory of an accelerator
 * @extents: array to be filled, in the order of the memory's bytes
 * @count: elements that fit; set to the number there are, which may be more
 *
 * For tests and for debugging: an outside witness can look at the BAR.
 *
 * Return: 0; -EOPNOTSUPP if the driver does not tell.
 */
int libpdio_accel_extents(struct libpdio_mem *mem,
			  struct libpdio_extent *extents, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LIBPDIO_H */
