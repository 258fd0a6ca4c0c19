// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: registered ranges of dma-bufs.
 *
 * A buffer by itself holds nothing but the dma-buf. Memory is pinned by its
 * attachments (attach.c), one a client, and counted once for all of them.
 */
#include <linux/cred.h>
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "compat.h"
#include "pdio.h"

static void buffer_release(struct pdio_drain *drain)
{
	struct pdio_buffer *buffer =
		container_of(drain, struct pdio_buffer, object.drain);

	WARN_ON_ONCE(!list_empty(&buffer->list));
	xa_destroy(&buffer->attaches);
	/* As dma_buf_put(), but not delayed: the memory is free on return. */
	__fput_sync(buffer->dmabuf->file);
}

static void buffer_free(struct pdio_drain *drain)
{
	kfree(container_of(drain, struct pdio_buffer, object.drain));
}

static const struct pdio_drain_ops buffer_ops = {
	.release = buffer_release,
	.free = buffer_free,
};

static void buffer_retire(struct pdio_object *object)
{
	struct pdio_buffer *buffer = to_pdio_buffer(object);

	WRITE_ONCE(buffer->closed, true);
	pdio_attach_kill_all(buffer);
}

static int buffer_check(const struct pdio_buffer *buffer)
{
	u64 end;

	if (!PAGE_ALIGNED(buffer->offset) || !PAGE_ALIGNED(buffer->bytes))
		return -EINVAL;
	if (check_add_overflow(buffer->offset, buffer->bytes, &end))
		return -EOVERFLOW;
	if (!buffer->bytes || end > buffer->dmabuf->size)
		return -ERANGE;
	return 0;
}

/**
 * pdio_buffer_create - a buffer on a range of a dma-buf
 * @fd: the caller's descriptor of the dma-buf
 * @offset: first byte of it
 * @bytes: how many, 0 for all that follow
 *
 * Context: may sleep.
 * Return: the buffer, without an id yet, or ERR_PTR: -EBADF, -EINVAL if it isn't
 * a dma-buf or the range isn't made of pages, -EOVERFLOW, -ERANGE, -ENOMEM.
 */
struct pdio_buffer *pdio_buffer_create(int fd, u64 offset, u64 bytes)
{
	struct pdio_buffer *buffer;
	int ret;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->object.type = PDIO_OBJECT_BUFFER;
	buffer->object.retire = buffer_retire;
	buffer->owner = current_uid();
	buffer->offset = offset;
	mutex_init(&buffer->lock);
	mutex_init(&buffer->charge_lock);
	INIT_LIST_HEAD(&buffer->list);
	xa_init_flags(&buffer->attaches, XA_FLAGS_ACCOUNT);
	buffer->dmabuf = dma_buf_get(fd);
	if (IS_ERR(buffer->dmabuf)) {
		ret = PTR_ERR(buffer->dmabuf);
		goto err_free;
	}
	if (!bytes && offset < buffer->dmabuf->size)
		bytes = buffer->dmabuf->size - offset;
	buffer->bytes = bytes;
	buffer->writable = buffer->dmabuf->file->f_mode & FMODE_WRITE;
	ret = buffer_check(buffer);
	if (!ret)
		ret = pdio_drain_init(&buffer->object.drain, &buffer_ops);
	if (ret)
		goto err_put;
	return buffer;

err_put:
	dma_buf_put(buffer->dmabuf);
err_free:
	kfree(buffer);
	return ERR_PTR(ret);
}

/**
 * pdio_buffer_get - the buffer with an id, kept in use
 * @ctx: the set of ids
 * @id: the id
 *
 * Context: any.
 * Return: the buffer, to be given back by pdio_object_put(), or
 * ERR_PTR(-ENOENT).
 */
struct pdio_buffer *pdio_buffer_get(struct pdio_ctx *ctx, u32 id)
{
	struct pdio_object *object =
		pdio_object_get(ctx, id, PDIO_OBJECT_BUFFER);

	return IS_ERR(object) ? ERR_CAST(object) : to_pdio_buffer(object);
}

/**
 * pdio_buffer_provider - where a buffer's memory lies, if that is known
 * @buffer: the buffer
 *
 * Context: may sleep.
 * Return: the PCI function, with a reference for the caller as
 * pdio_provider_get() gives it, or NULL.
 */
struct pdio_provider *pdio_buffer_provider(struct pdio_buffer *buffer)
{
	struct pdio_provider *provider;

	mutex_lock(&buffer->charge_lock);
	provider = buffer->provider;
	if (provider)
		kref_get(&provider->ref);
	mutex_unlock(&buffer->charge_lock);
	return provider;
}

/**
 * pdio_buffer_charge - one more attachment keeps a buffer's memory pinned
 * @buffer: the buffer
 * @provider: where its memory lies
 *
 * The first one is charged to the buffer's owner, the others ride along.
 *
 * Context: may sleep.
 * Return: 0, -EDQUOT, -ENOMEM, or -EXDEV if the memory lies elsewhere than for
 * another attachment.
 */
int pdio_buffer_charge(struct pdio_buffer *buffer,
		       struct pdio_provider *provider)
{
	int ret = 0;

	mutex_lock(&buffer->charge_lock);
	if (!buffer->charges) {
		ret = pdio_quota_charge(provider, buffer->owner, buffer->bytes);
		if (!ret) {
			kref_get(&provider->ref);
			buffer->provider = provider;
		}
	} else if (buffer->provider != provider) {
		ret = -EXDEV;
	}
	if (!ret)
		buffer->charges++;
	mutex_unlock(&buffer->charge_lock);
	return ret;
}

/**
 * pdio_buffer_uncharge - undo pdio_buffer_charge()
 * @buffer: the buffer
 *
 * Context: may sleep.
 */
void pdio_buffer_uncharge(struct pdio_buffer *buffer)
{
	mutex_lock(&buffer->charge_lock);
	if (!--buffer->charges) {
		pdio_quota_uncharge(buffer->provider, buffer->owner,
				    buffer->bytes);
		pdio_provider_put(buffer->provider);
		buffer->provider = NULL;
	}
	mutex_unlock(&buffer->charge_lock);
}
