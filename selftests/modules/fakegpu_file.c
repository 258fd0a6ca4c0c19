// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open nodes of the fake GPU: handles and ioctls. A node stays open when its
 * device goes away; everything but closing then gives ENODEV.
 */
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fakegpu_priv.h"

/* User memory and device memory meet in a buffer of this size. */
#define BOUNCE_SIZE	(256U << 10)

/* Room for the argument of any command that passes a structure. */
union fakegpu_arg {
	struct fakegpu_info info;
	struct fakegpu_alloc alloc;
	struct fakegpu_export export;
	struct fakegpu_extents extents;
	struct fakegpu_fill fill;
	struct fakegpu_sum sum;
	struct fakegpu_copy copy;
	struct fakegpu_revoke revoke;
	struct fakegpu_stat stat;
	unsigned long value;
};

/**
 * struct fakegpu_call - one ioctl
 * @ff: the open node
 * @arg: its argument: read before the handler runs, written back after it
 * @file: set by a handler that has made a file, which is given to the caller as
 *	@fd once @arg has been written back
 * @fd: reserved descriptor for @file
 * @handle: set by a handler that has made a handle, which is taken back if @arg
 *	can't be written
 */
struct fakegpu_call {
	struct fakegpu_file *ff;
	union fakegpu_arg arg;
	struct file *file;
	int fd;
	u32 handle;
};

/**
 * fakegpu_file_open - give a new open file its state
 * @file: what is being opened
 * @dev: the device; gets a reference
 *
 * Return: 0 or -ENOMEM.
 */
int fakegpu_file_open(struct file *file, struct fakegpu_dev *dev)
{
	struct fakegpu_file *ff = kzalloc_obj(*ff);

	if (!ff)
		return -ENOMEM;
	xa_init_flags(&ff->handles, XA_FLAGS_ALLOC1);
	fakegpu_dev_get(dev);
	ff->dev = dev;
	file->private_data = ff;
	return 0;
}

/**
 * fakegpu_file_release - the last reference to an open node is gone
 * @inode: unused
 * @file: the node
 *
 * Return: 0.
 */
int fakegpu_file_release(struct inode *inode, struct file *file)
{
	struct fakegpu_file *ff = file->private_data;
	struct fakegpu_bo *bo;
	unsigned long handle;

	xa_for_each(&ff->handles, handle, bo)
		fakegpu_bo_put(bo);
	xa_destroy(&ff->handles);
	fakegpu_dev_put(ff->dev);
	kfree(ff);
	return 0;
}

static struct fakegpu_bo *file_lookup(struct fakegpu_file *ff, u32 handle)
{
	struct fakegpu_bo *bo;

	xa_lock(&ff->handles);
	bo = xa_load(&ff->handles, handle);
	if (bo)
		fakegpu_bo_get(bo);
	xa_unlock(&ff->handles);
	return bo ?: ERR_PTR(-ENOENT);
}

static int do_info(struct fakegpu_call *call)
{
	struct fakegpu_dev *dev = call->ff->dev;
	struct fakegpu_info *info = &call->arg.info;

	memset(info, 0, sizeof(*info));
	info->bar_size = dev->size;
	mutex_lock(&dev->mem_lock);
	info->free = dev->size - dev->used;
	mutex_unlock(&dev->mem_lock);
	info->domain = pci_domain_nr(dev->pdev->bus);
	info->bdf = pci_dev_id(dev->pdev);
	info->wc_mapped = !dev->cmb;
	return 0;
}

