/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library's rooms share: the handles, and the helpers for structures
 * that carry their size. Nothing here is visible outside the library.
 */
#ifndef LIBPDIO_INTERNAL_H
#define LIBPDIO_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include "libpdio.h"

#define PDIO_NODE "/dev/pdio"

/* Never changes after libpdio_open(), but for the count. */
struct libpdio_ctx {
	atomic_uint refs;
	int fd;
	uint32_t max_segments;
};

struct libpdio_buffer {
	struct libpdio_ctx *ctx;
	pid_t owner;
	uint32_t id;
	uint64_t length;
};

struct libpdio_file {
	struct libpdio_ctx *ctx;
	pid_t owner;
	uint32_t id;
	uint32_t reason;
	uint32_t offset_align;
	uint32_t mem_align;
};

struct libpdio_ctx *ctx_get(struct libpdio_ctx *ctx);
void ctx_put(struct libpdio_ctx *ctx);

/* ctx_destroy - retire the kernel's object @id, if this process made it */
int ctx_destroy(struct libpdio_ctx *ctx, uint32_t id, pid_t owner);

/* sys_ioctl - ioctl(2) that returns what it returns, or a negative errno */
int sys_ioctl(int fd, unsigned long cmd, void *arg);

/*
 * sized_put - fill a structure of the caller that may be older or newer
 *
 * @dst starts with a __u32 that holds the caller's idea of its size; that member
 * stays. The smaller of both sizes is copied, what the library doesn't know is
 * zeroed. The caller has tested the size with sized_ok().
 */
void sized_put(void *dst, const void *src, size_t src_size);

/* sized_ok - is the size in @dst at least @min, that of the first release? */
bool sized_ok(const void *dst, size_t min);

/*
 * The sizes of the first release, which every caller has at least. They stay
 * when a structure grows.
 */
#define INFO_V1_SIZE 56
#define ROUTE_V1_SIZE 32
#define RESULT_V1_SIZE 48
#define ACCEL_INFO_V1_SIZE 32

#endif /* LIBPDIO_INTERNAL_H */
