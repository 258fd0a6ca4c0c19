// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of an attachment: its memory as the mover needs it.
 *
 * Physical runs become extents of the kernel's mapping of the windows' pages,
 * cut where one window ends and the next begins, since pages of two windows
 * must not meet in one request.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pci-p2pdma.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "compat.h"
#include "pdio.h"

static int layout_grow(void **array, u32 used, u32 *room, size_t element)
{
	u32 more = *room ? *room * 2 : 4;
	void *grown;

	if (used < *room)
		return 0;
	grown = kvmalloc_array(more, element, GFP_KERNEL_ACCOUNT);
	if (!grown)
		return -ENOMEM;
	if (*array)
		memcpy(grown, *array, *room * element);
	kvfree(*array);
	*array = grown;
	*room = more;
	return 0;
}

/**
 * struct layout - a layout being built
 * @attach: whose
 * @bar: BAR that all of it lies in
 * @extent_room: extents that fit
 * @window_room: windows that fit
 * @last: window of the last extent
 */
struct layout {
	struct pdio_attach *attach;
	int bar;
	u32 extent_room;
	u32 window_room;
	u32 last;
};

static bool window_has(const struct pdio_window *window, phys_addr_t phys)
{
	return phys >= window->start && phys < window->end;
}

static int layout_window(struct layout *layout, phys_addr_t phys, u32 *reason)
{
	struct pdio_attach *attach = layout->attach;
	struct pdio_window *window;
	u32 i;
	int ret;

	if (attach->nr_windows && window_has(attach->windows[layout->last], phys))
		return 0;
	for (i = 0; i < attach->nr_windows; i++) {
		if (window_has(attach->windows[i], phys)) {
			layout->last = i;
			return 0;
		}
	}
	ret = layout_grow((void **)&attach->windows, attach->nr_windows,
			  &layout->window_room, sizeof(*attach->windows));
	if (ret)
		return ret;
	window = pdio_window_get(attach->provider, layout->bar, phys,
				 attach->buffer->bytes, reason);
	if (IS_ERR(window))
		return PTR_ERR(window);
	layout->last = attach->nr_windows;
	attach->windows[attach->nr_windows++] = window;
	return 0;
}

static int layout_extent(struct layout *layout, u64 offset, phys_addr_t phys)
{
	struct pdio_attach *attach = layout->attach;
	struct pdio_window *window = attach->windows[layout->last];
	void *va = window->va + (phys - window->start);
	const struct pdio_extent *prev;
	int ret;

	if (attach->nr_extents) {
		prev = &attach->extents[attach->nr_extents - 1];
		if (prev->window == layout->last &&
		    prev->va + (offset - prev->offset) == va)
			return 0;
	}
	/* One more than used: the last extent ends where the next would begin. */
	ret = layout_grow((void **)&attach->extents, attach->nr_extents + 1,
			  &layout->extent_room, sizeof(*attach->extents));
	if (ret)
		return ret;
	attach->extents[attach->nr_extents].offset = offset;
	attach->extents[attach->nr_extents].va = va;
	attach->extents[attach->nr_extents].window = layout->last;
	attach->nr_extents++;
	return 0;
}

/**
 * pdio_layout_build - find pages for an attachment's memory
 * @attach: the attachment, its provider known
 * @runs: where its memory lies
 * @reason: on failure, why, where there is a reason
 *
 * What was built before a failure stays, for pdio_layout_free().
 *
 * Context: may sleep; the caller holds the provider's device lock with a driver
 * bound.
 * Return: 0, -EXDEV with @reason set, or -ENOMEM.
 */
int pdio_layout_build(struct pdio_attach *attach, const struct pdio_runs *runs,
		      u32 *reason)
{
	struct layout layout = { .attach = attach, .bar = runs->bar };
	u64 offset = 0, left, part;
	phys_addr_t phys;
	int ret;
	u32 i;

	for (i = 0; i < runs->nr; i++) {
		phys = runs->run[i].phys;
		for (left = runs->run[i].bytes; left; left -= part) {
			ret = layout_window(&layout, phys, reason);
			if (!ret)
				ret = layout_extent(&layout, offset, phys);
			if (ret)
				return ret;
			part = min_t(u64, left,
				     attach->windows[layout.last]->end - phys);
			phys += part;
			offset += part;
		}
		cond_resched();
	}
	attach->extents[attach->nr_extents].offset = offset;
	return 0;
}

/**
 * pdio_layout_free - undo pdio_layout_build(), whole or half-done
 * @attach: the attachment, not used by any request
 *
 * Context: may sleep.
 */
void pdio_layout_free(struct pdio_attach *attach)
{
	u32 i;

	for (i = 0; i < attach->nr_windows; i++)
		pdio_window_put(attach->provider, attach->windows[i]);
	kvfree(attach->windows);
	kvfree(attach->extents);
	attach->windows = NULL;
	attach->extents = NULL;
	attach->nr_windows = 0;
	attach->nr_extents = 0;
}

/**
 * pdio_layout_map_type - how the client reaches the provider
 * @attach: the attachment, its layout built
 * @map_type: PDIO_MAP_*
 *
 * The kernel tells its mapping type to nobody, but a mapped page shows it. It
 * remembers the type from pci_p2pdma_distance(), which therefore comes first.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int pdio_layout_map_type(struct pdio_attach *attach, u32 *map_type)
{
	struct device *dev = &attach->client->pdev->dev;
	struct page *page = virt_to_page(attach->extents[0].va);
	struct sg_table sgt;
	int ret;

	if (pci_p2pdma_distance(attach->provider->pdev, dev, false) < 0) {
		*map_type = PDIO_MAP_BLOCKED;
		return 0;
	}
	ret = sg_alloc_table(&sgt, 1, GFP_KERNEL);
	if (ret)
		return ret;
	sg_set_page(sgt.sgl, page, PAGE_SIZE, 0);
	ret = dma_map_sgtable(dev, &sgt, attach->dmabuf.dir, 0);
	if (ret) {
		*map_type = PDIO_MAP_BLOCKED;
		ret = ret == -ENOMEM ? ret : 0;
		goto out;
	}
	*map_type = sg_dma_is_bus_address(sgt.sgl) ?
		PDIO_MAP_BUS_ADDR : PDIO_MAP_HOST_BRIDGE;
	dma_unmap_sgtable(dev, &sgt, attach->dmabuf.dir, 0);
out:
	sg_free_table(&sgt);
	return ret;
}
