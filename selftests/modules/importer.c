// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dma-buf importer for tests: see importer.h. A mapping is dropped under the
 * dma-buf's reservation lock, by whoever comes first: the caller, the work that
 * an invalidation starts, or the close.
 */
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "fakegpu_compat.h"
#include "importer.h"

#define FENCE_MS_MAX	60000

/**
 * struct importer - an open node
 * @lock: guards the attachment against other callers
 * @attach: the attachment or NULL
 * @pdev: the function it is for; referenced
 * @ops: what the exporter sees of us
 * @flags: IMPORTER_*
 * @hold_ms: from invalidation to unmap
 * @sgt: the mapping or NULL; under resv
 * @dir: of the mapping
 * @invalidations: so far; under resv
 * @release: unmaps after an invalidation
 */
struct importer {
	struct mutex lock;	/* guards the attachment */
	struct dma_buf_attachment *attach;
	struct pci_dev *pdev;
	struct dma_buf_attach_ops ops;
	u32 flags;
	u32 hold_ms;
	struct sg_table *sgt;
	enum dma_data_direction dir;
	unsigned int invalidations;
	struct delayed_work release;
};

/**
 * struct importer_fence - a fence that signals after a time
 * @base: the fence
 * @lock: of the fence
 * @signal: does it
 */
struct importer_fence {
	struct dma_fence base;
	spinlock_t lock;	/* of the fence */
	struct delayed_work signal;
};

static const char *fence_name(struct dma_fence *fence)
{
	return "importer";
}

/* A fence may live on in a reservation object, and needs our code until then. */
static void fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
	.release = fence_release,
};

static void fence_signal(struct work_struct *work)
{
	struct importer_fence *f =
		container_of(work, struct importer_fence, signal.work);

	dma_fence_signal(&f->base);
	dma_fence_put(&f->base);
}

static void unmap_locked(struct importer *imp)
{
	if (!imp->sgt)
		return;
	dma_buf_unmap_attachment(imp->attach, imp->sgt, imp->dir);
	imp->sgt = NULL;
}

static void release_work(struct work_struct *work)
{
	struct importer *imp =
		container_of(work, struct importer, release.work);
	struct dma_resv *resv = imp->attach->dmabuf->resv;

	dma_resv_lock(resv, NULL);
	unmap_locked(imp);
	dma_resv_unlock(resv);
}

static void importer_invalidate(struct dma_buf_attachment *attach)
{
	struct importer *imp = attach->importer_priv;

	imp->invalidations++;
	if (imp->sgt && imp->hold_ms != IMPORTER_FOREVER)
		queue_delayed_work(system_long_wq, &imp->release,
				   msecs_to_jiffies(imp->hold_ms));
}

static void do_detach(struct importer *imp)
{
	struct dma_buf *dmabuf;

	if (!imp->attach)
		return;
	dmabuf = imp->attach->dmabuf;
	dma_resv_lock(dmabuf->resv, NULL);
	unmap_locked(imp);
	if (imp->flags & IMPORTER_PIN)
		dma_buf_unpin(imp->attach);
	dma_resv_unlock(dmabuf->resv);
	/* Without a mapping no new work is queued. */
	cancel_delayed_work_sync(&imp->release);
	dma_buf_detach(dmabuf, imp->attach);
	dma_buf_put(dmabuf);
	pci_dev_put(imp->pdev);
	imp->attach = NULL;
}

static int attach_pin(struct importer *imp)
{
	struct dma_resv *resv = imp->attach->dmabuf->resv;
	int ret;

	dma_resv_lock(resv, NULL);
	ret = dma_buf_pin(imp->attach);
	dma_resv_unlock(resv);
	return ret;
}

