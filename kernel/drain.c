// SPDX-License-Identifier: GPL-2.0-only
/*
 * Things in use, and their orderly end.
 *
 * Memory can be taken from under pdio at any time and from nearly any context:
 * an exporter invalidates with its dma_resv lock held, a device is pulled, a
 * process is killed. What all of these need is the same: no new use, wait for
 * the uses in progress, then give the thing up in a context that may sleep.
 * This is that, once, for every object of the module.
 *
 * Nothing here waits except pdio_drain_wait*() and pdio_drain_stop().
 */
#include <linux/percpu-refcount.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>

#include "pdio.h"

#define DRAIN_KILLED 0

static struct workqueue_struct *drain_wq;

/* Structures not freed yet, so that the module's code outlives them. */
static atomic_t drain_live = ATOMIC_INIT(0);

static void drain_free_rcu(struct rcu_head *rcu)
{
	struct pdio_drain *drain = container_of(rcu, struct pdio_drain, rcu);

	percpu_ref_exit(&drain->users);
	drain->ops->free(drain);
	if (atomic_dec_and_test(&drain_live))
		wake_up_var(&drain_live);
}

static void drain_free(struct kref *memory)
{
	struct pdio_drain *drain =
		container_of(memory, struct pdio_drain, memory);

	/* Lock-free lookups may still be about to try the users reference. */
	call_rcu(&drain->rcu, drain_free_rcu);
}

static void drain_work(struct work_struct *work)
{
	struct pdio_drain *drain = container_of(work, struct pdio_drain, work);

	drain->ops->release(drain);
	complete_all(&drain->done);
	pdio_drain_drop(drain);
}

static void drain_unused(struct percpu_ref *users)
{
	struct pdio_drain *drain =
		container_of(users, struct pdio_drain, users);

	queue_work(drain_wq, &drain->work);
}

/**
 * pdio_drain_init - make a thing usable
 * @drain: to initialise
 * @ops: how it ends
 *
 * From here on the only way to free it is pdio_drain_kill().
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int pdio_drain_init(struct pdio_drain *drain, const struct pdio_drain_ops *ops)
{
	int ret;

	ret = percpu_ref_init(&drain->users, drain_unused, 0,
			      GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	INIT_WORK(&drain->work, drain_work);
	init_completion(&drain->done);
	kref_init(&drain->memory);
	drain->flags = 0;
	drain->ops = ops;
	atomic_inc(&drain_live);
	return 0;
}

/**
 * pdio_drain_kill - let no new use begin
 * @drain: the thing
 *
 * Once the uses in progress have ended it is released, then freed. Killing
 * twice is the same as killing once.
 *
 * Context: any that percpu_ref_kill() allows, spinlocks held too.
 */
void pdio_drain_kill(struct pdio_drain *drain)
{
	if (!test_and_set_bit(DRAIN_KILLED, &drain->flags))
		percpu_ref_kill(&drain->users);
}

/**
 * pdio_drain_hold - keep the structure, not the thing
 * @drain: whose memory to keep, so that it can be waited for
 *
 * Context: any; the caller knows that the structure still exists.
 */
void pdio_drain_hold(struct pdio_drain *drain)
{
	kref_get(&drain->memory);
}

/**
 * pdio_drain_drop - undo pdio_drain_hold()
 * @drain: may be gone afterwards
 *
 * Context: any.
 */
void pdio_drain_drop(struct pdio_drain *drain)
{
	kref_put(&drain->memory, drain_free);
}

/**
 * pdio_drain_wait - wait until a killed thing was released
 * @drain: held by pdio_drain_hold()
 *
 * Takes as long as the longest use in progress: that is one request to the
 * storage, with its timeouts.
 *
 * Context: may sleep; no lock that a release takes may be held.
 */
void pdio_drain_wait(struct pdio_drain *drain)
{
	wait_for_completion(&drain->done);
}

/**
 * pdio_drain_wait_killable - pdio_drain_wait() that a fatal signal ends
 * @drain: held by pdio_drain_hold()
 *
 * Context: as pdio_drain_wait().
 * Return: 0, or -EINTR if it isn't released yet.
 */
int pdio_drain_wait_killable(struct pdio_drain *drain)
{
	return wait_for_completion_killable(&drain->done) ? -EINTR : 0;
}

/**
 * pdio_drain_start - make ready for pdio_drain_init()
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int pdio_drain_start(void)
{
	drain_wq = alloc_workqueue("pdio", WQ_UNBOUND, 0);
	return drain_wq ? 0 : -ENOMEM;
}

/**
 * pdio_drain_stop - wait until every structure is freed
 *
 * A call that was killed while it waited leaves its object to end by itself,
 * which can be after the last descriptor was closed.
 *
 * Context: module exit, after everything was killed.
 */
void pdio_drain_stop(void)
{
	wait_var_event(&drain_live, !atomic_read(&drain_live));
	/* The last callback may still be on its way out of this module. */
	rcu_barrier();
	destroy_workqueue(drain_wq);
}
