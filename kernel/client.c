// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: the PCI functions that do the DMA for files.
 *
 * A client exists as long as a file or an attachment needs it. It stands for the
 * function, bound or not: who wants to use it with its driver asks
 * pdio_notify_lock_bound().
 */
#include <linux/blkdev.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "pdio.h"

static DEFINE_MUTEX(client_lock);
static LIST_HEAD(client_list);
static u32 client_next_id;

/**
 * pdio_client_get - the client of a PCI function
 * @pdev: the function
 *
 * Context: may sleep.
 * Return: the client with a reference for the caller, or ERR_PTR(-ENOMEM).
 */
struct pdio_client *pdio_client_get(struct pci_dev *pdev)
{
	struct pdio_client *client;

	mutex_lock(&client_lock);
	list_for_each_entry(client, &client_list, node) {
		if (client->pdev == pdev) {
			kref_get(&client->ref);
			goto out;
		}
	}
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client) {
		client = ERR_PTR(-ENOMEM);
		goto out;
	}
	kref_init(&client->ref);
	client->pdev = pci_dev_get(pdev);
	client->id = ++client_next_id;
	list_add_tail(&client->node, &client_list);
out:
	mutex_unlock(&client_lock);
	return client;
}

/**
 * pdio_client_hold - one more reference
 * @client: to which the caller has one already
 *
 * Context: any.
 */
void pdio_client_hold(struct pdio_client *client)
{
	kref_get(&client->ref);
}

static void client_free(struct kref *ref)
{
	struct pdio_client *client =
		container_of(ref, struct pdio_client, ref);

	list_del(&client->node);
	/* Taken by kref_put_mutex(). */
	mutex_unlock(&client_lock);
	pci_dev_put(client->pdev);
	kfree(client);
}

/**
 * pdio_client_put - give a reference back
 * @client: may be gone afterwards; NULL is allowed
 *
 * Context: may sleep.
 */
void pdio_client_put(struct pdio_client *client)
{
	if (client)
		kref_put_mutex(&client->ref, client_free, &client_lock);
}

/**
 * pdio_client_is_nvme - is a function driven by the kernel's NVMe driver?
 * @pdev: the function
 *
 * Context: any; the answer lasts as long as the device lock is held.
 * Return: true if it is.
 */
bool pdio_client_is_nvme(struct pci_dev *pdev)
{
	const struct device_driver *driver = READ_ONCE(pdev->dev.driver);

	return driver && !strcmp(driver->name, "nvme");
}

/**
 * pdio_client_find - the client behind a block device
 * @bdev: the block device, a partition too
 * @reason: why there is none
 *
 * Finds NVMe drives on PCIe with one path. Their disk is a child of the
 * controller, and the controller of the PCI function. The disk of a drive with
 * several paths, and of every virtual device, hangs elsewhere.
 *
 * Context: may sleep; the caller keeps @bdev open.
 * Return: the client with a reference for the caller, NULL with @reason set, or
 * ERR_PTR(-ENOMEM).
 */
struct pdio_client *pdio_client_find(struct block_device *bdev, u32 *reason)
{
	struct gendisk *disk = bdev->bd_disk;
	struct pdio_client *client = NULL;
	struct device *dev;

	*reason = PDIO_REASON_NO_CLIENT;
	/* A disk that is gone may still name a parent that no longer exists. */
	mutex_lock(&disk->open_mutex);
	if (!disk_live(disk))
		goto out;
	dev = disk_to_dev(disk)->parent;
	while (dev && !dev_is_pci(dev))
		dev = dev->parent;
	if (!dev)
		goto out;
	if (!pdio_client_is_nvme(to_pci_dev(dev))) {
		*reason = PDIO_REASON_TRANSPORT;
		goto out;
	}
	client = pdio_client_get(to_pci_dev(dev));
	*reason = PDIO_REASON_NONE;
out:
	mutex_unlock(&disk->open_mutex);
	return client;
}

/**
 * pdio_client_translated - does an IOMMU translate the client's DMA?
 * @client: the client
 *
 * Context: any.
 * Return: true if the addresses it is given are not physical ones.
 */
bool pdio_client_translated(const struct pdio_client *client)
{
	struct iommu_domain *domain =
		iommu_get_domain_for_dev(&client->pdev->dev);

	return domain && domain->type != IOMMU_DOMAIN_IDENTITY;
}
