/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the fake GPU: its objects, who owns them, and which lock guards
 * what.
 *
 *   struct fakegpu_dev      a function (or the CMB of an NVMe drive); lives
 *                           until the last file and allocation are gone, long
 *                           after the driver was unbound
 *   struct fakegpu_file     an open node, with the handles of its allocations
 *   struct fakegpu_bo       an allocation; kept by its handle and its dma-bufs
 *   struct fakegpu_backing  where an allocation lies now; kept by it and by
 *                           every mapping that an importer got of it
 *   struct fakegpu_dmabuf   one export of an allocation
 *
 * Lock order: reset_lock, resv of an allocation, io_lock or mem_lock, the spin
 * locks. User memory is never touched with any of them held, so that a page
 * fault can't hold up an unbind.
 */
#ifndef _PDIO_FAKEGPU_PRIV_H
#define _PDIO_FAKEGPU_PRIV_H

#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "fakegpu.h"
#include "fakegpu_compat.h"

/**
 * struct fakegpu_dev - a function whose memory is handed out
 * @kref: held by the driver while bound, by files and allocations
 * @pdev: the function; referenced
 * @misc: the node (not used by the CMB's)
 * @name: of the node
 * @index: number in the node's name
 * @cmb: memory comes from the pool of an NVMe driver
 * @bar: number of the memory BAR
 * @size: bytes of it
 * @phys: CPU physical address of it
 * @bus: bus address of it
 * @provider: what the phys_vec helper maps through, or NULL
 * @io_lock: held for reading around every access to the memory, for writing to
 *	set @dead
 * @dead: the function is gone: its memory must not be touched any more
 * @mem: write-combined mapping of the BAR
 * @reset_lock: held for writing while everything is revoked, for reading while
 *	something new is allocated
 * @mem_lock: guards @used, @bitmap and @cursor
 * @bitmap: pages of the BAR that are taken
 * @used: bytes taken
 * @cursor: where the search for free pages goes on, so that freed memory is
 *	used again as late as possible
 * @bo_lock: guards @bos
 * @bos: all allocations
 */
struct fakegpu_dev {
	struct kref kref;
	struct pci_dev *pdev;
	struct miscdevice misc;
	char name[16];
	int index;
	bool cmb;
	int bar;
	size_t size;
	phys_addr_t phys;
	u64 bus;
	struct p2pdma_provider *provider;
	struct rw_semaphore io_lock;
	bool dead;
	void __iomem *mem;
	struct rw_semaphore reset_lock;
	struct mutex mem_lock;	/* guards the next three */
	unsigned long *bitmap;
	size_t used;
	size_t cursor;
	spinlock_t bo_lock;	/* guards bos */
	struct list_head bos;
};

/* Where the bytes of an allocation are. */
enum fakegpu_place {
	FAKEGPU_IN_BAR,
	FAKEGPU_IN_RAM,
	FAKEGPU_IN_CMB,
};

/**
 * struct fakegpu_backing - memory of an allocation
 * @kref: held by the allocation and by mappings
 * @dev: whose memory it is; the allocation's reference covers this
 * @place: in the BAR, in system RAM, or in an NVMe drive's pool
 * @size: bytes
 * @chunk: bytes of a physically contiguous piece; only the last may be shorter
 * @nr: number of pieces
 * @offsets: where in the BAR each piece lies; NULL in system RAM
 * @vaddr: kernel mapping, unless in the BAR
 */
struct fakegpu_backing {
	struct kref kref;
	struct fakegpu_dev *dev;
	enum fakegpu_place place;
	size_t size;
	size_t chunk;
	size_t nr;
	u64 *offsets;
	void *vaddr;
};

/**
 * struct fakegpu_bo - an allocation
 * @kref: held by its handle and its dma-bufs
 * @dev: whose memory it is; referenced
 * @dev_node: in the device's list of allocations
 * @todo: in the list of those that are being revoked, under reset_lock
 * @behaviour: FAKEGPU_STATIC, ...
 * @flags: FAKEGPU_SCATTERED, ...
 * @seed: of the shuffle
 * @size: bytes
 * @chunk: bytes of a contiguous piece, when it lies in the BAR
 * @resv: of all its dma-bufs
 * @dmabufs: all exports; under @resv
 * @pinned: how often importers have pinned it; under @resv
 * @moves: how often it moved; under @resv
 * @lock: guards what follows
 * @backing: where it lies now; NULL once the device is gone
 * @revoked: importers can't map it any more
 * @lost: its contents are gone: reset or unbound
 * @mapped: mappings that importers hold
 * @drained: when @mapped became 0
 * @wait: woken when @mapped becomes 0
 * @attached: number of attachments
 */
struct fakegpu_bo {
	struct kref kref;
	struct fakegpu_dev *dev;
	struct list_head dev_node;
	struct list_head todo;
	u32 behaviour;
	u32 flags;
	u32 seed;
	size_t size;
	size_t chunk;
	struct dma_resv resv;
	struct list_head dmabufs;
	unsigned int pinned;
	unsigned int moves;
	spinlock_t lock;	/* guards what follows */
	struct fakegpu_backing *backing;
	bool revoked;
	bool lost;
	unsigned int mapped;
	ktime_t drained;
	wait_queue_head_t wait;
	atomic_t attached;
};

