// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the fake GPU: finds room in the BAR, in system RAM or in an NVMe
 * drive's pool, and walks over it piece by piece.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pci-p2pdma.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include "fakegpu_priv.h"

/* One access holds io_lock for so many bytes at most. */
#define ACCESS_STEP	SZ_64K

/* Takes free pages at or after *pos, once around the end; mem_lock is held. */
static bool bar_take(struct fakegpu_dev *dev, size_t len, size_t align,
		     size_t *pos)
{
	unsigned long pages = dev->size >> PAGE_SHIFT;
	unsigned long n = len >> PAGE_SHIFT;
	unsigned long mask = (align >> PAGE_SHIFT) - 1;
	unsigned long at;

	lockdep_assert_held(&dev->mem_lock);

	at = bitmap_find_next_zero_area(dev->bitmap, pages, *pos, n, mask);
	if (at >= pages)
		at = bitmap_find_next_zero_area(dev->bitmap, pages, 0, n, mask);
	if (at >= pages)
		return false;
	bitmap_set(dev->bitmap, at, n);
	dev->used += len;
	*pos = at;
	return true;
}

static void bar_free(struct fakegpu_backing *b)
{
	struct fakegpu_dev *dev = b->dev;
	size_t i, len;

	mutex_lock(&dev->mem_lock);
	for (i = 0; i < b->nr; i++) {
		len = fakegpu_backing_length(b, i);
		bitmap_clear(dev->bitmap, b->offsets[i] >> PAGE_SHIFT,
			     len >> PAGE_SHIFT);
		dev->used -= len;
	}
	mutex_unlock(&dev->mem_lock);
}

/*
 * Puts pieces into an order that the seed decides, in which no piece follows
 * its neighbour in memory (as far as the last ones leave a choice). The last
 * piece stays where it is if it is a short one.
 */
static void bar_shuffle(struct fakegpu_backing *b, u32 seed)
{
	size_t n = b->size / b->chunk;
	size_t i, j;

	for (i = 0; i + 1 < n; i++) {
		j = i + (size_t)fakegpu_word(seed, i) % (n - i);
		if (i && b->offsets[j] == b->offsets[i - 1] + b->chunk)
			j = j + 1 < n ? j + 1 : i;
		swap(b->offsets[i], b->offsets[j]);
	}
}

static int bar_alloc(struct fakegpu_backing *b, u32 seed)
{
	struct fakegpu_dev *dev = b->dev;
	size_t want = b->nr, len, pos, align;

	/* Big pieces lie as in a GPU's big pages. */
	align = min_t(size_t, roundup_pow_of_two(b->chunk), SZ_2M);

	mutex_lock(&dev->mem_lock);
	pos = dev->cursor;
	for (b->nr = 0; b->nr < want; b->nr++) {
		len = min(b->chunk, b->size - b->nr * b->chunk);
		if (!bar_take(dev, len, align, &pos))
			break;
		b->offsets[b->nr] = (u64)pos << PAGE_SHIFT;
		pos += len >> PAGE_SHIFT;
	}
	dev->cursor = pos;
	mutex_unlock(&dev->mem_lock);

	if (b->nr < want)
		return -ENOSPC;
	if (want > 1)
		bar_shuffle(b, seed);
	return 0;
}

static int cmb_alloc(struct fakegpu_backing *b)
{
	struct fakegpu_dev *dev = b->dev;
	void *vaddr = NULL;
	int ret = -ENODEV;

	/* Whoever sets dead lets the NVMe driver go, and its pool with it. */
	down_read(&dev->io_lock);
	if (!dev->dead) {
		ret = -ENOSPC;
		vaddr = pci_alloc_p2pmem(dev->pdev, b->size);
	}
	if (vaddr) {
		ret = 0;
		b->vaddr = vaddr;
		b->offsets[0] = pci_p2pmem_virt_to_bus(dev->pdev, vaddr) -
				dev->bus;
		mutex_lock(&dev->mem_lock);
		dev->used += b->size;
		mutex_unlock(&dev->mem_lock);
	}
	up_read(&dev->io_lock);
	return ret;
}

static void cmb_free(struct fakegpu_backing *b)
{
	if (!b->vaddr)
		return;
	pci_free_p2pmem(b->dev->pdev, b->vaddr, b->size);
	mutex_lock(&b->dev->mem_lock);
	b->dev->used -= b->size;
	mutex_unlock(&b->dev->mem_lock);
}

static void backing_release(struct kref *kref)
{
	struct fakegpu_backing *b =
		container_of(kref, struct fakegpu_backing, kref);

	switch (b->place) {
	case FAKEGPU_IN_BAR:
		bar_free(b);
		break;
	case FAKEGPU_IN_RAM:
		vfree(b->vaddr);
		break;
	case FAKEGPU_IN_CMB:
		cmb_free(b);
		break;
	}
	kvfree(b->offsets);
	kfree(b);
}

static int backing_fill_in(struct fakegpu_backing *b, u32 seed)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;

	if (b->place == FAKEGPU_IN_RAM) {
		b->vaddr = __vmalloc(b->size, gfp | __GFP_ZERO);
		return b->vaddr ? 0 : -ENOMEM;
	}

	b->offsets = kvcalloc(b->nr, sizeof(*b->offsets), gfp);
	if (!b->offsets) {
		b->nr = 0;
		return -ENOMEM;
	}
	return b->place == FAKEGPU_IN_CMB ? cmb_alloc(b) : bar_alloc(b, seed);
}