static int attach_check(struct importer *imp, const struct importer_attach *a)
{
	u32 known = IMPORTER_DYNAMIC;

	if (imp->attach)
		return -EBUSY;
	if (a->flags & IMPORTER_DYNAMIC)
		known |= IMPORTER_PEER2PEER | IMPORTER_INVALIDATE |
			 IMPORTER_PIN;
	if (a->flags & ~known || a->pad)
		return -EINVAL;
	/* Older kernels take importer ops without it as a bug. */
	if (!FAKEGPU_INVALIDATE_OPTIONAL && a->flags & IMPORTER_DYNAMIC &&
	    !(a->flags & IMPORTER_INVALIDATE))
		return -EOPNOTSUPP;
	return 0;
}

static int do_attach(struct importer *imp, const struct importer_attach *a)
{
	struct dma_buf_attachment *attach;
	struct dma_buf *dmabuf;
	int ret;

	ret = attach_check(imp, a);
	if (ret)
		return ret;
	imp->pdev = pci_get_domain_bus_and_slot(a->domain, a->bdf >> 8,
						a->bdf & 0xff);
	if (!imp->pdev)
		return -ENOENT;
	dmabuf = dma_buf_get(a->fd);
	if (IS_ERR(dmabuf)) {
		ret = PTR_ERR(dmabuf);
		goto err_pdev;
	}

	imp->flags = a->flags;
	imp->hold_ms = a->hold_ms;
	imp->invalidations = 0;
	imp->ops.allow_peer2peer = a->flags & IMPORTER_PEER2PEER;
	imp->ops.FAKEGPU_INVALIDATE_OP = a->flags & IMPORTER_INVALIDATE ?
					 importer_invalidate : NULL;
	attach = dma_buf_dynamic_attach(dmabuf, &imp->pdev->dev,
					a->flags & IMPORTER_DYNAMIC ?
					&imp->ops : NULL, imp);
	if (IS_ERR(attach)) {
		ret = PTR_ERR(attach);
		goto err_put;
	}
	imp->attach = attach;
	if (a->flags & IMPORTER_PIN) {
		ret = attach_pin(imp);
		if (ret) {
			/* Nothing to unpin. */
			imp->flags &= ~IMPORTER_PIN;
			do_detach(imp);
		}
	}
	return ret;

err_put:
	dma_buf_put(dmabuf);
err_pdev:
	pci_dev_put(imp->pdev);
	return ret;
}

static void describe(struct sg_table *sgt, struct importer_map *m)
{
	struct scatterlist *sg;
	unsigned int i;

	m->nents = sgt->nents;
	m->first = sg_dma_address(sgt->sgl);
	m->bytes = 0;
	m->longest = 0;
	m->pages = 0;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		m->bytes += sg_dma_len(sg);
		m->longest = max_t(u64, m->longest, sg_dma_len(sg));
		if (sg_page(sg))
			m->pages++;
	}
}

static int do_map(struct importer *imp, struct importer_map *m)
{
	struct dma_resv *resv = imp->attach->dmabuf->resv;
	struct sg_table *sgt;
	int ret = 0;

	if (m->write > 1 || m->pad)
		return -EINVAL;
	dma_resv_lock(resv, NULL);
	if (imp->sgt) {
		ret = -EBUSY;
	} else {
		imp->dir = m->write ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
		sgt = dma_buf_map_attachment(imp->attach, imp->dir);
		if (IS_ERR(sgt)) {
			ret = PTR_ERR(sgt);
		} else {
			imp->sgt = sgt;
			describe(sgt, m);
		}
	}
	dma_resv_unlock(resv);
	return ret;
}

static int do_unmap(struct importer *imp)
{
	struct dma_resv *resv = imp->attach->dmabuf->resv;
	int ret;

	dma_resv_lock(resv, NULL);
	ret = imp->sgt ? 0 : -EINVAL;
	unmap_locked(imp);
	dma_resv_unlock(resv);
	return ret;
}

