// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: parts of a BAR that have struct pages.
 *
 * Some GPU drivers make the pages themselves; those are used as they are. For
 * all others pdio adopts a part of the BAR with pci_p2pdma_add_resource(). That
 * can't be undone before the driver is unbound, and it hands the memory to an
 * allocator that anybody could draw from, although a GPU driver owns every byte
 * of it. So right after adopting, the window is taken out of that allocator and
 * the file through which user space could map it is removed. The memory has to
 * go back into the allocator before the driver is unbound, or unbinding would
 * wait for it forever.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernfs.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "compat.h"
#include "pdio.h"

/* What one struct page section is made of: no window starts or ends inside. */
#define WINDOW_MIN	SZ_2M
#define WINDOW_MAX	SZ_1G

static char *adopt = "lazy";
module_param(adopt, charp, 0444);
MODULE_PARM_DESC(adopt,
		 "how BAR memory gets struct pages: lazy (as needed), whole (the BAR at first use) or never");

/**
 * struct window_stray - pool memory pdio holds only to keep others off it
 * @node: in the provider's list
 * @va: as allocated
 * @bytes: as allocated
 */
struct window_stray {
	struct list_head node;
	void *va;
	size_t bytes;
};

static bool has_pages(phys_addr_t phys)
{
	struct dev_pagemap *pgmap = pdio_get_dev_pagemap(PHYS_PFN(phys));

	put_dev_pagemap(pgmap);
	return pgmap;
}

/* Whose allocator a provider's memory is offered by. */
enum pool_owner {
	POOL_NONE,
	POOL_OURS,
	POOL_FOREIGN,
};

/*
 * The pool's sysfs group tells whether there is a pool, and whether pdio made
 * it, maybe before it was last unloaded: nobody else removes "allocate".
 */
static enum pool_owner pool_owner(struct pci_dev *pdev)
{
	struct kernfs_node *group, *allocate;

	group = kernfs_find_and_get(pdev->dev.kobj.sd, "p2pmem");
	if (!group)
		return POOL_NONE;
	allocate = kernfs_find_and_get(group, "allocate");
	kernfs_put(allocate);
	kernfs_put(group);
	return allocate ? POOL_FOREIGN : POOL_OURS;
}

static void pool_close(struct pci_dev *pdev)
{
	const struct attribute allocate = { .name = "allocate" };

	sysfs_remove_file_from_group(&pdev->dev.kobj, &allocate, "p2pmem");
}

static void stray_free_locked(struct pdio_provider *provider, void *va,
			      size_t bytes)
{
	struct window_stray *stray, *next;

	lockdep_assert_held(&provider->lock);
	list_for_each_entry_safe(stray, next, &provider->stray, node) {
		if (stray->va + stray->bytes <= va || stray->va >= va + bytes)
			continue;
		list_del(&stray->node);
		pci_free_p2pmem(provider->pdev, stray->va, stray->bytes);
		kfree(stray);
	}
}

/*
 * Takes the window out of the pool. After a reload of the module the pool may
 * offer memory of earlier windows first: what isn't wanted is kept, so that each
 * turn leaves less of it, until its own window asks for it.
 */
static int pool_take_locked(struct pdio_provider *provider,
			    struct pdio_window *window)
{
	size_t bytes = window->end - window->start;
	struct window_stray *stray;
	void *va;

	lockdep_assert_held(&provider->lock);
	stray_free_locked(provider, window->va, bytes);
	for (;;) {
		va = pci_alloc_p2pmem(provider->pdev, bytes);
		if (!va)
			return -EBUSY;
		if (va == window->va) {
			window->pool = va;
			return 0;
		}
		stray = kzalloc(sizeof(*stray), GFP_KERNEL);
		if (!stray) {
			pci_free_p2pmem(provider->pdev, va, bytes);
			return -ENOMEM;
		}
		stray->va = va;
		stray->bytes = bytes;
		list_add(&stray->node, &provider->stray);
	}
}

static struct pdio_window *window_new(struct dev_pagemap *pgmap,
				      phys_addr_t start, phys_addr_t end)
{
	struct pdio_window *window;

	window = kzalloc(sizeof(*window), GFP_KERNEL);
	if (!window)
		return NULL;
	window->start = start;
	window->end = end;
	window->pgmap = pgmap;
	window->va = page_to_virt(pfn_to_page(PHYS_PFN(start)));
	return window;
}

