/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the module know of each other, lowest row first. A file
 * calls functions of its own row and of lower ones only; what has to go up goes
 * through the chain in notify.c.
 *
 * How the objects hang together, who locks what and how each one ends is told
 * in Documentation/driver-api/objects.rst.
 */
#ifndef _PDIO_KERNEL_H
#define _PDIO_KERNEL_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/percpu-refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/pdio.h>

#define PDIO_MAX_SEGMENTS	1024
#define PDIO_MAX_OBJECTS	65536

struct block_device;
struct dma_buf;
struct dma_buf_attachment;
struct module;
struct sg_table;

/* ---- row 1: drain.c: things in use, and their orderly end ---------------- */

struct pdio_drain;

/**
 * struct pdio_drain_ops - how a thing ends
 * @release: gives up what the thing holds, once nobody uses it any more.
 *	Process context, may sleep.
 * @free: frees its memory, an RCU grace period after @release. Softirq context.
 */
struct pdio_drain_ops {
	void (*release)(struct pdio_drain *drain);
	void (*free)(struct pdio_drain *drain);
};

/**
 * struct pdio_drain - a thing that others use and that can be taken away
 * @users: uses in progress
 * @work: runs @ops->release off the atomic context in which @users may end
 * @done: complete once @ops->release has returned
 * @memory: references that keep the structure itself, not what it stands for
 * @flags: DRAIN_KILLED
 * @ops: how it ends
 * @rcu: frees it
 */
struct pdio_drain {
	struct percpu_ref users;
	struct work_struct work;
	struct completion done;
	struct kref memory;
	unsigned long flags;
	const struct pdio_drain_ops *ops;
	struct rcu_head rcu;
};

int pdio_drain_init(struct pdio_drain *drain, const struct pdio_drain_ops *ops);
void pdio_drain_kill(struct pdio_drain *drain);
void pdio_drain_hold(struct pdio_drain *drain);
void pdio_drain_drop(struct pdio_drain *drain);
void pdio_drain_wait(struct pdio_drain *drain);
int pdio_drain_wait_killable(struct pdio_drain *drain);
int pdio_drain_start(void);
void pdio_drain_stop(void);

static inline bool pdio_drain_tryget(struct pdio_drain *drain)
{
	return percpu_ref_tryget_live(&drain->users);
}

static inline void pdio_drain_get(struct pdio_drain *drain)
{
	percpu_ref_get(&drain->users);
}

static inline void pdio_drain_put(struct pdio_drain *drain)
{
	percpu_ref_put(&drain->users);
}

/* ---- row 1: notify.c: a PCI function loses its driver --------------------- */

/**
 * enum pdio_unbind - the steps in which a PCI function is let go
 * @PDIO_UNBIND_DRAIN: uses in progress are ended and waited for
 * @PDIO_UNBIND_FORGET: nothing uses it any more; what was held on it is dropped
 */
enum pdio_unbind {
	PDIO_UNBIND_DRAIN,
	PDIO_UNBIND_FORGET,
};

int pdio_notify_lock_bound(struct pci_dev *pdev);
int pdio_notify_subscribe(struct notifier_block *nb);
void pdio_notify_unsubscribe(struct notifier_block *nb);
int pdio_notify_start(void);
void pdio_notify_stop(void);

/* ---- row 1: stats.c: counters of one open file description ---------------- */

/**
 * struct pdio_stats - what requests moved, each CPU for itself
 * @ops: requests completed
 * @direct: bytes proven direct
 * @staged: bytes through pdio's host pages
 * @cpu: bytes copied or zeroed by CPU, or not proven direct
 */
struct pdio_stats {
	u64 ops;
	u64 direct;
	u64 staged;
	u64 cpu;
};

void pdio_stats_add(struct pdio_stats __percpu *stats,
		    const struct pdio_stats *more);
void pdio_stats_sum(struct pdio_stats __percpu *stats, struct pdio_stats *sum);

/* ---- row 1: client.c: the PCI function that does a file's DMA ------------- */

/**
 * struct pdio_client - a PCI function that moves bytes for files
 * @ref: references: files and attachments
 * @node: in the list of clients
 * @pdev: the function
 * @id: names the client while it exists, never reused before wrap-around
 */
struct pdio_client {
	struct kref ref;
	struct list_head node;
	struct pci_dev *pdev;
	u32 id;
};

struct pdio_client *pdio_client_get(struct pci_dev *pdev);
bool pdio_client_is_nvme(struct pci_dev *pdev);
struct pdio_client *pdio_client_find(struct block_device *bdev, u32 *reason);
void pdio_client_hold(struct pdio_client *client);
void pdio_client_put(struct pdio_client *client);
bool pdio_client_translated(const struct pdio_client *client);

/* ---- row 1: provider.c, quota.c: the PCI function whose BAR is used ------- */