static int alloc_check(struct fakegpu_dev *dev, const struct fakegpu_alloc *a)
{
	u32 known = FAKEGPU_SPLIT_SG;

	switch (a->behaviour) {
	case FAKEGPU_STATIC:
	case FAKEGPU_LIAR:
		break;
	case FAKEGPU_REVOCABLE:
		known |= FAKEGPU_NO_WAIT;
		break;
	case FAKEGPU_MOVABLE:
		known |= FAKEGPU_REFUSE_PIN;
		break;
	case FAKEGPU_RAM:
		known = 0;
		break;
	default:
		return -EINVAL;
	}
	if (a->behaviour != FAKEGPU_RAM)
		known |= FAKEGPU_SCATTERED;
	if (dev->cmb) {
		known = 0;
		if (a->behaviour != FAKEGPU_STATIC)
			return -EOPNOTSUPP;
	}
	if (a->flags & ~known || !a->size || !PAGE_ALIGNED(a->size) ||
	    !PAGE_ALIGNED(a->extent_size))
		return -EINVAL;
	if (a->extent_size && !(a->flags & FAKEGPU_SCATTERED))
		return -EINVAL;
	return 0;
}

static int do_alloc(struct fakegpu_call *call)
{
	struct fakegpu_file *ff = call->ff;
	struct fakegpu_alloc *a = &call->arg.alloc;
	struct fakegpu_bo *bo;
	int ret;

	ret = alloc_check(ff->dev, a);
	if (ret)
		return ret;
	bo = fakegpu_bo_create(ff->dev, a);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = xa_alloc_cyclic(&ff->handles, &a->handle, bo, xa_limit_31b,
			      &ff->next, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		fakegpu_bo_put(bo);
		return ret;
	}
	call->handle = a->handle;
	return 0;
}

static int do_free(struct fakegpu_call *call)
{
	struct fakegpu_bo *bo;

	if (call->arg.value > U32_MAX)
		return -ENOENT;
	bo = xa_erase(&call->ff->handles, call->arg.value);
	if (!bo)
		return -ENOENT;
	fakegpu_bo_put(bo);
	return 0;
}

static int do_export(struct fakegpu_call *call)
{
	struct fakegpu_export *e = &call->arg.export;
	struct dma_buf *dmabuf;
	struct fakegpu_bo *bo;
	int fd;

	if (e->open_flags & ~(O_RDWR | O_CLOEXEC) || e->pad)
		return -EINVAL;
	bo = file_lookup(call->ff, e->handle);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	dmabuf = fakegpu_dmabuf_export(bo, e->open_flags);
	fakegpu_bo_put(bo);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);

	fd = get_unused_fd_flags(e->open_flags & O_CLOEXEC);
	if (fd < 0) {
		dma_buf_put(dmabuf);
		return fd;
	}
	call->fd = fd;
	call->file = dmabuf->file;
	e->fd = fd;
	return 0;
}

static int copy_extents(struct fakegpu_backing *b, struct fakegpu_extents *e)
{
	struct fakegpu_extent __user *to = u64_to_user_ptr(e->array);
	struct fakegpu_extent extent;
	size_t i, room = e->count;

	if (!b->offsets)
		return -ENXIO;
	e->count = b->nr;
	for (i = 0; i < b->nr && i < room; i++) {
		extent.bar_offset = b->offsets[i];
		extent.length = fakegpu_backing_length(b, i);
		if (copy_to_user(&to[i], &extent, sizeof(extent)))
			return -EFAULT;
	}
	return 0;
}

static int do_extents(struct fakegpu_call *call)
{
	struct fakegpu_backing *b;
	struct fakegpu_bo *bo;
	int ret;

	bo = file_lookup(call->ff, call->arg.extents.handle);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	b = fakegpu_bo_backing(bo);
	if (IS_ERR(b)) {
		ret = PTR_ERR(b);
	} else {
		ret = copy_extents(b, &call->arg.extents);
		fakegpu_backing_put(b);
	}
	fakegpu_bo_put(bo);
	return ret;
}

/* The device's own work; resv keeps the memory from moving meanwhile. */
static int bo_work(struct fakegpu_bo *bo, size_t offset, size_t len,
		   fakegpu_access_fn fn, void *ctx)
{
	struct fakegpu_backing *b;
	int ret;

	ret = dma_resv_lock_interruptible(&bo->resv, NULL);
	if (ret)
		return ret;
	b = fakegpu_bo_backing(bo);
	if (IS_ERR(b)) {
		ret = PTR_ERR(b);
	} else {
		ret = fakegpu_backing_access(b, offset, len, fn, ctx);
		fakegpu_backing_put(b);
	}
	dma_resv_unlock(&bo->resv);
	return ret;
}

