// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests. The kernel may move less than it was asked to, and takes a limited
 * number of segments; here is the loop that goes on from there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* Vectors up to this length need no memory allocation. */
#define SEGMENTS_ON_STACK 8

#define RW_FLAGS (PDIO_RW_FLAG_REQUIRE_DIRECT | PDIO_RW_FLAG_DSYNC)

/* What is still to be done: the kernel's own segments, from @next on. */
struct rw {
	struct libpdio_file *file;
	uint32_t op;
	uint32_t flags;
	uint64_t file_offset;
	struct pdio_segment *next;
	uint32_t count;
	uint64_t left;
};

/* rw_fill - translate the caller's segments, testing what the kernel can't */
static int rw_fill(struct rw *rw, struct pdio_segment *to,
		   const struct libpdio_segment *from)
{
	uint32_t i;

	rw->left = 0;
	for (i = 0; i < rw->count; i++) {
		if (!from[i].buffer || from[i].buffer->ctx != rw->file->ctx)
			return -EINVAL;
		if (__builtin_add_overflow(rw->left, from[i].length,
					   &rw->left) ||
		    rw->left > INT64_MAX)
			return -EOVERFLOW;
		to[i] = (struct pdio_segment){
			.buffer_id = from[i].buffer->id,
			.offset = from[i].offset,
			.length = from[i].length,
		};
	}
	if (rw->file_offset > INT64_MAX - rw->left)
		return -EOVERFLOW;
	rw->next = to;
	return 0;
}

/* rw_advance - drop @bytes that were moved from the front */
static void rw_advance(struct rw *rw, uint64_t bytes)
{
	rw->left -= bytes;
	rw->file_offset += bytes;
	while (rw->count && bytes >= rw->next->length) {
		bytes -= rw->next->length;
		rw->next++;
		rw->count--;
	}
	if (rw->count) {
		rw->next->offset += bytes;
		rw->next->length -= bytes;
	}
}

/* rw_once - one call to the kernel for @asked bytes; adds to @out what it did */
static int rw_once(struct rw *rw, uint64_t asked, struct libpdio_result *out,
		   uint64_t *moved)
{
	struct libpdio_ctx *ctx = rw->file->ctx;
	struct pdio_rw cmd = {
		.size = sizeof(cmd),
		.flags = rw->flags,
		.file_id = rw->file->id,
		.op = rw->op,
		.file_offset = rw->file_offset,
		.segments = (uintptr_t)rw->next,
		.nr_segments = rw->count < ctx->max_segments ?
			       rw->count : ctx->max_segments,
	};
	int ret = sys_ioctl(ctx->fd, PDIO_RW, &cmd);

	/* More than was asked for: going on from there would be nonsense. */
	if (!ret && cmd.out_bytes > asked)
		ret = -EPROTO;
	if (ret) {
		out->error = ret;
		out->error_reason = cmd.out_reason;
		return ret;
	}
	if (out->reason == PDIO_REASON_NONE)
		out->reason = cmd.out_reason;
	out->bytes += cmd.out_bytes;
	out->bytes_direct += cmd.out_bytes_direct;
	out->bytes_staged += cmd.out_bytes_staged;
	out->bytes_cpu += cmd.out_bytes_cpu;
	*moved = cmd.out_bytes;
	return 0;
}

/* rw_window - bytes of the segments that one call takes */
static uint64_t rw_window(const struct rw *rw)
{
	uint32_t max = rw->file->ctx->max_segments;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < rw->count && i < max; i++)
		sum += rw->next[i].length;
	return sum;
}

static int rw_loop(struct rw *rw, struct libpdio_result *out)
{
	uint64_t moved, asked;

	/* The first call is made even for 0 bytes: it tests the arguments. */
	while (rw->count) {
		asked = rw_window(rw);
		if (rw_once(rw, asked, out, &moved))
			break;
		/* Nothing where something was asked for: the file has ended. */
		if (!moved && asked)
			break;
		rw_advance(rw, moved);
		if (!rw->left)
			break;
	}
	return out->bytes ? 0 : out->error;
}

static int rw_run(struct rw *rw, const struct libpdio_segment *segments,
		  struct libpdio_result *result)
{
	struct pdio_segment on_stack[SEGMENTS_ON_STACK];
	struct pdio_segment *copy = on_stack;
	struct libpdio_result out = { 0 };
	int ret;

	if (!sized_ok(result, RESULT_V1_SIZE))
		return -EINVAL;
	sized_put(result, &out, sizeof(out));
	if (!rw->file || (rw->count && !segments))
		return -EINVAL;
	if (rw->flags & ~(uint32_t)RW_FLAGS)
		return -EOPNOTSUPP;
	if (rw->count > SEGMENTS_ON_STACK) {
		copy = calloc(rw->count, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
	}
	ret = rw_fill(rw, copy, segments);
	if (!ret) {
		ret = rw_loop(rw, &out);
		sized_put(result, &out, sizeof(out));
	}
	if (copy != on_stack)
		free(copy);
	return ret;
}

int libpdio_preadv(struct libpdio_file *file,
		   const struct libpdio_segment *segments, uint32_t count,
		   uint64_t file_offset, uint32_t flags,
		   struct libpdio_result *result)
{
	struct rw rw = {
		.file = file,
		.op = PDIO_OP_READ,
		.flags = flags,
		.file_offset = file_offset,
		.count = count,
	};

	return rw_run(&rw, segments, result);
}

int libpdio_pwritev(struct libpdio_file *file,
		    const struct libpdio_segment *segments, uint32_t count,
		    uint64_t file_offset, uint32_t flags,
		    struct libpdio_result *result)
{
	struct rw rw = {
		.file = file,
		.op = PDIO_OP_WRITE,
		.flags = flags,
		.file_offset = file_offset,
		.count = count,
	};

	return rw_run(&rw, segments, result);
}

int libpdio_pread(struct libpdio_file *file, struct libpdio_buffer *buffer,
		  uint64_t buffer_offset, uint64_t length, uint64_t file_offset,
		  uint32_t flags, struct libpdio_result *result)
{
	struct libpdio_segment segment = { buffer, buffer_offset, length };

	return libpdio_preadv(file, &segment, 1, file_offset, flags, result);
}

int libpdio_pwrite(struct libpdio_file *file, struct libpdio_buffer *buffer,
		   uint64_t buffer_offset, uint64_t length,
		   uint64_t file_offset, uint32_t flags,
		   struct libpdio_result *result)
{
	struct libpdio_segment segment = { buffer, buffer_offset, length };

	return libpdio_pwritev(file, &segment, 1, file_offset, flags, result);
}