/**
 * struct pdio_provider - a PCI function whose BAR holds buffers
 * @ref: references: attachments, and one of the list while bound
 * @node: in the list of providers
 * @pdev: the function
 * @lock: protects @windows, @stray, @accounts and adoption
 * @windows: parts of its BARs that have struct pages
 * @stray: pool memory that isn't a window and must be given back
 * @accounts: pinned bytes per user
 * @bar_bytes: size of its largest memory BAR
 */
struct pdio_provider {
	struct kref ref;
	struct list_head node;
	struct pci_dev *pdev;
	struct mutex lock;
	struct list_head windows;
	struct list_head stray;
	struct list_head accounts;
	u64 bar_bytes;
};

struct pdio_provider *pdio_provider_get(struct pci_dev *pdev);
void pdio_provider_put(struct pdio_provider *provider);
struct pci_dev *pdio_provider_find_bar(phys_addr_t phys, int *bar);
struct pci_dev *pdio_provider_find_bus(struct pci_bus *bus, dma_addr_t addr,
				       phys_addr_t *phys);
bool pdio_provider_out_of_reach(const struct module *owner,
				struct device *client);
int pdio_provider_start(void);
void pdio_provider_stop(void);

int pdio_quota_charge(struct pdio_provider *provider, kuid_t uid, u64 bytes);
void pdio_quota_uncharge(struct pdio_provider *provider, kuid_t uid, u64 bytes);

/* ---- row 1: window.c: parts of a BAR with struct pages -------------------- */

/**
 * struct pdio_window - a part of a BAR that has struct pages
 * @node: in the provider's list
 * @start: first physical address
 * @end: first physical address behind it
 * @va: kernel mapping of @start
 * @pgmap: the pages' owner; a reference is held while the window exists
 * @users: attachments with memory in it
 * @adopted: pdio made the pages; they last until the provider is unbound
 * @pool: the memory as taken out of the provider's allocator, or NULL
 */
struct pdio_window {
	struct list_head node;
	phys_addr_t start;
	phys_addr_t end;
	void *va;
	struct dev_pagemap *pgmap;
	unsigned int users;
	bool adopted;
	void *pool;
};

int pdio_window_start(void);
struct pdio_window *pdio_window_get(struct pdio_provider *provider, int bar,
				    phys_addr_t phys, u64 bytes, u32 *reason);
void pdio_window_put(struct pdio_provider *provider, struct pdio_window *window);
void pdio_window_drop_all(struct pdio_provider *provider);

/* ---- row 1: dmabuf.c: the exporter's side of a buffer --------------------- */

/**
 * struct pdio_run - physically contiguous memory of a buffer
 * @phys: first physical address
 * @bytes: how many
 */
struct pdio_run {
	phys_addr_t phys;
	u64 bytes;
};

/**
 * struct pdio_runs - a buffer's memory, in order
 * @run: array of runs; neighbours are not contiguous with each other
 * @nr: runs in it
 * @room: runs that fit
 * @pdev: the function in one of whose BARs all of it lies; a reference is held
 * @bar: which BAR
 */
struct pdio_runs {
	struct pdio_run *run;
	u32 nr;
	u32 room;
	struct pci_dev *pdev;
	int bar;
};

/**
 * struct pdio_dmabuf - a dma-buf attached to and mapped for one device
 * @dmabuf: the dma-buf
 * @attach: the attachment, or NULL
 * @sgt: the mapping, or NULL
 * @dir: direction it was mapped for
 * @pinned: dma_buf_pin() succeeded
 * @revoked: the exporter took the memory away; under the dma_resv lock
 * @on_revoke: called when that happens, with the dma_resv lock held
 */
struct pdio_dmabuf {
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	enum dma_data_direction dir;
	bool pinned;
	bool revoked;
	void (*on_revoke)(struct pdio_dmabuf *dmabuf);
};

int pdio_dmabuf_map(struct pdio_dmabuf *dmabuf, struct device *dev, u32 *reason);
void pdio_dmabuf_unmap(struct pdio_dmabuf *dmabuf);
int pdio_dmabuf_resolve(struct pdio_dmabuf *dmabuf, struct pci_dev *client,
			u64 offset, u64 bytes, struct pdio_runs *runs,
			u32 *reason);
void pdio_runs_free(struct pdio_runs *runs);

/* ---- row 1: object.c: ids ------------------------------------------------- */

enum pdio_object_type {
	PDIO_OBJECT_BUFFER,
	PDIO_OBJECT_FILE,
};

/**
 * struct pdio_object - what an id names
 * @drain: its users and its end
 * @type: what it is
 * @id: its id, set once
 * @retire: called when the id is taken away, to end what uses the object
 */
struct pdio_object {
	struct pdio_drain drain;
	enum pdio_object_type type;
	u32 id;
	void (*retire)(struct pdio_object *object);
};