/**
 * struct fakegpu_dmabuf - one export of an allocation
 * @bo: what is exported; referenced
 * @dmabuf: the dma-buf whose private data this is
 * @node: in the allocation's list
 * @vmapped: the memory that is mapped for the CPU; referenced, under resv
 */
struct fakegpu_dmabuf {
	struct fakegpu_bo *bo;
	struct dma_buf *dmabuf;
	struct list_head node;
	struct fakegpu_backing *vmapped;
};

/**
 * struct fakegpu_file - an open node
 * @dev: the function; referenced
 * @handles: its allocations by handle
 * @next: where the search for a free handle goes on
 */
struct fakegpu_file {
	struct fakegpu_dev *dev;
	struct xarray handles;
	u32 next;
};

/* Works on one piece of memory; pos counts from the start of the allocation. */
typedef void (*fakegpu_access_fn)(void *ctx, void __iomem *mem, size_t pos,
				  size_t len);

/* fakegpu_main.c */
struct fakegpu_dev *fakegpu_dev_create(struct pci_dev *pdev, int bar, bool cmb);
void fakegpu_dev_get(struct fakegpu_dev *dev);
void fakegpu_dev_put(struct fakegpu_dev *dev);
void fakegpu_dev_kill(struct fakegpu_dev *dev);

/* fakegpu_file.c */
int fakegpu_file_open(struct file *file, struct fakegpu_dev *dev);
int fakegpu_file_release(struct inode *inode, struct file *file);
long fakegpu_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* fakegpu_io.c */
void fakegpu_io_zero(void *ctx, void __iomem *mem, size_t pos, size_t len);
void fakegpu_io_fill(void *ctx, void __iomem *mem, size_t pos, size_t len);
void fakegpu_sum_start(u64 *sum);
void fakegpu_io_sum(void *ctx, void __iomem *mem, size_t pos, size_t len);
void fakegpu_io_read(void *ctx, void __iomem *mem, size_t pos, size_t len);
void fakegpu_io_write(void *ctx, void __iomem *mem, size_t pos, size_t len);

/* fakegpu_mem.c */
struct fakegpu_backing *
fakegpu_backing_create(struct fakegpu_dev *dev, enum fakegpu_place place,
		       size_t size, size_t chunk, u32 seed);
void fakegpu_backing_get(struct fakegpu_backing *b);
void fakegpu_backing_put(struct fakegpu_backing *b);
int fakegpu_backing_access(struct fakegpu_backing *b, size_t offset, size_t len,
			   fakegpu_access_fn fn, void *ctx);
int fakegpu_backing_copy(struct fakegpu_backing *to,
			 struct fakegpu_backing *from);
size_t fakegpu_backing_length(struct fakegpu_backing *b, size_t index);
int fakegpu_bar_clear(struct fakegpu_dev *dev);

/* fakegpu_bo.c */
struct fakegpu_bo *fakegpu_bo_create(struct fakegpu_dev *dev,
				     const struct fakegpu_alloc *a);
void fakegpu_bo_get(struct fakegpu_bo *bo);
void fakegpu_bo_put(struct fakegpu_bo *bo);
struct fakegpu_backing *fakegpu_bo_backing(struct fakegpu_bo *bo);
struct fakegpu_backing *fakegpu_bo_map_begin(struct fakegpu_bo *bo);
void fakegpu_bo_map_end(struct fakegpu_bo *bo);
int fakegpu_bo_move(struct fakegpu_bo *bo, enum fakegpu_place place);

/* fakegpu_revoke.c */
int fakegpu_bo_revoke(struct fakegpu_bo *bo, struct fakegpu_revoke *r);
int fakegpu_dev_revoke(struct fakegpu_dev *dev, bool final);

/* fakegpu_dmabuf.c */
struct dma_buf *fakegpu_dmabuf_export(struct fakegpu_bo *bo, u32 open_flags);

/* fakegpu_map.c */
bool fakegpu_map_reachable(struct fakegpu_dev *dev, struct device *importer);
struct sg_table *fakegpu_map_create(struct fakegpu_bo *bo,
				    struct fakegpu_backing *b,
				    struct dma_buf_attachment *attach,
				    enum dma_data_direction dir);
void fakegpu_map_destroy(struct fakegpu_bo *bo,
			 struct dma_buf_attachment *attach,
			 struct sg_table *sgt, enum dma_data_direction dir);

/* fakegpu_cmb.c */
#ifdef CONFIG_PCI_P2PDMA
int fakegpu_cmb_init(void);
void fakegpu_cmb_exit(void);
#else
static inline int fakegpu_cmb_init(void)
{
	return 0;
}

static inline void fakegpu_cmb_exit(void)
{
}
#endif

#endif /* _PDIO_FAKEGPU_PRIV_H */
