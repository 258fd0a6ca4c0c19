/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the test modules are built for. The
 * modules are written for the newest; this file alone names versions.
 */
#ifndef _PDIO_FAKEGPU_COMPAT_H
#define _PDIO_FAKEGPU_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define FAKEGPU_IMPORT_DMA_BUF()	MODULE_IMPORT_NS("DMA_BUF")
#else
#define FAKEGPU_IMPORT_DMA_BUF()	MODULE_IMPORT_NS(DMA_BUF)
#endif

/* Importers are told to drop their mappings by an op that changed its name. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define FAKEGPU_INVALIDATE_OP		invalidate_mappings
#define FAKEGPU_INVALIDATE_OPTIONAL	1
#define fakegpu_invalidate(dmabuf)	dma_buf_invalidate_mappings(dmabuf)
#define fakegpu_revocable(attach)	dma_buf_attach_revocable(attach)
#else
#define FAKEGPU_INVALIDATE_OP		move_notify
#define FAKEGPU_INVALIDATE_OPTIONAL	0
#define fakegpu_invalidate(dmabuf)	dma_buf_move_notify(dmabuf)

static inline bool fakegpu_revocable(struct dma_buf_attachment *attach)
{
	return attach->importer_ops && attach->importer_ops->move_notify;
}
#endif

/*
 * Before 6.16 an exporter without a pin op is mapped once, at attach, and
 * unmapped at detach: nothing that an importer could do when it is told to let
 * go. There, exporters that revoke need a pin op.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define FAKEGPU_REVOKE_NEEDS_PIN	1
#else
#define FAKEGPU_REVOKE_NEEDS_PIN	0
#endif

/* Mapping of page-less memory by the helper that vfio-pci uses. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#include <linux/dma-buf-mapping.h>
#include <linux/pci-p2pdma.h>
#define FAKEGPU_HAVE_PHYS_VEC		IS_ENABLED(CONFIG_PCI_P2PDMA)
#else
#define FAKEGPU_HAVE_PHYS_VEC		0

struct p2pdma_provider;

struct phys_vec {
	phys_addr_t paddr;
	size_t len;
};

static inline struct sg_table *
dma_buf_phys_vec_to_sgt(struct dma_buf_attachment *attach,
			struct p2pdma_provider *provider, struct phys_vec *vec,
			size_t nr, size_t size, enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void dma_buf_free_sgt(struct dma_buf_attachment *attach,
				    struct sg_table *sgt,
				    enum dma_data_direction dir)
{
}

static inline int pcim_p2pdma_init(struct pci_dev *pdev)
{
	return -EOPNOTSUPP;
}

static inline struct p2pdma_provider *
pcim_p2pdma_provider(struct pci_dev *pdev, int bar)
{
	return NULL;
}
#endif

/*
 * dma_map_resource() on older kernels complains, with DMA API debugging, about
 * memory that has struct pages, which a BAR has once pdio adopted it.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define fakegpu_dma_map(dev, phys, len, dir) \
	dma_map_phys(dev, phys, len, dir, DMA_ATTR_MMIO)
#define fakegpu_dma_unmap(dev, addr, len, dir) \
	dma_unmap_phys(dev, addr, len, dir, DMA_ATTR_MMIO)
#else
#define fakegpu_dma_map(dev, phys, len, dir) \
	dma_map_resource(dev, phys, len, dir, 0)
#define fakegpu_dma_unmap(dev, addr, len, dir) \
	dma_unmap_resource(dev, addr, len, dir, 0)
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj)		kzalloc(sizeof(obj), GFP_KERNEL)
#endif

#endif /* _PDIO_FAKEGPU_COMPAT_H */
