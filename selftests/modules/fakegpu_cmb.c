// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/fakegpu-cmb: the controller memory buffer of an NVMe drive as a device
 * whose memory is exported. The NVMe driver owns the function and the pool of
 * its memory; we are only a user of the pool, and must be gone from it when the
 * NVMe driver is unbound.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pci-p2pdma.h>

#include "fakegpu_priv.h"

static char *cmb;
module_param(cmb, charp, 0444);
MODULE_PARM_DESC(cmb, "PCI address of an NVMe drive whose controller memory buffer becomes /dev/fakegpu-cmb");

/* The device while the NVMe driver is bound; guarded by cmb_lock. */
static struct fakegpu_dev *cmb_dev;
/* Taken inside the NVMe function's device lock. */
static DEFINE_MUTEX(cmb_lock);

static int bar_of_bus_address(struct pci_dev *pdev, u64 bus)
{
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if (pci_resource_flags(pdev, bar) & IORESOURCE_MEM &&
		    bus >= pci_bus_address(pdev, bar) &&
		    bus - pci_bus_address(pdev, bar) <
		    pci_resource_len(pdev, bar))
			return bar;
	return -ENODEV;
}

/* In which BAR the driver's pool lies; the function's lock is held. */
static int cmb_find_bar(struct pci_dev *pdev)
{
	void *vaddr;
	int bar;

	if (!pdev->dev.driver || strcmp(pdev->dev.driver->name, "nvme")) {
		pci_err(pdev, "fakegpu: not bound to the nvme driver\n");
		return -ENODEV;
	}
	vaddr = pci_alloc_p2pmem(pdev, PAGE_SIZE);
	if (!vaddr) {
		pci_err(pdev, "fakegpu: no controller memory buffer, or it is full\n");
		return -ENODEV;
	}
	bar = bar_of_bus_address(pdev, pci_p2pmem_virt_to_bus(pdev, vaddr));
	pci_free_p2pmem(pdev, vaddr, PAGE_SIZE);
	return bar;
}

static int cmb_bind(struct pci_dev *pdev)
{
	struct fakegpu_dev *dev;
	int bar;

	if (cmb_dev)
		return 0;
	bar = cmb_find_bar(pdev);
	if (bar < 0)
		return bar;
	dev = fakegpu_dev_create(pdev, bar, true);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	cmb_dev = dev;
	return 0;
}

static void cmb_unbind(void)
{
	struct fakegpu_dev *dev;

	mutex_lock(&cmb_lock);
	dev = cmb_dev;
	cmb_dev = NULL;
	mutex_unlock(&cmb_lock);
	if (dev) {
		fakegpu_dev_kill(dev);
		fakegpu_dev_put(dev);
	}
}

static struct pci_dev *cmb_function(void)
{
	struct device *d = bus_find_device_by_name(&pci_bus_type, NULL, cmb);

	if (!d) {
		pr_err("fakegpu: no PCI function %s\n", cmb);
		return ERR_PTR(-ENODEV);
	}
	return to_pci_dev(d);
}

static int cmb_open(struct inode *inode, struct file *file)
{
	struct pci_dev *pdev = cmb_function();
	int ret;

	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	/* The driver can't come or go meanwhile. */
	device_lock(&pdev->dev);
	mutex_lock(&cmb_lock);
	ret = cmb_bind(pdev);
	if (!ret)
		ret = fakegpu_file_open(file, cmb_dev);
	mutex_unlock(&cmb_lock);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	return ret;
}

static const struct file_operations cmb_fops = {
	.owner = THIS_MODULE,
	.open = cmb_open,
	.release = fakegpu_file_release,
	.unlocked_ioctl = fakegpu_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice cmb_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fakegpu-cmb",
	.mode = 0666,
	.fops = &cmb_fops,
};

static int cmb_notify(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	struct device *d = data;

	if (action == BUS_NOTIFY_UNBIND_DRIVER && !strcmp(dev_name(d), cmb))
		cmb_unbind();
	return NOTIFY_DONE;
}

/* Last of all, so that importers who watch the bus have let go before. */
static struct notifier_block cmb_notifier = {
	.notifier_call = cmb_notify,
	.priority = INT_MIN,
};

/**
 * fakegpu_cmb_init - make /dev/fakegpu-cmb, if the parameter names a drive
 *
 * Whether there is such a drive is seen when the node is opened.
 *
 * Return: 0 or a negative error.
 */
int fakegpu_cmb_init(void)
{
	int ret;

	if (!cmb || !*cmb)
		return 0;
	ret = bus_register_notifier(&pci_bus_type, &cmb_notifier);
	if (ret)
		return ret;
	ret = misc_register(&cmb_misc);
	if (ret)
		bus_unregister_notifier(&pci_bus_type, &cmb_notifier);
	return ret;
}

/**
 * fakegpu_cmb_exit - undo fakegpu_cmb_init()
 */
void fakegpu_cmb_exit(void)
{
	if (!cmb || !*cmb)
		return;
	misc_deregister(&cmb_misc);
	bus_unregister_notifier(&pci_bus_type, &cmb_notifier);
	cmb_unbind();
}
