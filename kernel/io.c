// SPDX-License-Identifier: GPL-2.0-only
/*
 * One request: checked and planned as a whole, before any byte moves.
 *
 * What the direct mover can't do is refused here, with the reason.
 */
#include <linux/fs.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pdio.h"

/* Not direct: refused as the caller wanted it, or because there is no other. */
static int io_refuse(struct pdio_io *io, u32 reason)
{
	if (io->flags & PDIO_RW_FLAG_REQUIRE_DIRECT) {
		io->reason = reason;
		return -EXDEV;
	}
	io->reason = PDIO_REASON_UNSUPPORTED;
	return -EOPNOTSUPP;
}

static int io_hold_segment(struct pdio_ctx *ctx, struct pdio_io *io,
			   const struct pdio_segment *from,
			   struct pdio_io_segment *seg)
{
	struct pdio_route_info route;
	struct pdio_buffer *buffer;
	struct pdio_attach *attach;
	u64 end;
	int ret = 0;

	if (from->__reserved)
		return -EINVAL;
	if (check_add_overflow(from->offset, from->length, &end))
		return -EOVERFLOW;
	buffer = pdio_buffer_get(ctx, from->buffer_id);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	if (end > buffer->bytes) {
		ret = -ERANGE;
		goto out;
	}
	if (io->op == PDIO_OP_READ && !buffer->writable) {
		ret = -EBADF;
		goto out;
	}
	attach = pdio_route_get(buffer, io->file, &route);
	if (IS_ERR(attach)) {
		ret = PTR_ERR(attach);
		io->reason = route.reason;
		if (ret == -EXDEV)
			ret = io_refuse(io, route.reason);
		goto out;
	}
	seg->attach = attach;
	seg->offset = from->offset;
	seg->bytes = from->length;
	io->nr_held++;
out:
	pdio_object_put(&buffer->object);
	return ret;
}

