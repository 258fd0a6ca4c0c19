// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells how the fake GPUs and the NVMe drives are connected and how the kernel
 * routes DMA between them, so that a test bed which isn't what it claims to be
 * is noticed at boot. Nothing is adopted and no state stays behind.
 *
 * /sys/module/p2pprobe/parameters/pairs has a line for each pair, worked out
 * anew at each read:
 *	GPU NVME SHAPE REDIRECT IOMMU TYPE DISTANCE
 *
 * SHAPE and REDIRECT come from the hardware: PCIe port types and ACS control
 * registers. TYPE is the kernel's mapping type: pci_p2pdma_distance() works it
 * out but returns only the distance, so a return probe catches it on its way.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/sched.h>
#include <linux/sysfs.h>

#define IVSHMEM_DEVICE	0x1110
#define ACS_REDIRECTS	(PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_EC)

static DEFINE_MUTEX(probe_lock);
static struct task_struct *probe_task;
static long probe_type;

static int probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (current == READ_ONCE(probe_task))
		probe_type = (int)regs_return_value(regs);
	return 0;
}

static struct kretprobe map_type_probe = {
	.kp.symbol_name = "calc_map_type_and_dist",
	.handler = probe_return,
};

static const char *type_name(long type)
{
	switch (type) {
	case PCI_P2PDMA_MAP_NOT_SUPPORTED:
		return "NOT_SUPPORTED";
	case PCI_P2PDMA_MAP_BUS_ADDR:
		return "BUS_ADDR";
	case PCI_P2PDMA_MAP_THRU_HOST_BRIDGE:
		return "THRU_HOST_BRIDGE";
	}
	return "UNKNOWN";
}

/* Returns the kernel's mapping type by name; "none" without P2PDMA. */
static const char *pair_type(struct pci_dev *gpu, struct pci_dev *nvme,
			     int *distance)
{
	*distance = -1;
	if (!IS_ENABLED(CONFIG_PCI_P2PDMA))
		return "none";
	probe_type = -1;
	WRITE_ONCE(probe_task, current);
	*distance = pci_p2pdma_distance(gpu, &nvme->dev, false);
	WRITE_ONCE(probe_task, NULL);
	return type_name(probe_type);
}

/* The lowest bridge above both, or NULL. */
static struct pci_dev *pair_bridge(struct pci_dev *gpu, struct pci_dev *nvme)
{
	struct pci_dev *a, *b;

	for (a = pci_upstream_bridge(gpu); a; a = pci_upstream_bridge(a))
		for (b = pci_upstream_bridge(nvme); b; b = pci_upstream_bridge(b))
			if (a == b)
				return a;
	return NULL;
}

static bool port_is(struct pci_dev *dev, int type)
{
	struct pci_dev *port = pci_upstream_bridge(dev);

	return port && pci_pcie_type(port) == type;
}

static const char *pair_shape(struct pci_dev *gpu, struct pci_dev *nvme,
			      struct pci_dev *bridge)
{
	if (!bridge && port_is(gpu, PCI_EXP_TYPE_ROOT_PORT) &&
	    port_is(nvme, PCI_EXP_TYPE_ROOT_PORT))
		return "ports";
	if (bridge && pci_pcie_type(bridge) == PCI_EXP_TYPE_UPSTREAM &&
	    port_is(gpu, PCI_EXP_TYPE_DOWNSTREAM) &&
	    port_is(nvme, PCI_EXP_TYPE_DOWNSTREAM))
		return "switch";
	return "other";
}

/* Whether a port above @dev and below @end sends peer traffic up to the root. */
static bool path_redirects(struct pci_dev *dev, struct pci_dev *end)
{
	struct pci_dev *port;
	u16 pos, ctrl;

	for (port = pci_upstream_bridge(dev); port && port != end;
	     port = pci_upstream_bridge(port)) {
		pos = pci_find_ext_capability(port, PCI_EXT_CAP_ID_ACS);
		if (!pos)
			continue;
		pci_read_config_word(port, pos + PCI_ACS_CTRL, &ctrl);
		if (ctrl & ACS_REDIRECTS)
			return true;
	}
	return false;
}

static bool translated(struct pci_dev *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(&dev->dev);

	return domain && (domain->type & __IOMMU_DOMAIN_PAGING);
}

static int pair_print(char *buf, int at, struct pci_dev *gpu,
		      struct pci_dev *nvme)
{
	struct pci_dev *bridge = pair_bridge(gpu, nvme);
	const char *type;
	int distance;

	type = pair_type(gpu, nvme, &distance);
	return sysfs_emit_at(buf, at, "%s %s %s %s %s %s %d\n", pci_name(gpu),
			     pci_name(nvme), pair_shape(gpu, nvme, bridge),
			     path_redirects(gpu, bridge) ||
			     path_redirects(nvme, bridge) ? "redirect" : "straight",
			     translated(gpu) || translated(nvme) ? "iommu" : "no-iommu",
			     type, distance);
}

static int pairs_get(char *buf, const struct kernel_param *kp)
{
	struct pci_dev *gpu = NULL, *nvme;
	int at = 0;

	mutex_lock(&probe_lock);
	while ((gpu = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET,
				     IVSHMEM_DEVICE, gpu))) {
		nvme = NULL;
		while ((nvme = pci_get_class(PCI_CLASS_STORAGE_EXPRESS, nvme)))
			at += pair_print(buf, at, gpu, nvme);
	}
	mutex_unlock(&probe_lock);
	return at;
}

static const struct kernel_param_ops pairs_ops = {
	.get = pairs_get,
};

module_param_cb(pairs, &pairs_ops, NULL, 0444);
MODULE_PARM_DESC(pairs, "how each GPU and NVMe drive are connected");

static int __init p2pprobe_init(void)
{
	int ret;

	if (!IS_ENABLED(CONFIG_PCI_P2PDMA))
		return 0;
	ret = register_kretprobe(&map_type_probe);
	if (ret)
		pr_err("cannot probe %s: %d\n", map_type_probe.kp.symbol_name,
		       ret);
	return ret;
}

static void __exit p2pprobe_exit(void)
{
	if (IS_ENABLED(CONFIG_PCI_P2PDMA))
		unregister_kretprobe(&map_type_probe);
}

module_init(p2pprobe_init);
module_exit(p2pprobe_exit);

MODULE_DESCRIPTION("Reads P2PDMA topology and mapping types for the test beds");
MODULE_LICENSE("GPL");
