// SPDX-License-Identifier: GPL-2.0-only
/*
 * Providers: the PCI functions whose BARs hold buffers, and how an address
 * leads to one.
 *
 * A provider stays in the list from its first use until its driver is unbound
 * or the module goes: it owns the windows, whose struct pages outlive the
 * buffers they were made for.
 */
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "pdio.h"

static DEFINE_MUTEX(provider_lock);
static LIST_HEAD(provider_list);

static u64 largest_bar(struct pci_dev *pdev)
{
	u64 most = 0;
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if (pci_resource_flags(pdev, bar) & IORESOURCE_MEM)
			most = max_t(u64, most, pci_resource_len(pdev, bar));
	return most;
}

static struct pdio_provider *provider_new_locked(struct pci_dev *pdev)
{
	struct pdio_provider *provider;

	lockdep_assert_held(&provider_lock);
	provider = kzalloc(sizeof(*provider), GFP_KERNEL);
	if (!provider)
		return NULL;
	kref_init(&provider->ref);
	mutex_init(&provider->lock);
	INIT_LIST_HEAD(&provider->windows);
	INIT_LIST_HEAD(&provider->stray);
	INIT_LIST_HEAD(&provider->accounts);
	provider->pdev = pci_dev_get(pdev);
	provider->bar_bytes = largest_bar(pdev);
	list_add_tail(&provider->node, &provider_list);
	return provider;
}

/**
 * pdio_provider_get - the provider of a PCI function
 * @pdev: the function
 *
 * Context: may sleep.
 * Return: the provider with a reference for the caller, or ERR_PTR(-ENOMEM).
 */
struct pdio_provider *pdio_provider_get(struct pci_dev *pdev)
{
	struct pdio_provider *provider;

	mutex_lock(&provider_lock);
	list_for_each_entry(provider, &provider_list, node)
		if (provider->pdev == pdev)
			goto found;
	provider = provider_new_locked(pdev);
	if (!provider) {
		provider = ERR_PTR(-ENOMEM);
		goto out;
	}
found:
	kref_get(&provider->ref);
out:
	mutex_unlock(&provider_lock);
	return provider;
}

static void provider_free(struct kref *ref)
{
	struct pdio_provider *provider =
		container_of(ref, struct pdio_provider, ref);

	WARN_ON_ONCE(!list_empty(&provider->windows) ||
		     !list_empty(&provider->accounts));
	pci_dev_put(provider->pdev);
	mutex_destroy(&provider->lock);
	kfree(provider);
}

/**
 * pdio_provider_put - give a reference back
 * @provider: may be gone afterwards
 *
 * Context: may sleep.
 */
void pdio_provider_put(struct pdio_provider *provider)
{
	kref_put(&provider->ref, provider_free);
}

/**
 * pdio_provider_find_bar - the memory BAR at a physical address
 * @phys: the address
 * @bar: number of the BAR
 *
 * Context: may sleep.
 * Return: the function with a reference for the caller, or NULL.
 */
struct pci_dev *pdio_provider_find_bar(phys_addr_t phys, int *bar)
{
	struct pci_dev *pdev = NULL;
	int i;

	for_each_pci_dev(pdev) {
		for (i = 0; i < PCI_STD_NUM_BARS; i++) {
			const struct resource *res = &pdev->resource[i];

			if (!(res->flags & IORESOURCE_MEM) || !res->parent ||
			    phys < res->start || phys > res->end)
				continue;
			*bar = i;
			return pdev;
		}
	}
	return NULL;
}

/**
 * pdio_provider_find_bus - the memory BAR at a PCI bus address
 * @bus: a bus below the host bridge that the address belongs to
 * @addr: the address
 * @phys: the same place as a physical address
 *
 * Context: may sleep.
 * Return: the function with a reference for the caller, or NULL.
 */
struct pci_dev *pdio_provider_find_bus(struct pci_bus *bus, dma_addr_t addr,
				       phys_addr_t *phys)
{
	struct pci_bus_region region = { .start = addr, .end = addr };
	struct resource res = { .flags = IORESOURCE_MEM };
	struct pci_dev *pdev;
	int bar;

	pcibios_bus_to_resource(bus, &res, &region);
	pdev = pdio_provider_find_bar(res.start, &bar);
	if (!pdev)
		return NULL;
	/* Another host bridge may use the same bus address. */
	if (pci_find_host_bridge(pdev->bus) != pci_find_host_bridge(bus)) {
		pci_dev_put(pdev);
		return NULL;
	}
	*phys = res.start;
	return pdev;
}

static bool driven_by(struct pci_dev *pdev, const struct module *owner)
{
	bool ret;

	/* One that is just being bound or unbound has nothing to tell. */
	if (!device_trylock(&pdev->dev))
		return false;
	ret = pdev->dev.driver && pdev->dev.driver->owner == owner;
	device_unlock(&pdev->dev);
	return ret;
}

/**
 * pdio_provider_out_of_reach - can a client reach nothing that a module drives?
 * @owner: the module; NULL for what is built in, of which nothing is known
 * @client: the client's device
 *
 * An exporter that refuses a device, or gives it host memory, doesn't say why.
 * But the PCI functions that its module drives are known, and so is whether the
 * device can reach them.
 *
 * Context: may sleep.
 * Return: true if there are such functions and the client can reach none.
 */
bool pdio_provider_out_of_reach(const struct module *owner,
				struct device *client)
{
	struct pci_dev *pdev = NULL;
	bool any = false;

	if (!owner)
		return false;
	for_each_pci_dev(pdev) {
		if (!driven_by(pdev, owner))
			continue;
		any = true;
		if (pci_p2pdma_distance(pdev, client, false) >= 0) {
			pci_dev_put(pdev);
			return false;
		}
	}
	return any;
}

static void provider_forget(struct pdio_provider *provider)
{
	pdio_window_drop_all(provider);
	pdio_provider_put(provider);
}

static int provider_unbind(struct notifier_block *nb, unsigned long step,
			   void *pdev)
{
	struct pdio_provider *provider;

	if (step != PDIO_UNBIND_FORGET)
		return NOTIFY_DONE;
	mutex_lock(&provider_lock);
	list_for_each_entry(provider, &provider_list, node) {
		if (provider->pdev == pdev) {
			list_del(&provider->node);
			mutex_unlock(&provider_lock);
			provider_forget(provider);
			return NOTIFY_OK;
		}
	}
	mutex_unlock(&provider_lock);
	return NOTIFY_DONE;
}

static struct notifier_block provider_nb = { .notifier_call = provider_unbind };

/**
 * pdio_provider_start - begin to follow the providers' drivers
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int pdio_provider_start(void)
{
	return pdio_notify_subscribe(&provider_nb);
}

/**
 * pdio_provider_stop - forget all providers
 *
 * Gives back what was taken out of their allocators. This has to happen while
 * unbinding is still listened to: a driver that is unbound meanwhile waits, with
 * its device lock held, until that is done.
 *
 * Context: module exit, when there are no attachments any more.
 */
void pdio_provider_stop(void)
{
	struct pdio_provider *provider;

	for (;;) {
		mutex_lock(&provider_lock);
		provider = list_first_entry_or_null(&provider_list,
						    struct pdio_provider, node);
		if (provider)
			list_del(&provider->node);
		mutex_unlock(&provider_lock);
		if (!provider)
			break;
		provider_forget(provider);
	}
	pdio_notify_unsubscribe(&provider_nb);
}