static int do_fence(struct importer *imp, unsigned long ms)
{
	struct dma_resv *resv = imp->attach->dmabuf->resv;
	struct importer_fence *f;
	int ret;

	if (ms > FENCE_MS_MAX)
		return -EINVAL;
	f = kzalloc_obj(*f);
	if (!f)
		return -ENOMEM;
	__module_get(THIS_MODULE);
	spin_lock_init(&f->lock);
	INIT_DELAYED_WORK(&f->signal, fence_signal);
	dma_fence_init(&f->base, &fence_ops, &f->lock,
		       dma_fence_context_alloc(1), 1);

	dma_resv_lock(resv, NULL);
	ret = dma_resv_reserve_fences(resv, 1);
	if (!ret)
		dma_resv_add_fence(resv, &f->base, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_unlock(resv);
	if (ret)
		fence_signal(&f->signal.work);
	else
		queue_delayed_work(system_long_wq, &f->signal,
				   msecs_to_jiffies(ms));
	return ret;
}

static int do_vmap(struct importer *imp, u64 __user *user)
{
	struct dma_buf *dmabuf = imp->attach->dmabuf;
	struct iosys_map map;
	u64 word;
	int ret;

	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_buf_vmap(dmabuf, &map);
	if (!ret) {
		iosys_map_memcpy_from(&word, &map, 0, sizeof(word));
		dma_buf_vunmap(dmabuf, &map);
	}
	dma_resv_unlock(dmabuf->resv);
	if (ret)
		return ret;
	return put_user(word, user);
}

static int do_stat(struct importer *imp, struct importer_stat __user *user)
{
	struct dma_resv *resv = imp->attach->dmabuf->resv;
	struct importer_stat s = { };

	dma_resv_lock(resv, NULL);
	s.mapped = !!imp->sgt;
	s.invalidations = imp->invalidations;
	s.peer2peer = imp->attach->peer2peer;
	dma_resv_unlock(resv);
	return copy_to_user(user, &s, sizeof(s)) ? -EFAULT : 0;
}

static int ioctl_map(struct importer *imp, struct importer_map __user *user)
{
	struct importer_map m;
	int ret;

	if (copy_from_user(&m, user, sizeof(m)))
		return -EFAULT;
	ret = do_map(imp, &m);
	if (!ret && copy_to_user(user, &m, sizeof(m))) {
		do_unmap(imp);
		ret = -EFAULT;
	}
	return ret;
}

static int ioctl_locked(struct importer *imp, unsigned int cmd,
			unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct importer_attach a;

	if (cmd == IMPORTER_IOC_ATTACH) {
		if (copy_from_user(&a, user, sizeof(a)))
			return -EFAULT;
		return do_attach(imp, &a);
	}
	if (!imp->attach)
		return -ENOTCONN;

	switch (cmd) {
	case IMPORTER_IOC_DETACH:
		do_detach(imp);
		return 0;
	case IMPORTER_IOC_MAP:
		return ioctl_map(imp, user);
	case IMPORTER_IOC_UNMAP:
		return do_unmap(imp);
	case IMPORTER_IOC_STAT:
		return do_stat(imp, user);
	case IMPORTER_IOC_FENCE:
		return do_fence(imp, arg);
	case IMPORTER_IOC_VMAP:
		return do_vmap(imp, user);
	default:
		return -ENOTTY;
	}
}

static long importer_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	struct importer *imp = file->private_data;
	long ret;

	mutex_lock(&imp->lock);
	ret = ioctl_locked(imp, cmd, arg);
	mutex_unlock(&imp->lock);
	return ret;
}

static int importer_open(struct inode *inode, struct file *file)
{
	struct importer *imp = kzalloc_obj(*imp);

	if (!imp)
		return -ENOMEM;
	mutex_init(&imp->lock);
	INIT_DELAYED_WORK(&imp->release, release_work);
	file->private_data = imp;
	return 0;
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct importer *imp = file->private_data;

	do_detach(imp);
	kfree(imp);
	return 0;
}

static const struct file_operations importer_fops = {
	.owner = THIS_MODULE,
	.open = importer_open,
	.release = importer_release,
	.unlocked_ioctl = importer_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice importer_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "importer",
	.mode = 0600,
	.fops = &importer_fops,
};
module_misc_device(importer_misc);

FAKEGPU_IMPORT_DMA_BUF();
MODULE_DESCRIPTION("Test driver: a dma-buf importer that lets go early, late or never");
MODULE_LICENSE("GPL");
