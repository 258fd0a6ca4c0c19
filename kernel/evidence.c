// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evidence that bytes really went from device to device.
 *
 * A kiocb that asks for direct I/O may be served otherwise, and returns the same
 * count. File systems copy through the page cache when they must, and zero holes
 * by CPU. Each leaves traces in the submitting task, which runs nothing else
 * meanwhile:
 *
 * - Reads from storage are added to the task's I/O accounting when their bio is
 *   submitted, so zeroed bytes are missing there. Reads of metadata are added
 *   too and could fill the gap; a hole in the range gives that away.
 * - A buffered read brings pages into the cache for what it reads. If the range
 *   had none before, there must be none afterwards; if it had some (a direct
 *   read leaves them), the file must not have more than before.
 * - Direct writes are accounted when their bio is built. A buffered fallback
 *   either dirties clean pages, which moves the task's dirty counters, or finds
 *   them dirty already, and then the bytes are missing in the accounting. Some
 *   file systems leave the pages in the cache as well; a direct write doesn't.
 *
 * What isn't proven direct counts as moved by CPU. The doubt can be wrong: when
 * somebody else reads the same range through the page cache meanwhile, or when a
 * file system without a journal dirties metadata in the writing task.
 */
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#include "pdio.h"

static u64 task_io_bytes(u32 op)
{
#ifdef CONFIG_TASK_IO_ACCOUNTING
	return op == PDIO_OP_READ ? current->ioac.read_bytes :
				    current->ioac.write_bytes;
#else
	return 0;
#endif
}

/**
 * pdio_evidence_hole - does a range of a file lack data to be read?
 * @pf: the file
 * @pos: first byte
 * @bytes: how many; the range ends before the end of the file
 * @hole: the answer; block devices have no holes
 *
 * Unwritten extents count as holes. The question moves a file position, so it is
 * put to an open file of our own.
 *
 * Context: may sleep.
 * Return: 0, or what the file system says.
 */
int pdio_evidence_hole(const struct pdio_file *pf, loff_t pos, u64 bytes,
		       bool *hole)
{
	loff_t first;

	*hole = false;
	if (!pf->seek)
		return 0;
	first = vfs_llseek(pf->seek, pos, SEEK_HOLE);
	/* The file was truncated below the range. */
	if (first == -ENXIO)
		first = pos;
	if (first < 0)
		return first;
	*hole = first < pos + bytes;
	return 0;
}

/**
 * pdio_evidence_begin - note what the task has done before a kiocb
 * @ev: the notes
 * @pf: the file
 * @iocb: the kiocb, at its position
 * @op: PDIO_OP_*
 * @bytes: how many it will ask for
 *
 * Context: may sleep; the task that will submit the kiocb.
 * Return: 0, or as pdio_evidence_hole().
 */
int pdio_evidence_begin(struct pdio_evidence *ev, const struct pdio_file *pf,
			const struct kiocb *iocb, u32 op, u64 bytes)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;
	loff_t pos = iocb->ki_pos;
	int ret = 0;

	memset(ev, 0, sizeof(*ev));
	if (op == PDIO_OP_READ) {
		ret = pdio_evidence_hole(pf, pos, bytes, &ev->hole);
		ev->cached = filemap_range_has_page(mapping, pos,
						    pos + bytes - 1);
		ev->cache_pages = READ_ONCE(mapping->nrpages);
	} else if (current->dirty_paused_when) {
		/* So that being throttled within this same jiffy shows too. */
		current->dirty_paused_when--;
	}
	ev->io_bytes = task_io_bytes(op);
	ev->dirtied = current->nr_dirtied;
	ev->paused = current->dirty_paused_when;
	return ret;
}

static bool write_was_direct(const struct pdio_evidence *ev,
			     const struct kiocb *iocb, loff_t pos, u64 bytes)
{
	/* Not every file system that falls back drops its pages afterwards. */
	if (filemap_range_has_page(iocb->ki_filp->f_mapping, pos,
				   pos + bytes - 1))
		return false;
	/* Throttling clears the count, but says when it happened. */
	return task_io_bytes(PDIO_OP_WRITE) - ev->io_bytes >= bytes &&
	       current->nr_dirtied == ev->dirtied &&
	       current->dirty_paused_when == ev->paused;
}

static bool read_filled_cache(const struct pdio_evidence *ev,
			      const struct kiocb *iocb, loff_t pos, u64 bytes)
{
	struct address_space *mapping = iocb->ki_filp->f_mapping;

	if (ev->cached)
		return READ_ONCE(mapping->nrpages) > ev->cache_pages;
	return filemap_range_has_page(mapping, pos, pos + bytes - 1);
}

/**
 * pdio_evidence_direct - did the bytes of a kiocb go from device to device?
 * @ev: from pdio_evidence_begin()
 * @pf: the file
 * @iocb: the kiocb, completed
 * @pos: where it began
 * @op: PDIO_OP_*
 * @bytes: how many it moved, not 0
 * @reason: if not, why
 *
 * Context: may sleep; the task that submitted the kiocb.
 * Return: true if that is proven.
 */
bool pdio_evidence_direct(const struct pdio_evidence *ev,
			  const struct pdio_file *pf, const struct kiocb *iocb,
			  loff_t pos, u32 op, u64 bytes, u32 *reason)
{
	u64 moved = task_io_bytes(op) - ev->io_bytes;
	bool hole = ev->hole;

	*reason = PDIO_REASON_FS_FELL_BACK;
	if (!(iocb->ki_flags & IOCB_DIRECT))
		return false;
	if (op == PDIO_OP_WRITE)
		return write_was_direct(ev, iocb, pos, bytes);
	if (read_filled_cache(ev, iocb, pos, bytes))
		return false;

	*reason = PDIO_REASON_ZEROED;
	/* Asked again: it may have been punched after the first question. */
	if (!hole && pdio_evidence_hole(pf, pos, bytes, &hole))
		return false;
	return !hole && moved >= bytes;
}
