// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping for importers: from memory to the list of DMA addresses that an
 * importer gets. Device memory has no struct pages in these lists, as with all
 * GPU drivers; only system RAM and an NVMe drive's pool have.
 */
#include <linux/pci-p2pdma.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fakegpu_priv.h"

/**
 * struct fakegpu_map - a mapping made by us, not by the phys_vec helper
 * @sgt: what the importer gets
 * @backing: the memory; referenced until unmap, even if the allocation moves
 */
struct fakegpu_map {
	struct sg_table sgt;
	struct fakegpu_backing *backing;
};

/**
 * struct seg_walk - cuts device memory into segments
 * @b: the memory
 * @max: bytes of a segment at most
 * @split: cut at odd page counts: 1, 3, 5, 7, 1, ...
 * @pos: first byte of the next segment
 * @nr: segments so far
 */
struct seg_walk {
	struct fakegpu_backing *b;
	size_t max;
	bool split;
	size_t pos;
	unsigned int nr;
};

static bool seg_next(struct seg_walk *w, struct phys_vec *seg)
{
	struct fakegpu_backing *b = w->b;
	size_t in_chunk, len;

	if (w->pos == b->size)
		return false;

	in_chunk = w->pos % b->chunk;
	len = min3(b->size - w->pos, b->chunk - in_chunk, w->max);
	if (w->split)
		len = min(len, (2 * (w->nr % 4) + 1) * PAGE_SIZE);
	seg->paddr = b->dev->phys + b->offsets[w->pos / b->chunk] + in_chunk;
	seg->len = len;
	w->pos += len;
	w->nr++;
	return true;
}

static void seg_walk_init(struct seg_walk *w, struct fakegpu_bo *bo,
			  struct fakegpu_backing *b, size_t max)
{
	*w = (struct seg_walk){
		.b = b,
		.max = max_t(size_t, ALIGN_DOWN(max, PAGE_SIZE), PAGE_SIZE),
		.split = bo->flags & FAKEGPU_SPLIT_SG,
	};
}

static unsigned int seg_count(struct fakegpu_bo *bo, struct fakegpu_backing *b,
			      size_t max)
{
	struct phys_vec seg;
	struct seg_walk w;

	seg_walk_init(&w, bo, b, max);
	while (seg_next(&w, &seg))
		;
	return w.nr;
}

/**
 * fakegpu_map_reachable - may an importer's device reach our memory?
 * @dev: whose memory
 * @importer: the device that wants to do DMA
 *
 * Without CONFIG_PCI_P2PDMA the kernel can't tell. NVIDIA's driver has a check
 * of its own then; ours takes any device of the same PCI domain.
 *
 * Return: true if it may.
 */
bool fakegpu_map_reachable(struct fakegpu_dev *dev, struct device *importer)
{
	if (!dev_is_pci(importer))
		return false;
	if (IS_ENABLED(CONFIG_PCI_P2PDMA))
		return pci_p2pdma_distance(dev->pdev, importer, false) >= 0;
	return pci_domain_nr(to_pci_dev(importer)->bus) ==
	       pci_domain_nr(dev->pdev->bus);
}

static void unmap_segments(struct fakegpu_bo *bo, struct device *importer,
			   struct sg_table *sgt, unsigned int nr,
			   enum dma_data_direction dir)
{
	struct scatterlist *sg;
	unsigned int i;

	if (bo->behaviour == FAKEGPU_LIAR)
		return;
	for_each_sg(sgt->sgl, sg, nr, i)
		fakegpu_dma_unmap(importer, sg_dma_address(sg), sg_dma_len(sg),
				  dir);
}

/* Device memory: DMA addresses without pages, each segment mapped by itself. */
static int map_segments(struct fakegpu_bo *bo, struct fakegpu_backing *b,
			struct device *importer, struct sg_table *sgt,
			enum dma_data_direction dir)
{
	size_t max = dma_get_max_seg_size(importer);
	struct scatterlist *sg;
	struct phys_vec seg;
	struct seg_walk w;
	dma_addr_t addr;
	int ret;

	ret = sg_alloc_table(sgt, seg_count(bo, b, max), GFP_KERNEL);
	if (ret)
		return ret;

	seg_walk_init(&w, bo, b, max);
	for (sg = sgt->sgl; seg_next(&w, &seg); sg = sg_next(sg)) {
		if (bo->behaviour == FAKEGPU_LIAR) {
			addr = seg.paddr - b->dev->phys + b->dev->bus;
		} else {
			addr = fakegpu_dma_map(importer, seg.paddr, seg.len,
					       dir);
			if (dma_mapping_error(importer, addr))
				goto err_unmap;
		}
		sg_set_page(sg, NULL, seg.len, 0);
		sg_dma_address(sg) = addr;
		sg_dma_len(sg) = seg.len;
	}
	return 0;

err_unmap:
	unmap_segments(bo, importer, sgt, w.nr - 1, dir);
	sg_free_table(sgt);
	return -EIO;
}

