// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exporter's side of a buffer: attach, pin, map, and find out where the
 * memory lies.
 *
 * The attachment is always dynamic and allows peer-to-peer. With a static one
 * GPU drivers move the memory to system RAM without a word. The memory is
 * pinned, so the exporter may take it away only for good.
 *
 * dma_resv is held for the calls that need it and never while waiting for
 * storage or for a user.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "pdio.h"

static void dmabuf_invalidate(struct dma_buf_attachment *attach)
{
	struct pdio_dmabuf *dmabuf = attach->importer_priv;

	dma_resv_assert_held(dmabuf->dmabuf->resv);
	/*
	 * Without a mapping there is nothing to let go: exporters also tell of
	 * the move that our own pin makes necessary. If the memory is gone for
	 * good, mapping it will say so.
	 */
	if (!dmabuf->sgt || dmabuf->revoked)
		return;
	dmabuf->revoked = true;
	dmabuf->on_revoke(dmabuf);
}

static const struct dma_buf_attach_ops dmabuf_attach_ops = {
	.allow_peer2peer = true,
	.PDIO_INVALIDATE_OP = dmabuf_invalidate,
};

/* Exporters differ in how they say that the device can't reach the memory. */
static int map_error(int error, u32 *reason)
{
	switch (error) {
	case -ENOMEM:
	case -ERESTARTSYS:
		return error;
	case -EINTR:
		return -ERESTARTSYS;
	case -ENODEV:
		*reason = PDIO_REASON_REVOKED;
		return -ENODEV;
	case -EREMOTEIO:
		*reason = PDIO_REASON_HOST_BRIDGE;
		return -EXDEV;
	default:
		*reason = PDIO_REASON_EXPORTER_REFUSED;
		return -EXDEV;
	}
}

static int dmabuf_pin_and_map_locked(struct pdio_dmabuf *dmabuf)
{
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(dmabuf->dmabuf->resv);
	ret = dma_buf_pin(dmabuf->attach);
	if (ret)
		return ret;
	dmabuf->pinned = true;
	sgt = dma_buf_map_attachment(dmabuf->attach, dmabuf->dir);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	dmabuf->sgt = sgt;
	return 0;
}

/**
 * pdio_dmabuf_map - attach a dma-buf to a device, pin it and map it
 * @dmabuf: @dmabuf->dmabuf, @dmabuf->dir and @dmabuf->on_revoke are set, the
 *	rest is zero
 * @dev: the device
 * @reason: on failure, why, where there is a reason
 *
 * What succeeded before a failure stays, for pdio_dmabuf_unmap().
 * @dmabuf->on_revoke may be called from the moment of mapping on.
 *
 * Context: may sleep; takes the dma-buf's reservation.
 * Return: 0, -ENODEV if the memory is gone, -EXDEV if the exporter can't or
 * doesn't want to, -ENOMEM, or -ERESTARTSYS.
 */
int pdio_dmabuf_map(struct pdio_dmabuf *dmabuf, struct device *dev, u32 *reason)
{
	struct dma_resv *resv = dmabuf->dmabuf->resv;
	struct dma_buf_attachment *attach;
	long left;
	int ret;

	attach = dma_buf_dynamic_attach(dmabuf->dmabuf, dev,
					&dmabuf_attach_ops, dmabuf);
	if (IS_ERR(attach))
		return map_error(PTR_ERR(attach), reason);
	dmabuf->attach = attach;

	ret = dma_resv_lock_interruptible(resv, NULL);
	if (ret)
		return map_error(ret, reason);
	ret = dmabuf_pin_and_map_locked(dmabuf);
	dma_resv_unlock(resv);
	if (ret)
		return map_error(ret, reason);

	/* The exporter may still be moving the memory to where it was mapped. */
	left = dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, true,
				     MAX_SCHEDULE_TIMEOUT);
	return left < 0 ? map_error(left, reason) : 0;
}

/**
 * pdio_dmabuf_unmap - undo pdio_dmabuf_map(), whole or half-done
 * @dmabuf: as it was passed there
 *
 * The unmapping is what tells the exporter that its memory isn't used any more.
 *
 * Context: may sleep; takes the dma-buf's reservation.
 */
void pdio_dmabuf_unmap(struct pdio_dmabuf *dmabuf)
{
	if (!dmabuf->attach)
		return;
	dma_resv_lock(dmabuf->dmabuf->resv, NULL);
	if (dmabuf->sgt)
		dma_buf_unmap_attachment(dmabuf->attach, dmabuf->sgt,
					 dmabuf->dir);
	if (dmabuf->pinned)
		dma_buf_unpin(dmabuf->attach);
	/* Under the lock: from here on an invalidation has nothing to say. */
	dmabuf->sgt = NULL;
	dmabuf->pinned = false;
	dma_resv_unlock(dmabuf->dmabuf->resv);
	dma_buf_detach(dmabuf->dmabuf, dmabuf->attach);
	dmabuf->attach = NULL;
}

static int runs_grow(struct pdio_runs *runs)
{
	u32 room = runs->room ? runs->room * 2 : 16;
	struct pdio_run *run;

	run = kvmalloc_array(room, sizeof(*run), GFP_KERNEL_ACCOUNT);
	if (!run)
		return -ENOMEM;
	if (runs->nr)
		memcpy(run, runs->run, runs->nr * sizeof(*run));
	kvfree(runs->run);
	runs->run = run;
	runs->room = room;
	return 0;
}

