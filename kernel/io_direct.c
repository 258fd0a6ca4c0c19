// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct mover: peer pages through the file's own direct I/O.
 *
 * The pages go down as kernel memory (ITER_KVEC). The block layer then finds
 * that they are peer pages and keeps their requests from being merged with
 * others; as ITER_BVEC it would not look, and a request that mixes peer pages
 * with somebody's RAM is mapped by its first page alone.
 *
 * The block layer takes no reference on kernel memory: the attachment, held in
 * use by the request, is what keeps the pages.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uio.h>

#include "compat.h"
#include "pdio.h"

/* What one kiocb moves at most: a fatal signal waits no longer than this. */
#define PIECE_MAX SZ_1G

/* The extent that holds a byte of the buffer. */
static u32 extent_find(const struct pdio_attach *attach, u64 offset)
{
	u32 low = 0, high = attach->nr_extents;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (attach->extents[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * The next piece: as much as fits one kiocb, from one window, in whole blocks.
 * Returns its length, and 0 if a block would straddle two windows.
 */
static u64 piece_next(const struct pdio_io *io,
		      const struct pdio_io_segment *seg, u64 offset, u64 bytes,
		      u32 *nr_kvecs)
{
	const struct pdio_attach *attach = seg->attach;
	u32 i = extent_find(attach, offset);
	u32 window = attach->extents[i].window;
	u64 got = 0, part, skip;
	u32 nr = 0;

	bytes = min_t(u64, bytes, PIECE_MAX);
	for (; got < bytes && nr < PDIO_IO_KVECS; i++, nr++) {
		const struct pdio_extent *extent = &attach->extents[i];

		if (extent->window != window)
			break;
		skip = offset + got - extent->offset;
		part = min(extent[1].offset - extent->offset - skip,
			   bytes - got);
		io->kvec[nr].iov_base = extent->va + skip;
		io->kvec[nr].iov_len = part;
		got += part;
	}
	*nr_kvecs = nr;
	if (got < bytes)
		got = round_down(got, io->offset_align);
	return got;
}

/**
 * pdio_io_direct_fits - can a segment be cut into pieces of whole blocks?
 * @io: the request
 * @seg: the segment, aligned as the file demands
 *
 * Context: any.
 * Return: false if a block would straddle two windows.
 */
bool pdio_io_direct_fits(const struct pdio_io *io,
			 const struct pdio_io_segment *seg)
{
	u32 align = io->offset_align, nr;
	u64 done, part;

	/* Windows and extents are made of pages. */
	if (align <= PAGE_SIZE && IS_ALIGNED(seg->offset, align))
		return true;
	for (done = 0; done < seg->bytes; done += part) {
		part = piece_next(io, seg, seg->offset + done,
				  seg->bytes - done, &nr);
		if (!part)
			return false;
	}
	return true;
}

static ssize_t piece_move(struct pdio_io *io, u32 nr_kvecs, u64 bytes)
{
	struct pdio_evidence ev;
	struct iov_iter iter;
	struct kiocb iocb;
	loff_t pos = io->pos;
	ssize_t ret;
	u32 reason;

	init_sync_kiocb(&iocb, io->file->file);
	/* O_APPEND can be set after the file was registered. */
	if (iocb.ki_flags & IOCB_APPEND)
		return -EINVAL;
	iocb.ki_flags |= IOCB_DIRECT;
	if (io->flags & PDIO_RW_FLAG_DSYNC)
		iocb.ki_flags |= IOCB_DSYNC;
	iocb.ki_pos = pos;
	ret = pdio_evidence_begin(&ev, io->file, &iocb, io->op, bytes);
	if (ret)
		return ret;
	if (io->op == PDIO_OP_READ) {
		iov_iter_kvec(&iter, ITER_DEST, io->kvec, nr_kvecs, bytes);
		ret = vfs_iocb_iter_read(iocb.ki_filp, &iocb, &iter);
	} else {
		iov_iter_kvec(&iter, ITER_SOURCE, io->kvec, nr_kvecs, bytes);
		ret = pdio_iocb_write(&iocb, &iter);
	}
	if (ret <= 0)
		return ret;
	if (pdio_evidence_direct(&ev, io->file, &iocb, pos, io->op, ret,
				 &reason)) {
		io->done.direct += ret;
	} else {
		io->done.cpu += ret;
		if (!io->reason)
			io->reason = reason;
	}
	io->pos += ret;
	return ret;
}

/**
 * pdio_io_direct - move a segment of a request
 * @io: the request; its position, bytes and reason are brought up to date
 * @seg: the segment; pdio_io_direct_fits()
 * @bytes: how many of it, from its start
 *
 * Context: may sleep; the caller's task, whose credentials and limits apply.
 * Return: bytes moved, fewer than asked for at the end of the file or when
 * something went wrong on the way; or a negative errno if nothing was moved.
 */
ssize_t pdio_io_direct(struct pdio_io *io, const struct pdio_io_segment *seg,
		       u64 bytes)
{
	u64 done = 0, part;
	ssize_t ret = 0;
	u32 nr;

	while (done < bytes) {
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		part = piece_next(io, seg, seg->offset + done, bytes - done,
				  &nr);
		ret = piece_move(io, nr, part);
		if (ret <= 0)
			break;
		done += ret;
		if (ret < part)
			break;
	}
	return done ? done : ret;
}
