// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exports of the fake GPU: the dma-buf operations, one set a kind of exporter.
 *
 *   static     as NVIDIA's driver: no pin op, never tells importers anything;
 *              wants importers that know peer-to-peer and are allowed to
 *   revocable  as vfio-pci: wants importers that can be told to let go
 *   movable    as amdgpu: a pin op; without a pin, memory goes where the
 *              importer that maps can reach it
 *   liar       as static, with addresses that no IOMMU translates
 *   ram        system pages, for anyone
 *   (CMB)      as static
 */
#include <linux/file.h>
#include <linux/iosys-map.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>

#include "fakegpu_priv.h"

static struct fakegpu_bo *dmabuf_bo(struct dma_buf *dmabuf)
{
	struct fakegpu_dmabuf *d = dmabuf->priv;

	return d->bo;
}

static int attach_allowed(struct fakegpu_bo *bo,
			  struct dma_buf_attachment *attach)
{
	switch (bo->behaviour) {
	case FAKEGPU_STATIC:
		/* This errno is not for user space; NVIDIA's gives it, too. */
		if (!attach->peer2peer ||
		    !fakegpu_map_reachable(bo->dev, attach->dev))
			return -ENOTSUPP;
		return 0;
	case FAKEGPU_REVOCABLE:
		if (!attach->peer2peer)
			return -EOPNOTSUPP;
		return fakegpu_revocable(attach) ? 0 : -EOPNOTSUPP;
	case FAKEGPU_MOVABLE:
		if (pci_p2pdma_distance(bo->dev->pdev, attach->dev, false) < 0)
			attach->peer2peer = false;
		return 0;
	case FAKEGPU_LIAR:
		return attach->peer2peer ? 0 : -EOPNOTSUPP;
	default:
		return 0;
	}
}

static int fakegpu_attach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attach)
{
	struct fakegpu_bo *bo = dmabuf_bo(dmabuf);
	int ret;

	if (READ_ONCE(bo->revoked))
		return -ENODEV;
	ret = attach_allowed(bo, attach);
	if (ret)
		return ret;
	/* Counts the mappings of this attachment, for reports. */
	attach->priv = NULL;
	atomic_inc(&bo->attached);
	return 0;
}

static void fakegpu_detach(struct dma_buf *dmabuf,
			   struct dma_buf_attachment *attach)
{
	atomic_dec(&dmabuf_bo(dmabuf)->attached);
}

static bool movable_in_ram(struct fakegpu_bo *bo)
{
	return bo->backing && bo->backing->place == FAKEGPU_IN_RAM;
}

/* Brings unpinned memory to where the attachment can reach it. */
static int movable_place(struct fakegpu_bo *bo, bool ram)
{
	int ret;

	if (READ_ONCE(bo->revoked))
		return -ENODEV;
	if (ram == movable_in_ram(bo))
		return 0;
	/* Whoever can reach both takes RAM when the device is full. */
	ret = fakegpu_bo_move(bo, ram ? FAKEGPU_IN_RAM : FAKEGPU_IN_BAR);
	return ret == -ENOSPC && !ram ? 0 : ret;
}

static int fakegpu_pin(struct dma_buf_attachment *attach)
{
	struct fakegpu_bo *bo = dmabuf_bo(attach->dmabuf);
	struct dma_buf_attachment *other;
	bool ram = !attach->peer2peer;
	int ret;

	dma_resv_assert_held(&bo->resv);

	if (bo->behaviour != FAKEGPU_MOVABLE) {
		bo->pinned++;
		return 0;
	}

	/* The dma-buf core takes a refusal to a static importer as a bug. */
	if (bo->flags & FAKEGPU_REFUSE_PIN && attach->importer_ops)
		return -EBUSY;

	/* One importer that can't do peer-to-peer brings all to RAM. */
	list_for_each_entry(other, &attach->dmabuf->attachments, node)
		ram |= !other->peer2peer;
	if (bo->pinned) {
		if (ram != movable_in_ram(bo))
			return -EINVAL;
	} else {
		ret = movable_place(bo, ram);
		if (ret)
			return ret;
	}
	bo->pinned++;
	return 0;
}

static void fakegpu_unpin(struct dma_buf_attachment *attach)
{
	struct fakegpu_bo *bo = dmabuf_bo(attach->dmabuf);

	dma_resv_assert_held(&bo->resv);
	bo->pinned--;
}

/* Pinned memory stays, even out of an importer's reach; other memory moves. */
static int movable_before_map(struct fakegpu_bo *bo,
			      struct dma_buf_attachment *attach)
{
	if (!bo->pinned)
		return movable_place(bo, !attach->peer2peer);
	if (!attach->peer2peer && !movable_in_ram(bo))
		return -EBUSY;
	return 0;
}

static struct sg_table *fakegpu_map(struct dma_buf_attachment *attach,
				    enum dma_data_direction dir)
{
	struct fakegpu_bo *bo = dmabuf_bo(attach->dmabuf);
	struct fakegpu_backing *b;
	struct sg_table *sgt;
	int ret;