static int runs_add(struct pdio_runs *runs, phys_addr_t phys, u64 bytes)
{
	struct pdio_run *last = runs->run + runs->nr - 1;
	int ret;

	if (runs->nr && last->phys + last->bytes == phys) {
		last->bytes += bytes;
		return 0;
	}
	if (runs->nr == runs->room) {
		ret = runs_grow(runs);
		if (ret)
			return ret;
	}
	runs->run[runs->nr].phys = phys;
	runs->run[runs->nr].bytes = bytes;
	runs->nr++;
	return 0;
}

/**
 * pdio_runs_free - free what pdio_dmabuf_resolve() found
 * @runs: the runs, empty afterwards
 *
 * Context: may sleep.
 */
void pdio_runs_free(struct pdio_runs *runs)
{
	kvfree(runs->run);
	pci_dev_put(runs->pdev);
	memset(runs, 0, sizeof(*runs));
}

/* All of a buffer has to lie in one BAR of one function. */
static int runs_check_bar(struct pdio_runs *runs, phys_addr_t phys, u64 *left,
			  u32 *reason)
{
	struct pci_dev *pdev;
	int bar;

	pdev = runs->pdev;
	if (pdev && phys >= pci_resource_start(pdev, runs->bar) &&
	    phys <= pci_resource_end(pdev, runs->bar)) {
		*left = pci_resource_end(pdev, runs->bar) - phys + 1;
		return 0;
	}
	pdev = pdio_provider_find_bar(phys, &bar);
	if (!pdev || runs->pdev) {
		*reason = !pdev && page_is_ram(PHYS_PFN(phys)) ?
			PDIO_REASON_EXPORTER_RAM : PDIO_REASON_NO_PROVIDER;
		pci_dev_put(pdev);
		return -EXDEV;
	}
	runs->pdev = pdev;
	runs->bar = bar;
	*left = pci_resource_end(pdev, bar) - phys + 1;
	return 0;
}

/**
 * struct resolver - how the addresses of one segment are to be read
 * @domain: translates them, or NULL if they are what they say
 * @bias: to be added to make a physical address of them, without @domain
 */
struct resolver {
	struct iommu_domain *domain;
	phys_addr_t bias;
};

/*
 * Bus addresses of BARs come first: the kernel keeps them out of what it hands
 * out as IOVAs, so an address that is one isn't the other.
 */
static void resolver_init(struct resolver *resolver, struct pci_dev *client,
			  dma_addr_t addr)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(&client->dev);
	struct pci_dev *pdev;
	phys_addr_t phys;

	memset(resolver, 0, sizeof(*resolver));
	pdev = pdio_provider_find_bus(client->bus, addr, &phys);
	if (pdev)
		resolver->bias = phys - addr;
	else if (domain && domain->type != IOMMU_DOMAIN_IDENTITY)
		resolver->domain = domain;
	pci_dev_put(pdev);
}

/* One segment may be contiguous for the device and scattered in the BAR. */
static int resolve_segment(const struct resolver *resolver, dma_addr_t addr,
			   u64 bytes, struct pdio_runs *runs, u32 *reason)
{
	phys_addr_t phys;
	u64 part, left;
	int ret;

	for (; bytes; addr += part, bytes -= part) {
		part = bytes;
		phys = addr + resolver->bias;
		if (resolver->domain) {
			phys = iommu_iova_to_phys(resolver->domain, addr);
			part = min_t(u64, bytes,
				     PAGE_SIZE - offset_in_page(addr));
		}
		ret = runs_check_bar(runs, phys, &left, reason);
		if (ret)
			return ret;
		part = min(part, left);
		ret = runs_add(runs, phys, part);
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * pdio_dmabuf_resolve - where the memory of a mapped dma-buf lies
 * @dmabuf: mapped by pdio_dmabuf_map()
 * @client: the function it was mapped for
 * @offset: first byte of the dma-buf that is asked for
 * @bytes: how many; the range lies inside the dma-buf
 * @runs: zeroed; where the answer goes; to be freed, also after a failure
 * @reason: on failure, why, where there is a reason
 *
 * Exporters give DMA addresses and no pages. The way from those to the BAR is
 * the host bridge's offset, or the IOMMU's own table.
 *
 * Context: may sleep; the mapping stays.
 * Return: 0, -EXDEV with @reason set, -ENOMEM, or -EINTR.
 */
int pdio_dmabuf_resolve(struct pdio_dmabuf *dmabuf, struct pci_dev *client,
			u64 offset, u64 bytes, struct pdio_runs *runs,
			u32 *reason)
{
	u64 at = 0, skip, part, end = offset + bytes;
	struct resolver resolver;
	struct scatterlist *sg;
	int i, ret;

	for_each_sgtable_dma_sg(dmabuf->sgt, sg, i) {
		u64 len = sg_dma_len(sg);

		if (at >= end)
			break;
		skip = offset > at ? offset - at : 0;
		if (skip < len) {
			part = min(len, end - at) - skip;
			resolver_init(&resolver, client,
				      sg_dma_address(sg) + skip);
			ret = resolve_segment(&resolver,
					      sg_dma_address(sg) + skip, part,
					      runs, reason);
			if (ret)
				return ret;
		}
		at += len;
	}
	if (at < end) {
		/* Mapped less than the dma-buf's size: not to be trusted. */
		*reason = PDIO_REASON_EXPORTER_REFUSED;
		return -EXDEV;
	}
	return 0;
}