/* System RAM and the NVMe driver's pool: struct pages, by the DMA API. */
static int map_pages(struct fakegpu_backing *b, struct device *importer,
		     struct sg_table *sgt, enum dma_data_direction dir)
{
	unsigned int max = dma_get_max_seg_size(importer);
	size_t n = b->size >> PAGE_SHIFT, i;
	struct page **pages;
	void *p;
	int ret;

	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		p = b->vaddr + (i << PAGE_SHIFT);
		pages[i] = b->place == FAKEGPU_IN_RAM ? vmalloc_to_page(p) :
							virt_to_page(p);
	}
	ret = sg_alloc_table_from_pages_segment(sgt, pages, n, 0, b->size,
						ALIGN_DOWN(max, PAGE_SIZE),
						GFP_KERNEL);
	kvfree(pages);
	if (ret)
		return ret;
	ret = dma_map_sgtable(importer, sgt, dir, 0);
	if (ret)
		sg_free_table(sgt);
	return ret;
}

/* As vfio-pci does: by the kernel's helper, which knows switches. */
static struct sg_table *map_phys_vec(struct fakegpu_bo *bo,
				     struct fakegpu_backing *b,
				     struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct phys_vec *vec;
	struct sg_table *sgt;
	struct seg_walk w;
	unsigned int nr;

	nr = seg_count(bo, b, SIZE_MAX);
	vec = kvcalloc(nr, sizeof(*vec), GFP_KERNEL);
	if (!vec)
		return ERR_PTR(-ENOMEM);
	seg_walk_init(&w, bo, b, SIZE_MAX);
	while (seg_next(&w, &vec[w.nr]))
		;
	sgt = dma_buf_phys_vec_to_sgt(attach, b->dev->provider, vec, nr,
				      b->size, dir);
	kvfree(vec);
	return sgt;
}

/*
 * The helper of 7.3 links every range at offset 0 of the IOVA that it reserved,
 * so that behind an IOMMU it fails for more than one range.
 */
static bool by_phys_vec(struct fakegpu_bo *bo, struct device *importer)
{
	if (!FAKEGPU_HAVE_PHYS_VEC || bo->behaviour != FAKEGPU_REVOCABLE)
		return false;
	return !(bo->flags & (FAKEGPU_SCATTERED | FAKEGPU_SPLIT_SG)) ||
	       !device_iommu_mapped(importer);
}

/**
 * fakegpu_map_create - map memory for an importer's device
 * @bo: the allocation
 * @b: where it lies; the reference is taken over, on failure too
 * @attach: the importer
 * @dir: of the DMA
 *
 * Context: may sleep. The allocation's resv is held where the kernel's dma-buf
 *	code says so.
 * Return: the list for the importer, or an error pointer.
 */
struct sg_table *fakegpu_map_create(struct fakegpu_bo *bo,
				    struct fakegpu_backing *b,
				    struct dma_buf_attachment *attach,
				    enum dma_data_direction dir)
{
	struct fakegpu_map *map;
	struct sg_table *sgt;
	int ret = -ENOMEM;

	if (by_phys_vec(bo, attach->dev)) {
		sgt = map_phys_vec(bo, b, attach, dir);
		fakegpu_backing_put(b);
		return sgt;
	}

	map = kzalloc_obj(*map);
	if (!map)
		goto err_put;
	map->backing = b;
	if (b->place == FAKEGPU_IN_BAR)
		ret = map_segments(bo, b, attach->dev, &map->sgt, dir);
	else
		ret = map_pages(b, attach->dev, &map->sgt, dir);
	if (ret)
		goto err_free;
	return &map->sgt;

err_free:
	kfree(map);
err_put:
	fakegpu_backing_put(b);
	return ERR_PTR(ret);
}

/**
 * fakegpu_map_destroy - undo fakegpu_map_create()
 * @bo: the allocation
 * @attach: the importer
 * @sgt: what the importer got
 * @dir: as when mapping
 *
 * Works after the device is gone, too.
 *
 * Context: as fakegpu_map_create().
 */
void fakegpu_map_destroy(struct fakegpu_bo *bo,
			 struct dma_buf_attachment *attach,
			 struct sg_table *sgt, enum dma_data_direction dir)
{
	struct fakegpu_map *map;

	if (by_phys_vec(bo, attach->dev)) {
		/*
		 * The helper of 7.3 hides its entries from users of pages, and
		 * then from its own freeing, which leaks them all.
		 */
		sgt->orig_nents = sgt->nents;
		dma_buf_free_sgt(attach, sgt, dir);
		return;
	}

	map = container_of(sgt, struct fakegpu_map, sgt);
	if (map->backing->place == FAKEGPU_IN_BAR)
		unmap_segments(bo, attach->dev, sgt, sgt->nents, dir);
	else
		dma_unmap_sgtable(attach->dev, sgt, dir, 0);
	sg_free_table(sgt);
	fakegpu_backing_put(map->backing);
	kfree(map);
}