/**
 * fakegpu_backing_create - allocate memory, cleared
 * @dev: whose memory
 * @place: where
 * @size: bytes, a multiple of the page size
 * @chunk: bytes of a contiguous piece, a multiple of the page size; @size for
 *	memory in one piece. Only the BAR has smaller ones.
 * @seed: decides the order of the pieces
 *
 * Context: may sleep. Takes mem_lock and io_lock.
 * Return: memory with one reference, or an error pointer: ENOSPC (no room),
 *	ENOMEM, ENODEV (device gone), EINTR (killed while clearing).
 */
struct fakegpu_backing *
fakegpu_backing_create(struct fakegpu_dev *dev, enum fakegpu_place place,
		       size_t size, size_t chunk, u32 seed)
{
	struct fakegpu_backing *b;
	int ret;

	if (!size || size > dev->size)
		return ERR_PTR(-ENOSPC);

	b = kzalloc_obj(*b);
	if (!b)
		return ERR_PTR(-ENOMEM);
	kref_init(&b->kref);
	b->dev = dev;
	b->place = place;
	b->size = size;
	b->chunk = place == FAKEGPU_IN_BAR ? min(chunk, size) : size;
	b->nr = DIV_ROUND_UP(size, b->chunk);

	ret = backing_fill_in(b, seed);
	if (!ret && place != FAKEGPU_IN_RAM)
		ret = fakegpu_backing_access(b, 0, size, fakegpu_io_zero, NULL);
	if (ret) {
		fakegpu_backing_put(b);
		return ERR_PTR(ret);
	}
	return b;
}

/**
 * fakegpu_backing_get - take a reference
 * @b: memory of which the caller has one, or holds the lock that guards one
 */
void fakegpu_backing_get(struct fakegpu_backing *b)
{
	kref_get(&b->kref);
}

/**
 * fakegpu_backing_put - drop a reference; the last frees the memory
 * @b: memory
 *
 * Context: may sleep. Takes mem_lock.
 */
void fakegpu_backing_put(struct fakegpu_backing *b)
{
	kref_put(&b->kref, backing_release);
}

/**
 * fakegpu_backing_length - bytes of one contiguous piece
 * @b: memory
 * @index: number of the piece
 *
 * Return: its length.
 */
size_t fakegpu_backing_length(struct fakegpu_backing *b, size_t index)
{
	return min(b->chunk, b->size - index * b->chunk);
}

static void __iomem *backing_pointer(struct fakegpu_backing *b, size_t offset)
{
	if (b->vaddr)
		return (void __iomem *)b->vaddr + offset;
	return b->dev->mem + b->offsets[offset / b->chunk] + offset % b->chunk;
}

/**
 * fakegpu_backing_access - let a function work on memory piece by piece
 * @b: memory
 * @offset: first byte
 * @len: bytes; the range must lie in @b
 * @fn: called for each piece, in order
 * @ctx: passed to @fn
 *
 * Context: may sleep. Takes io_lock, and lets go of it between pieces.
 * Return: 0, or -ENODEV if the device is gone, -EINTR on a fatal signal.
 */
int fakegpu_backing_access(struct fakegpu_backing *b, size_t offset, size_t len,
			   fakegpu_access_fn fn, void *ctx)
{
	struct fakegpu_dev *dev = b->dev;
	size_t n;

	while (len) {
		n = min3(len, b->chunk - offset % b->chunk,
			 (size_t)ACCESS_STEP);
		down_read(&dev->io_lock);
		if (dev->dead) {
			up_read(&dev->io_lock);
			return -ENODEV;
		}
		fn(ctx, backing_pointer(b, offset), offset, n);
		/* Drains the write-combining buffers. */
		wmb();
		up_read(&dev->io_lock);

		offset += n;
		len -= n;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * fakegpu_backing_copy - copy contents
 * @to: destination
 * @from: source, of the same size
 *
 * Context: may sleep. Takes io_lock.
 * Return: 0 or a negative error, as fakegpu_backing_access() and ENOMEM.
 */
int fakegpu_backing_copy(struct fakegpu_backing *to,
			 struct fakegpu_backing *from)
{
	size_t offset, n;
	void *bounce, *p;
	int ret = 0;

	bounce = kvmalloc(ACCESS_STEP, GFP_KERNEL);
	if (!bounce)
		return -ENOMEM;

	for (offset = 0; !ret && offset < to->size; offset += n) {
		n = min_t(size_t, to->size - offset, ACCESS_STEP);
		p = bounce;
		ret = fakegpu_backing_access(from, offset, n, fakegpu_io_read,
					     &p);
		p = bounce;
		if (!ret)
			ret = fakegpu_backing_access(to, offset, n,
						     fakegpu_io_write, &p);
	}
	kvfree(bounce);
	return ret;
}

/**
 * fakegpu_bar_clear - clear the whole BAR
 * @dev: whose
 *
 * Context: may sleep. Takes io_lock, and lets go of it now and then.
 * Return: 0, or -ENODEV if the device is gone.
 */
int fakegpu_bar_clear(struct fakegpu_dev *dev)
{
	size_t offset, n;

	for (offset = 0; offset < dev->size; offset += n) {
		n = min_t(size_t, dev->size - offset, ACCESS_STEP);
		down_read(&dev->io_lock);
		if (dev->dead) {
			up_read(&dev->io_lock);
			return -ENODEV;
		}
		fakegpu_io_zero(NULL, dev->mem + offset, offset, n);
		/* Drains the write-combining buffers. */
		wmb();
		up_read(&dev->io_lock);
		cond_resched();
	}
	return 0;
}
