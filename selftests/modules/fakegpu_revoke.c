// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking memory away from importers: one allocation on request, or all of them
 * when the device is reset or goes away.
 *
 * First the allocation is marked, so that no new mapping is made, and importers
 * are told, both under the dma-buf's reservation lock. Then, without it, we
 * wait for their fences and for their unmaps.
 */
#include <linux/device.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

#include "fakegpu_priv.h"

static unsigned int revoke_timeout_ms = 60000;
module_param(revoke_timeout_ms, uint, 0644);
MODULE_PARM_DESC(revoke_timeout_ms,
		 "how long a reset or unbind waits for importers");

/* Exporters of the other kinds have no way to make importers let go. */
static bool bo_invalidates(struct fakegpu_bo *bo)
{
	return bo->behaviour == FAKEGPU_REVOCABLE ||
	       bo->behaviour == FAKEGPU_MOVABLE;
}

static unsigned int bo_mapped(struct fakegpu_bo *bo)
{
	unsigned int mapped;

	spin_lock(&bo->lock);
	mapped = bo->mapped;
	spin_unlock(&bo->lock);
	return mapped;
}

/* Returns how many mappings there were. */
static unsigned int bo_stop(struct fakegpu_bo *bo, bool lost)
{
	struct fakegpu_dmabuf *d;
	unsigned int mapped;

	dma_resv_lock(&bo->resv, NULL);
	spin_lock(&bo->lock);
	bo->revoked = true;
	bo->lost |= lost;
	mapped = bo->mapped;
	spin_unlock(&bo->lock);
	if (bo_invalidates(bo))
		list_for_each_entry(d, &bo->dmabufs, node)
			fakegpu_invalidate(d->dmabuf);
	dma_resv_unlock(&bo->resv);
	return mapped;
}

/* Waits until nobody maps it any more; 0, -ETIMEDOUT or a signal's error. */
static int bo_drain(struct fakegpu_bo *bo, unsigned long timeout, bool killable)
{
	long left;

	left = dma_resv_wait_timeout(&bo->resv, DMA_RESV_USAGE_BOOKKEEP,
				     killable, timeout);
	if (left > 0) {
		if (timeout != MAX_SCHEDULE_TIMEOUT)
			timeout = left;
		if (killable)
			left = wait_event_killable_timeout(bo->wait,
							   !bo_mapped(bo),
							   timeout);
		else
			left = wait_event_timeout(bo->wait, !bo_mapped(bo),
						  timeout);
	}
	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

/**
 * fakegpu_bo_revoke - take an allocation away from its importers, for good
 * @bo: a revocable allocation
 * @r: timeout in, what happened out
 *
 * May be called again, to go on waiting after a timeout.
 *
 * Context: may sleep, as long as importers take.
 * Return: 0, -EOPNOTSUPP if it isn't revocable, -ETIMEDOUT, or a signal's
 *	error.
 */
int fakegpu_bo_revoke(struct fakegpu_bo *bo, struct fakegpu_revoke *r)
{
	unsigned long timeout = MAX_SCHEDULE_TIMEOUT;
	ktime_t start = ktime_get();
	int ret;

	if (bo->behaviour != FAKEGPU_REVOCABLE)
		return -EOPNOTSUPP;
	if (r->timeout_ms)
		timeout = max(msecs_to_jiffies(r->timeout_ms), 1UL);

	r->drain_ns = 0;
	r->attachments = bo_stop(bo, false);
	if (bo->flags & FAKEGPU_NO_WAIT)
		return 0;

	ret = bo_drain(bo, timeout, true);
	if (!ret && r->attachments)
		r->drain_ns = ktime_to_ns(ktime_sub(bo->drained, start));
	return ret;
}

static void bo_report(struct fakegpu_bo *bo)
{
	struct dma_buf_attachment *attach;
	struct fakegpu_dmabuf *d;

	dma_resv_lock(&bo->resv, NULL);
	list_for_each_entry(d, &bo->dmabufs, node)
		list_for_each_entry(attach, &d->dmabuf->attachments, node)
			if (attach->priv)
				pci_err(bo->dev->pdev,
					"%s still maps %zu bytes of revoked memory after %u ms\n",
					dev_name(attach->dev), bo->size,
					revoke_timeout_ms);
	dma_resv_unlock(&bo->resv);
}

static void bo_drop_backing(struct fakegpu_bo *bo)
{
	struct fakegpu_backing *b;

	dma_resv_lock(&bo->resv, NULL);
	spin_lock(&bo->lock);
	b = bo->backing;
	bo->backing = NULL;
	spin_unlock(&bo->lock);
	dma_resv_unlock(&bo->resv);
	if (b)
		fakegpu_backing_put(b);
}

/* All allocations that aren't being freed just now, with a reference each. */
static void dev_collect(struct fakegpu_dev *dev, struct list_head *todo)
{
	struct fakegpu_bo *bo;

	spin_lock(&dev->bo_lock);
	list_for_each_entry(bo, &dev->bos, dev_node)
		if (kref_get_unless_zero(&bo->kref))
			list_add_tail(&bo->todo, todo);
	spin_unlock(&dev->bo_lock);
}

/*
 * A reset doesn't wait for importers that can't be told. An unbind does: they
 * see it coming by themselves, since the device is unbound before their eyes.
 */
static bool bo_awaited(struct fakegpu_bo *bo, bool final)
{
	if (bo->flags & FAKEGPU_NO_WAIT || bo->behaviour == FAKEGPU_RAM)
		return false;
	return final || bo_invalidates(bo);
}

/**
 * fakegpu_dev_revoke - take everything away from importers, for good
 * @dev: the device
 * @final: the device is going away: memory is given back, too
 *
 * Waits for importers as long as the module parameter revoke_timeout_ms says in
 * all, then names those who still map, and goes on.
 *
 * Context: may sleep. Takes reset_lock for writing.
 * Return: 0, or -ETIMEDOUT if an importer still maps.
 */
int fakegpu_dev_revoke(struct fakegpu_dev *dev, bool final)
{
	unsigned long end;
	struct fakegpu_bo *bo, *next;
	LIST_HEAD(todo);
	int ret = 0;

	down_write(&dev->reset_lock);
	dev_collect(dev, &todo);
	list_for_each_entry(bo, &todo, todo)
		bo_stop(bo, true);

	end = jiffies + msecs_to_jiffies(revoke_timeout_ms);
	list_for_each_entry_safe(bo, next, &todo, todo) {
		long left = max_t(long, end - jiffies, 1);

		if (bo_awaited(bo, final) && bo_drain(bo, left, false)) {
			bo_report(bo);
			ret = -ETIMEDOUT;
		}
		if (final)
			bo_drop_backing(bo);
		list_del_init(&bo->todo);
		fakegpu_bo_put(bo);
	}
	if (!final && fakegpu_bar_clear(dev))
		ret = -ENODEV;
	up_write(&dev->reset_lock);
	return ret;
}