	if (READ_ONCE(bo->revoked))
		return ERR_PTR(-ENODEV);
	if (bo->behaviour == FAKEGPU_MOVABLE) {
		ret = movable_before_map(bo, attach);
		if (ret)
			return ERR_PTR(ret);
	}

	b = fakegpu_bo_map_begin(bo);
	if (IS_ERR(b))
		return ERR_CAST(b);
	sgt = fakegpu_map_create(bo, b, attach, dir);
	if (IS_ERR(sgt))
		fakegpu_bo_map_end(bo);
	else
		attach->priv++;
	return sgt;
}

static void fakegpu_unmap(struct dma_buf_attachment *attach,
			  struct sg_table *sgt, enum dma_data_direction dir)
{
	struct fakegpu_bo *bo = dmabuf_bo(attach->dmabuf);

	fakegpu_map_destroy(bo, attach, sgt, dir);
	attach->priv--;
	fakegpu_bo_map_end(bo);
}

static void fakegpu_release(struct dma_buf *dmabuf)
{
	struct fakegpu_dmabuf *d = dmabuf->priv;

	dma_resv_lock(&d->bo->resv, NULL);
	list_del(&d->node);
	dma_resv_unlock(&d->bo->resv);
	fakegpu_bo_put(d->bo);
	kfree(d);
}

/* System pages are mapped for the CPU all their life; this keeps them. */
static int ram_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct fakegpu_dmabuf *d = dmabuf->priv;
	struct fakegpu_backing *b = fakegpu_bo_map_begin(d->bo);

	if (IS_ERR(b))
		return PTR_ERR(b);
	d->vmapped = b;
	iosys_map_set_vaddr(map, b->vaddr);
	return 0;
}

static void ram_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct fakegpu_dmabuf *d = dmabuf->priv;

	iosys_map_clear(map);
	fakegpu_backing_put(d->vmapped);
	d->vmapped = NULL;
	fakegpu_bo_map_end(d->bo);
}

static const struct dma_buf_ops static_ops = {
	.attach = fakegpu_attach,
	.detach = fakegpu_detach,
	.map_dma_buf = fakegpu_map,
	.unmap_dma_buf = fakegpu_unmap,
	.release = fakegpu_release,
};

static const struct dma_buf_ops movable_ops = {
	.attach = fakegpu_attach,
	.detach = fakegpu_detach,
	.pin = fakegpu_pin,
	.unpin = fakegpu_unpin,
	.map_dma_buf = fakegpu_map,
	.unmap_dma_buf = fakegpu_unmap,
	.release = fakegpu_release,
};

static const struct dma_buf_ops ram_ops = {
	.attach = fakegpu_attach,
	.detach = fakegpu_detach,
	.map_dma_buf = fakegpu_map,
	.unmap_dma_buf = fakegpu_unmap,
	.release = fakegpu_release,
	.vmap = ram_vmap,
	.vunmap = ram_vunmap,
};

static const struct dma_buf_ops *ops_of(struct fakegpu_bo *bo)
{
	switch (bo->behaviour) {
	case FAKEGPU_REVOCABLE:
		return FAKEGPU_REVOKE_NEEDS_PIN ? &movable_ops : &static_ops;
	case FAKEGPU_MOVABLE:
		return &movable_ops;
	case FAKEGPU_RAM:
		return &ram_ops;
	default:
		return &static_ops;
	}
}

/**
 * fakegpu_dmabuf_export - make a dma-buf of an allocation
 * @bo: the allocation; the dma-buf keeps it
 * @open_flags: O_RDWR or O_RDONLY, O_CLOEXEC
 *
 * An allocation can be exported any number of times.
 *
 * Context: may sleep. Takes the allocation's resv.
 * Return: the dma-buf, or an error pointer: ENODEV if it was revoked, ENOMEM.
 */
struct dma_buf *fakegpu_dmabuf_export(struct fakegpu_bo *bo, u32 open_flags)
{
	DEFINE_DMA_BUF_EXPORT_INFO(exp);
	struct fakegpu_dmabuf *d;
	struct dma_buf *dmabuf;
	bool revoked;

	d = kzalloc_obj(*d);
	if (!d)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&d->node);
	fakegpu_bo_get(bo);
	d->bo = bo;

	exp.exp_name = "fakegpu";
	exp.ops = ops_of(bo);
	exp.size = bo->size;
	exp.flags = open_flags;
	exp.resv = &bo->resv;
	exp.priv = d;
	dmabuf = dma_buf_export(&exp);
	if (IS_ERR(dmabuf)) {
		fakegpu_bo_put(bo);
		kfree(d);
		return dmabuf;
	}

	/* From here on, putting the dma-buf frees the rest. */
	d->dmabuf = dmabuf;
	dma_resv_lock(&bo->resv, NULL);
	revoked = bo->revoked;
	if (!revoked)
		list_add_tail(&d->node, &bo->dmabufs);
	dma_resv_unlock(&bo->resv);
	if (revoked) {
		dma_buf_put(dmabuf);
		return ERR_PTR(-ENODEV);
	}
	return dmabuf;
}
