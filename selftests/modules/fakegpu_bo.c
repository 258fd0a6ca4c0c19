// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations of the fake GPU: their life, how importers' mappings of them are
 * counted, and how a movable one moves.
 */
#include <linux/slab.h>

#include "fakegpu_priv.h"

static int bo_attach_to_dev(struct fakegpu_bo *bo)
{
	struct fakegpu_dev *dev = bo->dev;
	int ret = 0;

	/* What is listed before the device dies is revoked with it. */
	down_read(&dev->io_lock);
	if (dev->dead) {
		ret = -ENODEV;
	} else {
		spin_lock(&dev->bo_lock);
		list_add_tail(&bo->dev_node, &dev->bos);
		spin_unlock(&dev->bo_lock);
	}
	up_read(&dev->io_lock);
	return ret;
}

static enum fakegpu_place first_place(struct fakegpu_dev *dev, u32 behaviour)
{
	if (dev->cmb)
		return FAKEGPU_IN_CMB;
	return behaviour == FAKEGPU_RAM ? FAKEGPU_IN_RAM : FAKEGPU_IN_BAR;
}

static size_t first_chunk(const struct fakegpu_alloc *a)
{
	if (!(a->flags & FAKEGPU_SCATTERED))
		return a->size;
	return a->extent_size ?: PAGE_SIZE;
}

/**
 * fakegpu_bo_create - make an allocation
 * @dev: whose memory
 * @a: what is asked for; checked by the caller
 *
 * Context: may sleep. Takes reset_lock.
 * Return: an allocation with one reference, or an error pointer as
 *	fakegpu_backing_create().
 */
struct fakegpu_bo *fakegpu_bo_create(struct fakegpu_dev *dev,
				     const struct fakegpu_alloc *a)
{
	struct fakegpu_backing *b;
	struct fakegpu_bo *bo;
	int ret;

	bo = kzalloc_obj(*bo);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	kref_init(&bo->kref);
	INIT_LIST_HEAD(&bo->dev_node);
	INIT_LIST_HEAD(&bo->todo);
	INIT_LIST_HEAD(&bo->dmabufs);
	spin_lock_init(&bo->lock);
	init_waitqueue_head(&bo->wait);
	dma_resv_init(&bo->resv);
	bo->behaviour = a->behaviour;
	bo->flags = a->flags;
	bo->seed = a->seed;
	bo->size = a->size;
	bo->chunk = first_chunk(a);
	fakegpu_dev_get(dev);
	bo->dev = dev;

	if (down_read_killable(&dev->reset_lock)) {
		ret = -EINTR;
		goto err_put;
	}
	b = fakegpu_backing_create(dev, first_place(dev, a->behaviour),
				   bo->size, bo->chunk, bo->seed);
	if (IS_ERR(b)) {
		ret = PTR_ERR(b);
	} else {
		bo->backing = b;
		ret = bo_attach_to_dev(bo);
	}
	up_read(&dev->reset_lock);
	if (ret)
		goto err_put;
	return bo;

err_put:
	fakegpu_bo_put(bo);
	return ERR_PTR(ret);
}

/**
 * fakegpu_bo_get - take a reference
 * @bo: an allocation of which the caller has one
 */
void fakegpu_bo_get(struct fakegpu_bo *bo)
{
	kref_get(&bo->kref);
}

static void bo_release(struct kref *kref)
{
	struct fakegpu_bo *bo = container_of(kref, struct fakegpu_bo, kref);
	struct fakegpu_dev *dev = bo->dev;

	spin_lock(&dev->bo_lock);
	list_del(&bo->dev_node);
	spin_unlock(&dev->bo_lock);

	if (bo->backing)
		fakegpu_backing_put(bo->backing);
	dma_resv_fini(&bo->resv);
	kfree(bo);
	fakegpu_dev_put(dev);
}

/**
 * fakegpu_bo_put - drop a reference; the last frees the allocation
 * @bo: an allocation
 *
 * Context: may sleep.
 */
void fakegpu_bo_put(struct fakegpu_bo *bo)
{
	kref_put(&bo->kref, bo_release);
}

/**
 * fakegpu_bo_backing - the memory of an allocation, for the device's own work
 * @bo: an allocation
 *
 * Return: memory with a reference, or -ENODEV if the contents are gone.
 */
struct fakegpu_backing *fakegpu_bo_backing(struct fakegpu_bo *bo)
{
	struct fakegpu_backing *b = ERR_PTR(-ENODEV);

	spin_lock(&bo->lock);
	if (!bo->lost && bo->backing) {
		b = bo->backing;
		fakegpu_backing_get(b);
	}
	spin_unlock(&bo->lock);
	return b;
}

/**
 * fakegpu_bo_map_begin - count a mapping of an importer
 * @bo: an allocation
 *
 * To be undone by fakegpu_bo_map_end(), which is what revocation waits for.
 *
 * Return: memory with a reference, or -ENODEV if it was revoked.
 */
struct fakegpu_backing *fakegpu_bo_map_begin(struct fakegpu_bo *bo)
{
	struct fakegpu_backing *b = ERR_PTR(-ENODEV);

	spin_lock(&bo->lock);
	if (!bo->revoked) {
		b = bo->backing;
		fakegpu_backing_get(b);
		bo->mapped++;
	}
	spin_unlock(&bo->lock);
	return b;
}

/**
 * fakegpu_bo_map_end - an importer has unmapped
 * @bo: an allocation
 */
void fakegpu_bo_map_end(struct fakegpu_bo *bo)
{
	spin_lock(&bo->lock);
	if (!--bo->mapped) {
		bo->drained = ktime_get();
		wake_up_all(&bo->wait);
	}
	spin_unlock(&bo->lock);
}

/**
 * fakegpu_bo_move - move an allocation elsewhere, as amdgpu would
 * @bo: a movable allocation that isn't pinned
 * @place: where to; another part of the BAR if it is there already
 *
 * Tells importers, waits for the fences of those who still use the memory, then
 * copies. The old memory stays allocated while importers hold mappings of it.
 *
 * Context: may sleep. The caller holds the allocation's resv.
 * Return: 0 or a negative error, -ERESTARTSYS on a signal among them.
 */
int fakegpu_bo_move(struct fakegpu_bo *bo, enum fakegpu_place place)
{
	struct fakegpu_backing *old, *new;
	struct fakegpu_dmabuf *d;
	long ret;

	dma_resv_assert_held(&bo->resv);

	old = fakegpu_bo_backing(bo);
	if (IS_ERR(old))
		return PTR_ERR(old);
	new = fakegpu_backing_create(bo->dev, place, bo->size, bo->chunk,
				     bo->seed + bo->moves + 1);
	if (IS_ERR(new)) {
		ret = PTR_ERR(new);
		goto out_put_old;
	}

	list_for_each_entry(d, &bo->dmabufs, node)
		fakegpu_invalidate(d->dmabuf);
	ret = dma_resv_wait_timeout(&bo->resv, DMA_RESV_USAGE_BOOKKEEP, true,
				    MAX_SCHEDULE_TIMEOUT);
	if (ret >= 0)
		ret = fakegpu_backing_copy(new, old);
	if (ret)
		goto out_put_new;

	spin_lock(&bo->lock);
	swap(bo->backing, new);
	spin_unlock(&bo->lock);
	bo->moves++;

out_put_new:
	fakegpu_backing_put(new);
out_put_old:
	fakegpu_backing_put(old);
	return ret;
}