static int io_hold_segments(struct pdio_ctx *ctx, struct pdio_io *io,
			    const struct pdio_segment *from)
{
	u64 total = 0;
	int ret;
	u32 i;

	for (i = 0; i < io->nr_segments; i++) {
		if (check_add_overflow(total, from[i].length, &total) ||
		    total > MAX_LFS_FILESIZE - io->pos)
			return -EOVERFLOW;
		ret = io_hold_segment(ctx, io, &from[i], &io->segments[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads end with the file; what is left of the segments is not for this call. */
static void io_clip_to_file(struct pdio_io *io)
{
	loff_t size = pdio_file_size(io->file);
	u64 left = size > io->pos ? size - io->pos : 0;
	u32 i;

	for (i = 0; i < io->nr_segments; i++) {
		io->segments[i].bytes = min(io->segments[i].bytes, left);
		left -= io->segments[i].bytes;
	}
}

static bool io_ends_inside_block(const struct pdio_io *io, u64 end)
{
	return io->op == PDIO_OP_READ && end == pdio_file_size(io->file);
}

static int io_plan_segment(struct pdio_io *io,
			   const struct pdio_io_segment *seg, u64 pos)
{
	u32 align = io->offset_align;

	if (!seg->bytes)
		return 0;
	if (!IS_ALIGNED(pos, align) ||
	    !IS_ALIGNED(seg->offset, io->mem_align))
		return io_refuse(io, PDIO_REASON_UNALIGNED);
	if (!IS_ALIGNED(seg->bytes, align))
		return io_refuse(io, io_ends_inside_block(io, pos + seg->bytes) ?
				 PDIO_REASON_EOF_TAIL : PDIO_REASON_UNALIGNED);
	if (!pdio_io_direct_fits(io, seg))
		return io_refuse(io, PDIO_REASON_UNALIGNED);
	return 0;
}

/* A file's alignment can change: XFS demands more of one that shares blocks. */
static int io_plan_alignment(struct pdio_io *io)
{
	int ret;

	io->offset_align = io->file->offset_align;
	io->mem_align = io->file->mem_align;
	if (!(io->flags & PDIO_RW_FLAG_REQUIRE_DIRECT))
		return 0;
	ret = pdio_file_alignment(io->file, &io->offset_align, &io->mem_align);
	if (!ret && !io->offset_align)
		ret = io_refuse(io, PDIO_REASON_FS_NOT_DIRECT);
	return ret;
}

static int io_plan(struct pdio_io *io)
{
	u64 pos = io->pos;
	bool hole;
	int ret;
	u32 i;

	ret = io_plan_alignment(io);
	if (ret)
		return ret;
	if (io->op == PDIO_OP_READ)
		io_clip_to_file(io);
	for (i = 0; i < io->nr_segments; i++) {
		ret = io_plan_segment(io, &io->segments[i], pos);
		if (ret)
			return ret;
		pos += io->segments[i].bytes;
	}
	if (io->op == PDIO_OP_WRITE || pos == io->pos ||
	    !(io->flags & PDIO_RW_FLAG_REQUIRE_DIRECT))
		return 0;
	/* Zeros for a hole are written by CPU. */
	ret = pdio_evidence_hole(io->file, io->pos, pos - io->pos, &hole);
	if (ret)
		return ret;
	return hole ? io_refuse(io, PDIO_REASON_ZEROED) : 0;
}

static int io_move(struct pdio_io *io)
{
	ssize_t ret;
	u32 i;

	for (i = 0; i < io->nr_segments; i++) {
		const struct pdio_io_segment *seg = &io->segments[i];

		if (!seg->bytes)
			continue;
		ret = pdio_io_direct(io, seg, seg->bytes);
		/* An error after some bytes is for the next call to find. */
		if (ret < 0)
			return io->done.direct + io->done.cpu ? 0 : ret;
		if (ret < seg->bytes)
			break;
	}
	return 0;
}

static int io_check(const struct pdio_rw *rw)
{
	if (rw->flags & ~(PDIO_RW_FLAG_REQUIRE_DIRECT | PDIO_RW_FLAG_DSYNC) ||
	    rw->op > PDIO_OP_WRITE)
		return -EOPNOTSUPP;
	if (!rw->nr_segments || rw->nr_segments > PDIO_MAX_SEGMENTS)
		return -EINVAL;
	if (rw->file_offset > MAX_LFS_FILESIZE)
		return -EOVERFLOW;
	return 0;
}

static int io_check_mode(const struct pdio_io *io)
{
	fmode_t need = io->op == PDIO_OP_READ ? FMODE_READ : FMODE_WRITE;

	return io->file->file->f_mode & need ? 0 : -EBADF;
}

static int io_run(struct pdio_ctx *ctx, struct pdio_io *io,
		  const struct pdio_rw *rw)
{
	struct pdio_segment *from;
	int ret;

	ret = io_check_mode(io);
	if (ret)
		return ret;
	/*
	 * All of it before anything is held: reading the caller's memory can
	 * take as long as the caller likes, and whoever takes device memory away
	 * must not have to wait for that.
	 */
	from = vmemdup_user(u64_to_user_ptr(rw->segments),
			    array_size(rw->nr_segments, sizeof(*from)));
	if (IS_ERR(from))
		return PTR_ERR(from);
	ret = io_hold_segments(ctx, io, from);
	kvfree(from);
	if (!ret)
		ret = io_plan(io);
	if (!ret)
		ret = io_move(io);
	while (io->nr_held)
		pdio_attach_put(io->segments[--io->nr_held].attach);
	return ret;
}

/**
 * pdio_io_rw - serve a request
 * @ctx: whose ids it uses
 * @rw: the request, as the caller gave it; its out members are filled in, on
 *	failure too
 *
 * Context: may sleep; the caller's task.
 * Return: 0, or a negative errno if nothing was moved; uapi/linux/pdio.h lists
 * them.
 */
int pdio_io_rw(struct pdio_ctx *ctx, struct pdio_rw *rw)
{
	struct pdio_io io = {
		.op = rw->op,
		.flags = rw->flags,
		.pos = rw->file_offset,
		.nr_segments = rw->nr_segments,
	};
	int ret;

	rw->out_reason = PDIO_REASON_NONE;
	rw->out_bytes = 0;
	rw->out_bytes_direct = 0;
	rw->out_bytes_staged = 0;
	rw->out_bytes_cpu = 0;
	ret = io_check(rw);
	if (ret)
		return ret;
	io.file = pdio_file_get(ctx, rw->file_id);
	if (IS_ERR(io.file))
		return PTR_ERR(io.file);
	ret = -ENOMEM;
	io.kvec = kmalloc_array(PDIO_IO_KVECS, sizeof(*io.kvec),
				GFP_KERNEL_ACCOUNT);
	io.segments = kvcalloc(io.nr_segments, sizeof(*io.segments),
			       GFP_KERNEL_ACCOUNT);
	if (io.kvec && io.segments)
		ret = io_run(ctx, &io, rw);
	kvfree(io.segments);
	kfree(io.kvec);
	pdio_object_put(&io.file->object);

	io.done.ops = 1;
	pdio_stats_add(ctx->stats, &io.done);
	rw->out_reason = io.reason;
	rw->out_bytes = io.done.direct + io.done.cpu;
	rw->out_bytes_direct = io.done.direct;
	rw->out_bytes_cpu = io.done.cpu;
	return ret;
}
