// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake GPU: binds QEMU's ivshmem-plain, whose second BAR is host memory, as
 * a GPU driver would bind a GPU, and gives it a node. Its BAR is mapped
 * write-combined before any importer sees it, and it may be unbound, removed or
 * reset at any time.
 */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>

#include "fakegpu_priv.h"

#define IVSHMEM_VENDOR	0x1af4
#define IVSHMEM_DEVICE	0x1110
#define IVSHMEM_BAR	2
#define MAX_DEVICES	64

static const struct pci_device_id fakegpu_ids[] = {
	{ PCI_DEVICE(IVSHMEM_VENDOR, IVSHMEM_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, fakegpu_ids);

/* Numbers in use; guarded by index_lock. */
static DECLARE_BITMAP(indexes, MAX_DEVICES);
static DEFINE_MUTEX(index_lock);

/**
 * fakegpu_dev_create - make the state of a device
 * @pdev: the function; gets a reference
 * @bar: number of the memory BAR
 * @cmb: memory comes from the pool of the function's driver
 *
 * Return: a device with one reference, or an error pointer.
 */
struct fakegpu_dev *fakegpu_dev_create(struct pci_dev *pdev, int bar, bool cmb)
{
	struct fakegpu_dev *dev;

	dev = kzalloc_obj(*dev);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	kref_init(&dev->kref);
	init_rwsem(&dev->io_lock);
	init_rwsem(&dev->reset_lock);
	mutex_init(&dev->mem_lock);
	spin_lock_init(&dev->bo_lock);
	INIT_LIST_HEAD(&dev->bos);
	dev->index = -1;
	dev->cmb = cmb;
	dev->bar = bar;
	dev->size = pci_resource_len(pdev, bar);
	dev->phys = pci_resource_start(pdev, bar);
	dev->bus = pci_bus_address(pdev, bar);
	if (!cmb) {
		dev->bitmap = kvcalloc(BITS_TO_LONGS(dev->size >> PAGE_SHIFT),
				       sizeof(long), GFP_KERNEL);
		if (!dev->bitmap) {
			kfree(dev);
			return ERR_PTR(-ENOMEM);
		}
	}
	dev->pdev = pci_dev_get(pdev);
	return dev;
}

/**
 * fakegpu_dev_get - take a reference
 * @dev: a device of which the caller has one
 */
void fakegpu_dev_get(struct fakegpu_dev *dev)
{
	kref_get(&dev->kref);
}

static void dev_release(struct kref *kref)
{
	struct fakegpu_dev *dev = container_of(kref, struct fakegpu_dev, kref);

	pci_dev_put(dev->pdev);
	kvfree(dev->bitmap);
	kfree(dev);
}

/**
 * fakegpu_dev_put - drop a reference; the last frees the device
 * @dev: a device
 */
void fakegpu_dev_put(struct fakegpu_dev *dev)
{
	kref_put(&dev->kref, dev_release);
}

/**
 * fakegpu_dev_kill - the function goes away
 * @dev: a device
 *
 * On return nothing touches the device's memory any more, and importers have
 * unmapped it (or were named in the log).
 *
 * Context: may sleep, up to revoke_timeout_ms and what device work takes.
 */
void fakegpu_dev_kill(struct fakegpu_dev *dev)
{
	down_write(&dev->io_lock);
	WRITE_ONCE(dev->dead, true);
	up_write(&dev->io_lock);
	fakegpu_dev_revoke(dev, true);
}

static int node_open(struct inode *inode, struct file *file)
{
	/* misc_deregister() can't return while we are here. */
	struct miscdevice *misc = file->private_data;

	return fakegpu_file_open(file, container_of(misc, struct fakegpu_dev,
						    misc));
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.open = node_open,
	.release = fakegpu_file_release,
	.unlocked_ioctl = fakegpu_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* Functions of our kind with a lower PCI address, whether bound or not. */
static int pci_rank(struct pci_dev *pdev)
{
	u64 own = (u64)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
	struct pci_dev *other = NULL;
	int rank = 0;

	while ((other = pci_get_device(IVSHMEM_VENDOR, IVSHMEM_DEVICE, other)))
		if (((u64)pci_domain_nr(other->bus) << 16 |
		     pci_dev_id(other)) < own)
			rank++;
	return rank;
}

/*
 * The number is the function's rank by PCI address. Where hot-plug has changed
 * the ranks meanwhile, it is the next free one.
 */
static int index_take(struct fakegpu_dev *dev)
{
	unsigned int rank = min(pci_rank(dev->pdev), MAX_DEVICES - 1);
	unsigned long index;
	int ret = 0;

	mutex_lock(&index_lock);
	index = find_next_zero_bit(indexes, MAX_DEVICES, rank);
	if (index >= MAX_DEVICES)
		index = find_first_zero_bit(indexes, MAX_DEVICES);
	if (index >= MAX_DEVICES) {
		ret = -ENOSPC;
	} else {
		set_bit(index, indexes);
		dev->index = index;
	}
	mutex_unlock(&index_lock);
	return ret;
}

static void index_give(struct fakegpu_dev *dev)
{
	mutex_lock(&index_lock);
	clear_bit(dev->index, indexes);
	mutex_unlock(&index_lock);
}

static int node_create(struct fakegpu_dev *dev)
{
	int ret;

	ret = index_take(dev);
	if (ret)
		return ret;
	snprintf(dev->name, sizeof(dev->name), "fakegpu%d", dev->index);
	dev->misc.minor = MISC_DYNAMIC_MINOR;
	dev->misc.name = dev->name;
	dev->misc.mode = 0666;
	dev->misc.fops = &node_fops;
	dev->misc.parent = &dev->pdev->dev;
	ret = misc_register(&dev->misc);
	if (ret)
		index_give(dev);
	return ret;
}

/* The kernel's peer-to-peer code keeps its own state, freed after remove(). */
static void provider_find(struct fakegpu_dev *dev)
{
	if (FAKEGPU_HAVE_PHYS_VEC && !pcim_p2pdma_init(dev->pdev))
		dev->provider = pcim_p2pdma_provider(dev->pdev, dev->bar);
}

static int fakegpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fakegpu_dev *dev;
	int ret;

	if (!(pci_resource_flags(pdev, IVSHMEM_BAR) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, IVSHMEM_BAR) < PAGE_SIZE)
		return -ENODEV;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_region(pdev, IVSHMEM_BAR, "fakegpu");
	if (ret)
		goto err_disable;
	pci_set_master(pdev);

	dev = fakegpu_dev_create(pdev, IVSHMEM_BAR, false);
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto err_region;
	}
	dev->mem = ioremap_wc(dev->phys, dev->size);
	if (!dev->mem) {
		ret = -ENOMEM;
		goto err_put;
	}
	provider_find(dev);
	pci_set_drvdata(pdev, dev);
	ret = node_create(dev);
	if (ret)
		goto err_unmap;
	pci_info(pdev, "%s: %zu MiB of memory\n", dev->name, dev->size >> 20);
	return 0;

err_unmap:
	iounmap(dev->mem);
err_put:
	fakegpu_dev_put(dev);
err_region:
	pci_clear_master(pdev);
	pci_release_region(pdev, IVSHMEM_BAR);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void fakegpu_remove(struct pci_dev *pdev)
{
	struct fakegpu_dev *dev = pci_get_drvdata(pdev);

	misc_deregister(&dev->misc);
	index_give(dev);
	fakegpu_dev_kill(dev);
	iounmap(dev->mem);
	fakegpu_dev_put(dev);
	pci_clear_master(pdev);
	pci_release_region(pdev, IVSHMEM_BAR);
	pci_disable_device(pdev);
}

/* A reset of the function by someone else loses everything, too. */
static void fakegpu_reset_prepare(struct pci_dev *pdev)
{
	fakegpu_dev_revoke(pci_get_drvdata(pdev), false);
}

static const struct pci_error_handlers fakegpu_errors = {
	.reset_prepare = fakegpu_reset_prepare,
};

static struct pci_driver fakegpu_driver = {
	.name = "fakegpu",
	.id_table = fakegpu_ids,
	.probe = fakegpu_probe,
	.remove = fakegpu_remove,
	.err_handler = &fakegpu_errors,
};

static int __init fakegpu_init(void)
{
	int ret;

	ret = fakegpu_cmb_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&fakegpu_driver);
	if (ret)
		fakegpu_cmb_exit();
	return ret;
}

static void __exit fakegpu_exit(void)
{
	pci_unregister_driver(&fakegpu_driver);
	fakegpu_cmb_exit();
}

module_init(fakegpu_init);
module_exit(fakegpu_exit);

FAKEGPU_IMPORT_DMA_BUF();
MODULE_DESCRIPTION("Test driver: ivshmem as a GPU that exports dma-bufs");
MODULE_LICENSE("GPL");