/* A window on pages that are there already. */
static struct pdio_window *window_use_locked(struct pdio_provider *provider,
					     phys_addr_t phys, u32 *reason)
{
	struct dev_pagemap *pgmap = pdio_get_dev_pagemap(PHYS_PFN(phys));
	struct pdio_window *window;
	int i;

	lockdep_assert_held(&provider->lock);
	if (!pgmap)
		goto err_none;
	if (pgmap->type != MEMORY_DEVICE_PCI_P2PDMA)
		goto err_put;
	for (i = 0; i < pgmap->nr_range; i++) {
		const struct range *range = &pgmap->ranges[i];

		if (phys < range->start || phys > range->end)
			continue;
		window = window_new(pgmap, range->start, range->end + 1);
		if (!window) {
			put_dev_pagemap(pgmap);
			return ERR_PTR(-ENOMEM);
		}
		list_add_tail(&window->node, &provider->windows);
		return window;
	}
err_put:
	put_dev_pagemap(pgmap);
err_none:
	*reason = PDIO_REASON_NO_PAGES;
	return ERR_PTR(-EXDEV);
}

static void window_free_locked(struct pdio_provider *provider,
			       struct pdio_window *window)
{
	lockdep_assert_held(&provider->lock);
	list_del(&window->node);
	put_dev_pagemap(window->pgmap);
	if (window->pool)
		pci_free_p2pmem(provider->pdev, window->pool,
				window->end - window->start);
	kfree(window);
}

/*
 * A window on pages that are there. Pages that pdio made, now or before it was
 * last unloaded, are used only while nobody can get them from the pool.
 */
static struct pdio_window *window_open_locked(struct pdio_provider *provider,
					      phys_addr_t phys, u32 *reason)
{
	struct pdio_window *window;
	int ret;

	window = window_use_locked(provider, phys, reason);
	if (IS_ERR(window) || pool_owner(provider->pdev) != POOL_OURS)
		return window;
	ret = pool_take_locked(provider, window);
	if (!ret) {
		window->adopted = true;
		return window;
	}
	window_free_locked(provider, window);
	if (ret == -ENOMEM)
		return ERR_PTR(ret);
	*reason = PDIO_REASON_NO_PAGES;
	return ERR_PTR(-EXDEV);
}

/* The largest part of [*start, *end) around @phys that has no pages yet. */
static void clip_to_free(phys_addr_t phys, phys_addr_t *start, phys_addr_t *end)
{
	phys_addr_t low = ALIGN_DOWN(phys, WINDOW_MIN);
	phys_addr_t high = low + WINDOW_MIN;

	while (low > *start && !has_pages(low - WINDOW_MIN))
		low -= WINDOW_MIN;
	while (high < *end && !has_pages(high))
		high += WINDOW_MIN;
	*start = low;
	*end = high;
}

static int window_add_pages(struct pdio_provider *provider, int bar,
			    phys_addr_t start, phys_addr_t end)
{
	struct pci_dev *pdev = provider->pdev;
	int ret;

	ret = pci_p2pdma_add_resource(pdev, bar, end - start,
				      start - pci_resource_start(pdev, bar));
	/* Even a failed call may have made the pool and its file. */
	pool_close(pdev);
	return ret;
}

static struct pdio_window *window_adopt_locked(struct pdio_provider *provider,
					       int bar, phys_addr_t start,
					       phys_addr_t end, u32 *reason)
{
	int ret;

	ret = window_add_pages(provider, bar, start, end);
	if (ret == -ENOMEM)
		return ERR_PTR(ret);
	if (ret) {
		*reason = PDIO_REASON_MEMTYPE;
		return ERR_PTR(-EXDEV);
	}
	return window_open_locked(provider, start, reason);
}

/* What to adopt for @bytes at @phys: a naturally aligned block of the BAR. */
static void window_plan(struct pci_dev *pdev, int bar, phys_addr_t phys,
			u64 bytes, phys_addr_t *start, phys_addr_t *end)
{
	phys_addr_t low = pci_resource_start(pdev, bar);
	phys_addr_t high = pci_resource_end(pdev, bar) + 1;
	u64 size = clamp_t(u64, roundup_pow_of_two(bytes), WINDOW_MIN,
			   WINDOW_MAX);

	*start = low;
	*end = ALIGN_DOWN(high, WINDOW_MIN);
	if (strcmp(adopt, "whole")) {
		*start = max(low, ALIGN_DOWN(phys, size));
		*end = min(*end, ALIGN_DOWN(phys, size) + size);
	}
	clip_to_free(phys, start, end);
}