static struct fakegpu_bo *lookup_range(struct fakegpu_file *ff, u32 handle,
				       u64 offset, u64 length)
{
	struct fakegpu_bo *bo = file_lookup(ff, handle);
	u64 end;

	if (IS_ERR(bo))
		return bo;
	if (check_add_overflow(offset, length, &end) || end > bo->size) {
		fakegpu_bo_put(bo);
		return ERR_PTR(-ERANGE);
	}
	return bo;
}

static int do_fill(struct fakegpu_call *call)
{
	struct fakegpu_fill *f = &call->arg.fill;
	struct fakegpu_bo *bo;
	int ret;

	if (!IS_ALIGNED(f->offset, 8) || !IS_ALIGNED(f->length, 8))
		return -EINVAL;
	bo = lookup_range(call->ff, f->handle, f->offset, f->length);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = bo_work(bo, f->offset, f->length, fakegpu_io_fill, &f->seed);
	fakegpu_bo_put(bo);
	return ret;
}

static int do_sum(struct fakegpu_call *call)
{
	struct fakegpu_sum *s = &call->arg.sum;
	struct fakegpu_bo *bo;
	int ret;

	if (s->pad)
		return -EINVAL;
	bo = lookup_range(call->ff, s->handle, s->offset, s->length);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	fakegpu_sum_start(&s->sum);
	ret = bo_work(bo, s->offset, s->length, fakegpu_io_sum, &s->sum);
	fakegpu_bo_put(bo);
	return ret;
}

static int copy_step(struct fakegpu_bo *bo, struct fakegpu_copy *c,
		     size_t done, size_t n, void *bounce)
{
	void __user *host = u64_to_user_ptr(c->host + done);
	void *p = bounce;
	int ret;

	if (c->to_device) {
		if (copy_from_user(bounce, host, n))
			return -EFAULT;
		return bo_work(bo, c->offset + done, n, fakegpu_io_write, &p);
	}
	ret = bo_work(bo, c->offset + done, n, fakegpu_io_read, &p);
	if (!ret && copy_to_user(host, bounce, n))
		ret = -EFAULT;
	return ret;
}

static int do_copy(struct fakegpu_call *call)
{
	struct fakegpu_copy *c = &call->arg.copy;
	struct fakegpu_bo *bo;
	size_t done, n;
	void *bounce;
	int ret = 0;

	if (c->to_device > 1)
		return -EINVAL;
	bo = lookup_range(call->ff, c->handle, c->offset, c->length);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	bounce = kvmalloc(BOUNCE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!bounce)
		ret = -ENOMEM;
	for (done = 0; !ret && done < c->length; done += n) {
		n = min_t(u64, c->length - done, BOUNCE_SIZE);
		ret = copy_step(bo, c, done, n, bounce);
	}
	kvfree(bounce);
	fakegpu_bo_put(bo);
	return ret;
}

static int do_revoke(struct fakegpu_call *call)
{
	struct fakegpu_revoke *r = &call->arg.revoke;
	struct fakegpu_bo *bo;
	int ret;

	if (r->pad)
		return -EINVAL;
	bo = file_lookup(call->ff, r->handle);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = fakegpu_bo_revoke(bo, r);
	fakegpu_bo_put(bo);
	return ret;
}

static int move_locked(struct fakegpu_bo *bo)
{
	int ret;

	if (bo->pinned)
		return -EBUSY;
	ret = fakegpu_bo_move(bo, FAKEGPU_IN_BAR);
	/* No room for a second copy: memory pressure, evict. */
	if (ret == -ENOSPC)
		ret = fakegpu_bo_move(bo, FAKEGPU_IN_RAM);
	return ret;
}

