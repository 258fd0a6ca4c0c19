// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids: what a caller may name, private to one open file description.
 *
 * An id is reserved first, filled in when the call that makes the object can no
 * longer fail, and taken away before the object ends. So no other thread ever
 * finds an object that isn't whole.
 */
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "pdio.h"

/**
 * pdio_ctx_alloc - a new, empty set of ids
 *
 * Context: may sleep.
 * Return: the set, or NULL if out of memory.
 */
struct pdio_ctx *pdio_ctx_alloc(void)
{
	struct pdio_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return NULL;
	ctx->stats = alloc_percpu_gfp(struct pdio_stats, GFP_KERNEL_ACCOUNT);
	if (!ctx->stats) {
		kfree(ctx);
		return NULL;
	}
	xa_init_flags(&ctx->objects, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	return ctx;
}

/**
 * pdio_object_reserve - give a new object an id that nobody can use yet
 * @ctx: the set of ids
 * @object: its @drain is initialised
 *
 * Context: may sleep.
 * Return: 0, -ENOSPC if there are PDIO_MAX_OBJECTS already, or -ENOMEM.
 */
int pdio_object_reserve(struct pdio_ctx *ctx, struct pdio_object *object)
{
	int ret;

	if (atomic_inc_return(&ctx->nr) > PDIO_MAX_OBJECTS) {
		atomic_dec(&ctx->nr);
		return -ENOSPC;
	}
	/* Cyclic, so that a stale id names nothing rather than something else. */
	ret = xa_alloc_cyclic(&ctx->objects, &object->id, NULL,
			      XA_LIMIT(1, INT_MAX), &ctx->next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		atomic_dec(&ctx->nr);
		return ret == -EBUSY ? -ENOSPC : ret;
	}
	return 0;
}

/**
 * pdio_object_finalize - let an object's id be used
 * @ctx: the set of ids
 * @object: whole; belongs to the set from here on
 *
 * Context: any that may take the set's lock. Can't fail: the place is reserved.
 */
void pdio_object_finalize(struct pdio_ctx *ctx, struct pdio_object *object)
{
	void *old = xa_store(&ctx->objects, object->id, object, GFP_KERNEL);

	WARN_ON_ONCE(old);
}

static void object_end(struct pdio_object *object)
{
	if (object->retire)
		object->retire(object);
	pdio_drain_kill(&object->drain);
}

/**
 * pdio_object_abort - end an object whose id was never used
 * @ctx: the set of ids
 * @object: from pdio_object_reserve(); gone afterwards
 *
 * Context: may sleep.
 */
void pdio_object_abort(struct pdio_ctx *ctx, struct pdio_object *object)
{
	xa_erase(&ctx->objects, object->id);
	atomic_dec(&ctx->nr);
	pdio_drain_hold(&object->drain);
	object_end(object);
	pdio_drain_wait(&object->drain);
	pdio_drain_drop(&object->drain);
}

/**
 * pdio_object_get - the object with an id, kept in use
 * @ctx: the set of ids
 * @id: the id
 * @type: what it has to be
 *
 * Context: any.
 * Return: the object, to be given back by pdio_object_put(), or
 * ERR_PTR(-ENOENT).
 */
struct pdio_object *pdio_object_get(struct pdio_ctx *ctx, u32 id,
				    enum pdio_object_type type)
{
	struct pdio_object *object;

	rcu_read_lock();
	object = xa_load(&ctx->objects, id);
	if (!object || object->type != type ||
	    !pdio_drain_tryget(&object->drain))
		object = ERR_PTR(-ENOENT);
	rcu_read_unlock();
	return object;
}

/**
 * pdio_object_destroy - take an id away and wait for the object's end
 * @ctx: the set of ids
 * @id: the id
 *
 * Context: may sleep.
 * Return: 0, -ENOENT, or -EINTR if a fatal signal ended the wait; the object
 * ends all the same.
 */
int pdio_object_destroy(struct pdio_ctx *ctx, u32 id)
{
	struct pdio_object *object;
	int ret;

	xa_lock(&ctx->objects);
	object = xa_load(&ctx->objects, id);
	if (object) {
		__xa_erase(&ctx->objects, id);
		pdio_drain_hold(&object->drain);
	}
	xa_unlock(&ctx->objects);
	if (!object)
		return -ENOENT;
	atomic_dec(&ctx->nr);
	object_end(object);
	ret = pdio_drain_wait_killable(&object->drain);
	pdio_drain_drop(&object->drain);
	return ret;
}

/**
 * pdio_ctx_free - end all objects of a set, and the set
 * @ctx: not in use by any call
 *
 * Waits until all memory is unpinned, so that whoever closed the last
 * descriptor finds it free. No request is running then, so that takes a moment.
 *
 * Context: may sleep.
 */
void pdio_ctx_free(struct pdio_ctx *ctx)
{
	struct pdio_object *object;
	unsigned long id;

	/* All are told first and waited for then: their ends overlap. */
	xa_for_each(&ctx->objects, id, object) {
		pdio_drain_hold(&object->drain);
		object_end(object);
	}
	xa_for_each(&ctx->objects, id, object) {
		pdio_drain_wait(&object->drain);
		pdio_drain_drop(&object->drain);
	}
	xa_destroy(&ctx->objects);
	free_percpu(ctx->stats);
	kfree(ctx);
}