static struct pdio_window *window_make_locked(struct pdio_provider *provider,
					      int bar, phys_addr_t phys,
					      u64 bytes, u32 *reason)
{
	struct pci_dev *pdev = provider->pdev;
	struct pdio_window *window;
	phys_addr_t start, end;

	lockdep_assert_held(&provider->lock);
	if (!strcmp(adopt, "never")) {
		*reason = PDIO_REASON_POLICY;
		return ERR_PTR(-EXDEV);
	}
	if (pool_owner(pdev) == POOL_FOREIGN ||
	    !IS_ALIGNED(pci_resource_start(pdev, bar), WINDOW_MIN) ||
	    ALIGN(phys + 1, WINDOW_MIN) > pci_resource_end(pdev, bar) + 1) {
		*reason = PDIO_REASON_NO_PAGES;
		return ERR_PTR(-EXDEV);
	}
	window_plan(pdev, bar, phys, bytes, &start, &end);
	window = window_adopt_locked(provider, bar, start, end, reason);
	if (!IS_ERR(window) || end - start == WINDOW_MIN)
		return window;
	/* Something in the neighbourhood is in the way: only what is needed. */
	start = ALIGN_DOWN(phys, WINDOW_MIN);
	return window_adopt_locked(provider, bar, start, start + WINDOW_MIN,
				   reason);
}

/**
 * pdio_window_start - check the policy that the module was loaded with
 *
 * Context: module init.
 * Return: 0 or -EINVAL.
 */
int pdio_window_start(void)
{
	if (!strcmp(adopt, "lazy") || !strcmp(adopt, "whole") ||
	    !strcmp(adopt, "never"))
		return 0;
	pr_err("adopt=%s: not one of lazy, whole, never\n", adopt);
	return -EINVAL;
}

/**
 * pdio_window_get - the window at a physical address, adopted if need be
 * @provider: the provider
 * @bar: number of its BAR that @phys lies in
 * @phys: the address
 * @bytes: how much memory of the buffer is likely to follow, as a hint
 * @reason: why there is none
 *
 * Context: may sleep; the caller holds the provider's device lock with a driver
 * bound, see pdio_notify_lock_bound(). Takes the provider's lock.
 * Return: the window, to be given back by pdio_window_put(), ERR_PTR(-EXDEV)
 * with @reason set, or ERR_PTR(-ENOMEM).
 */
struct pdio_window *pdio_window_get(struct pdio_provider *provider, int bar,
				    phys_addr_t phys, u64 bytes, u32 *reason)
{
	struct pdio_window *window;

	device_lock_assert(&provider->pdev->dev);
	mutex_lock(&provider->lock);
	list_for_each_entry(window, &provider->windows, node)
		if (phys >= window->start && phys < window->end)
			goto found;
	if (has_pages(phys))
		window = window_open_locked(provider, phys, reason);
	else
		window = window_make_locked(provider, bar, phys, bytes, reason);
	if (IS_ERR(window))
		goto out;
found:
	window->users++;
out:
	mutex_unlock(&provider->lock);
	return window;
}

/**
 * pdio_window_put - an attachment no longer has memory in the window
 * @provider: the provider
 * @window: may be gone afterwards
 *
 * Pages that somebody else made are let go with the last user. Pages that pdio
 * made stay: they can't be unmade, and the next buffer needs them.
 *
 * Context: may sleep; takes the provider's lock.
 */
void pdio_window_put(struct pdio_provider *provider, struct pdio_window *window)
{
	mutex_lock(&provider->lock);
	if (!--window->users && !window->adopted)
		window_free_locked(provider, window);
	mutex_unlock(&provider->lock);
}

/**
 * pdio_window_drop_all - let go of all windows of a provider
 * @provider: the provider, without attachments
 *
 * Context: may sleep; the provider's driver is still bound, or being unbound
 * but not past this.
 */
void pdio_window_drop_all(struct pdio_provider *provider)
{
	struct pdio_window *window, *next;

	mutex_lock(&provider->lock);
	list_for_each_entry_safe(window, next, &provider->windows, node) {
		WARN_ON_ONCE(window->users);
		window_free_locked(provider, window);
	}
	stray_free_locked(provider, NULL, SIZE_MAX);
	mutex_unlock(&provider->lock);
}