/**
 * struct pdio_ctx - an open file description of /dev/pdio
 * @objects: its ids
 * @next: where the search for a free id begins
 * @nr: ids in use
 * @stats: its counters
 */
struct pdio_ctx {
	struct xarray objects;
	u32 next;
	atomic_t nr;
	struct pdio_stats __percpu *stats;
};

struct pdio_ctx *pdio_ctx_alloc(void);
void pdio_ctx_free(struct pdio_ctx *ctx);
int pdio_object_reserve(struct pdio_ctx *ctx, struct pdio_object *object);
void pdio_object_finalize(struct pdio_ctx *ctx, struct pdio_object *object);
void pdio_object_abort(struct pdio_ctx *ctx, struct pdio_object *object);
struct pdio_object *pdio_object_get(struct pdio_ctx *ctx, u32 id,
				    enum pdio_object_type type);
int pdio_object_destroy(struct pdio_ctx *ctx, u32 id);

static inline void pdio_object_put(struct pdio_object *object)
{
	pdio_drain_put(&object->drain);
}

/* ---- row 2: file.c -------------------------------------------------------- */

/**
 * struct pdio_file - a registered open file
 * @object: its id and users
 * @file: the open file
 * @seek: the same file, opened once more to look for holes in it, or NULL
 * @bdev: the block device that holds its data, or NULL
 * @client: the function that moves its data, or NULL
 * @reason: why it can't be one end of a direct route, or PDIO_REASON_NONE
 * @offset_align: alignment of offsets and lengths for direct I/O, or 0
 * @mem_align: alignment of memory for direct I/O, or 0
 */
struct pdio_file {
	struct pdio_object object;
	struct file *file;
	struct file *seek;
	struct block_device *bdev;
	struct pdio_client *client;
	u32 reason;
	u32 offset_align;
	u32 mem_align;
};

#define to_pdio_file(obj) container_of(obj, struct pdio_file, object)

struct pdio_file *pdio_file_create(int fd);
struct pdio_file *pdio_file_get(struct pdio_ctx *ctx, u32 id);
u32 pdio_file_reason(const struct pdio_file *file);
int pdio_file_alignment(const struct pdio_file *file, u32 *offset, u32 *mem);
loff_t pdio_file_size(const struct pdio_file *file);

/* ---- row 2: buffer.c, attach.c -------------------------------------------- */

/**
 * struct pdio_buffer - a registered range of a dma-buf
 * @object: its id and users
 * @dmabuf: the dma-buf
 * @offset: first byte of it
 * @bytes: length
 * @owner: whose pinned memory it is
 * @writable: storage may be read into it
 * @lock: serialises attaching
 * @attaches: by client id, for lookup without a lock
 * @list: all attachments, also half-made ones; under the lock in attach.c
 * @charge_lock: protects @provider and @charges
 * @provider: where its memory lies, while @charges isn't 0
 * @charges: attachments that share the one charge against the quota
 * @closed: its id was taken away
 * @revoked: the memory was taken away for good
 */
struct pdio_buffer {
	struct pdio_object object;
	struct dma_buf *dmabuf;
	u64 offset;
	u64 bytes;
	kuid_t owner;
	bool writable;
	struct mutex lock;
	struct xarray attaches;
	struct list_head list;
	struct mutex charge_lock;
	struct pdio_provider *provider;
	u32 charges;
	bool closed;
	bool revoked;
};

#define to_pdio_buffer(obj) container_of(obj, struct pdio_buffer, object)

struct pdio_buffer *pdio_buffer_create(int fd, u64 offset, u64 bytes);
struct pdio_buffer *pdio_buffer_get(struct pdio_ctx *ctx, u32 id);
struct pdio_provider *pdio_buffer_provider(struct pdio_buffer *buffer);
int pdio_buffer_charge(struct pdio_buffer *buffer,
		       struct pdio_provider *provider);
void pdio_buffer_uncharge(struct pdio_buffer *buffer);

/**
 * struct pdio_extent - contiguous memory of a buffer, inside one window
 * @offset: first byte in the buffer; the next extent's is where this one ends
 * @va: kernel mapping of its pages
 * @window: index of its window
 */
struct pdio_extent {
	u64 offset;
	void *va;
	u32 window;
};

/**
 * struct pdio_route_info - how a (buffer, client) pair is served
 * @route: PDIO_ROUTE_*
 * @reason: why it isn't direct
 * @map_type: PDIO_MAP_*
 * @provider_domain: of the provider's PCI address
 * @provider_bdf: PDIO_BDF_NONE if there is none
 */
struct pdio_route_info {
	u32 route;
	u32 reason;
	u32 map_type;
	u32 provider_domain;
	u32 provider_bdf;
};