static int do_move(struct fakegpu_call *call)
{
	struct fakegpu_bo *bo;
	int ret;

	if (call->arg.value > U32_MAX)
		return -ENOENT;
	bo = file_lookup(call->ff, call->arg.value);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	if (bo->behaviour != FAKEGPU_MOVABLE) {
		ret = -EOPNOTSUPP;
	} else {
		ret = dma_resv_lock_interruptible(&bo->resv, NULL);
		if (!ret) {
			ret = move_locked(bo);
			dma_resv_unlock(&bo->resv);
		}
	}
	fakegpu_bo_put(bo);
	return ret;
}

static int do_reset(struct fakegpu_call *call)
{
	if (call->ff->dev->cmb)
		return -EOPNOTSUPP;
	return fakegpu_dev_revoke(call->ff->dev, false);
}

static int do_stat(struct fakegpu_call *call)
{
	struct fakegpu_stat *s = &call->arg.stat;
	struct fakegpu_bo *bo;

	bo = file_lookup(call->ff, s->handle);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	dma_resv_lock(&bo->resv, NULL);
	s->pinned = bo->pinned;
	s->moves = bo->moves;
	s->attached = atomic_read(&bo->attached);
	spin_lock(&bo->lock);
	s->mapped = bo->mapped;
	s->in_ram = bo->backing && bo->backing->place == FAKEGPU_IN_RAM;
	spin_unlock(&bo->lock);
	dma_resv_unlock(&bo->resv);
	fakegpu_bo_put(bo);
	return 0;
}

static const struct {
	unsigned int cmd;
	int (*handler)(struct fakegpu_call *call);
} commands[] = {
	{ FAKEGPU_IOC_INFO, do_info },
	{ FAKEGPU_IOC_ALLOC, do_alloc },
	{ FAKEGPU_IOC_FREE, do_free },
	{ FAKEGPU_IOC_EXPORT, do_export },
	{ FAKEGPU_IOC_EXTENTS, do_extents },
	{ FAKEGPU_IOC_FILL, do_fill },
	{ FAKEGPU_IOC_SUM, do_sum },
	{ FAKEGPU_IOC_COPY, do_copy },
	{ FAKEGPU_IOC_REVOKE, do_revoke },
	{ FAKEGPU_IOC_MOVE, do_move },
	{ FAKEGPU_IOC_RESET, do_reset },
	{ FAKEGPU_IOC_STAT, do_stat },
};

/* The caller didn't get the result: take back what it would have named. */
static void call_undo(struct fakegpu_call *call)
{
	struct fakegpu_bo *bo;

	if (call->file) {
		put_unused_fd(call->fd);
		fput(call->file);
	}
	if (call->handle) {
		bo = xa_erase(&call->ff->handles, call->handle);
		if (bo)
			fakegpu_bo_put(bo);
	}
}

/**
 * fakegpu_file_ioctl - all commands
 * @file: an open node
 * @cmd: FAKEGPU_IOC_*
 * @arg: a structure, or a handle where the header says so
 *
 * Return: 0 or a negative error; -ENODEV once the device is gone.
 */
long fakegpu_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct fakegpu_call call = { .ff = file->private_data };
	void __user *user = (void __user *)arg;
	size_t i, size = _IOC_SIZE(cmd);
	int ret;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].cmd == cmd)
			break;
	if (i == ARRAY_SIZE(commands))
		return -ENOTTY;
	if (READ_ONCE(call.ff->dev->dead))
		return -ENODEV;

	if (!size)
		call.arg.value = arg;
	else if (_IOC_DIR(cmd) & _IOC_WRITE &&
		 copy_from_user(&call.arg, user, size))
		return -EFAULT;

	ret = commands[i].handler(&call);
	if (ret)
		return ret;

	if (_IOC_DIR(cmd) & _IOC_READ && copy_to_user(user, &call.arg, size)) {
		call_undo(&call);
		return -EFAULT;
	}
	if (call.file)
		fd_install(call.fd, call.file);
	return 0;
}