/**
 * struct pdio_attach - a buffer made ready for a client
 * @drain: requests that use it, and its end
 * @node: in the list of all
 * @in_buffer: in the buffer's list
 * @buffer: the buffer; a use of its object is held
 * @client: the client
 * @provider: where the memory lies, NULL until known
 * @dmabuf: the exporter's side
 * @route: how requests are served
 * @windows: windows that its extents lie in
 * @extents: @nr_extents and one more, which ends the last
 * @nr_extents: how many
 * @nr_windows: how many
 * @charged: shares the buffer's charge
 * @awake: holds the provider's runtime power reference
 */
struct pdio_attach {
	struct pdio_drain drain;
	struct list_head node;
	struct list_head in_buffer;
	struct pdio_buffer *buffer;
	struct pdio_client *client;
	struct pdio_provider *provider;
	struct pdio_dmabuf dmabuf;
	struct pdio_route_info route;
	struct pdio_window **windows;
	struct pdio_extent *extents;
	u32 nr_extents;
	u32 nr_windows;
	bool charged;
	bool awake;
};

struct pdio_attach *pdio_attach_get(struct pdio_buffer *buffer,
				    struct pdio_client *client,
				    struct pdio_route_info *route);
void pdio_attach_kill_all(struct pdio_buffer *buffer);
int pdio_attach_start(void);
void pdio_attach_stop(void);

static inline void pdio_attach_put(struct pdio_attach *attach)
{
	pdio_drain_put(&attach->drain);
}

int pdio_layout_build(struct pdio_attach *attach, const struct pdio_runs *runs,
		      u32 *reason);
void pdio_layout_free(struct pdio_attach *attach);
int pdio_layout_map_type(struct pdio_attach *attach, u32 *map_type);

/* ---- row 3: route.c ------------------------------------------------------- */

struct pdio_attach *pdio_route_get(struct pdio_buffer *buffer,
				   struct pdio_file *file,
				   struct pdio_route_info *route);
u32 pdio_route_kernel_reason(void);

/* ---- row 4: io.c, io_direct.c, evidence.c --------------------------------- */

/**
 * struct pdio_io_segment - a part of a request's memory
 * @attach: the buffer, made ready for the file's client
 * @offset: first byte in the buffer
 * @bytes: length
 */
struct pdio_io_segment {
	struct pdio_attach *attach;
	u64 offset;
	u64 bytes;
};

/**
 * struct pdio_io - a request in work
 * @file: the file
 * @op: PDIO_OP_*
 * @flags: PDIO_RW_FLAG_*
 * @offset_align: alignment of offsets and lengths for direct I/O
 * @mem_align: alignment of memory for direct I/O
 * @pos: file offset of what comes next
 * @segments: its memory
 * @nr_segments: how many
 * @nr_held: how many of them hold a reference on their attachment
 * @kvec: room for the pieces of one kiocb
 * @done: bytes moved so far, by the way they went
 * @reason: first reason for bytes that weren't direct, or for failure
 */
struct pdio_io {
	struct pdio_file *file;
	u32 op;
	u32 flags;
	u32 offset_align;
	u32 mem_align;
	loff_t pos;
	struct pdio_io_segment *segments;
	u32 nr_segments;
	u32 nr_held;
	struct kvec *kvec;
	struct pdio_stats done;
	u32 reason;
};

int pdio_io_rw(struct pdio_ctx *ctx, struct pdio_rw *rw);
bool pdio_io_direct_fits(const struct pdio_io *io,
			 const struct pdio_io_segment *seg);
ssize_t pdio_io_direct(struct pdio_io *io, const struct pdio_io_segment *seg,
		       u64 bytes);

#define PDIO_IO_KVECS 256

/**
 * struct pdio_evidence - what the task had done before a kiocb
 * @io_bytes: bytes it had caused to be read or written by storage
 * @paused: when it was last throttled for dirtying pages
 * @cache_pages: pages of the file that were cached
 * @dirtied: pages it had dirtied
 * @cached: some of the range's pages were cached
 * @hole: part of the range had no data to read
 */
struct pdio_evidence {
	u64 io_bytes;
	unsigned long paused;
	unsigned long cache_pages;
	int dirtied;
	bool cached;
	bool hole;
};

int pdio_evidence_hole(const struct pdio_file *pf, loff_t pos, u64 bytes,
		       bool *hole);
int pdio_evidence_begin(struct pdio_evidence *ev, const struct pdio_file *pf,
			const struct kiocb *iocb, u32 op, u64 bytes);
bool pdio_evidence_direct(const struct pdio_evidence *ev,
			  const struct pdio_file *pf, const struct kiocb *iocb,
			  loff_t pos, u32 op, u64 bytes, u32 *reason);

/* ---- row 5: ioctl.c ------------------------------------------------------- */

int pdio_ioctl_start(void);
void pdio_ioctl_stop(void);

#endif /* _PDIO_KERNEL_H */
