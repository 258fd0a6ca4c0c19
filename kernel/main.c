// SPDX-License-Identifier: GPL-2.0-only
/*
 * Init and exit of the module, in one ordered table.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>

#include "compat.h"
#include "pdio.h"

static const struct {
	int (*start)(void);
	void (*stop)(void);
} rooms[] = {
	{ pdio_window_start, NULL },
	{ pdio_notify_start, pdio_notify_stop },
	{ pdio_provider_start, pdio_provider_stop },
	{ pdio_attach_start, pdio_attach_stop },
	/* Stops when all objects have ended, before what they stand on does. */
	{ pdio_drain_start, pdio_drain_stop },
	{ pdio_ioctl_start, pdio_ioctl_stop },
};

static void rooms_stop(int nr)
{
	while (nr--)
		if (rooms[nr].stop)
			rooms[nr].stop();
}

static int __init pdio_init(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		ret = rooms[i].start();
		if (ret) {
			rooms_stop(i);
			return ret;
		}
	}
	if (pdio_route_kernel_reason())
		pr_info("this kernel lacks what the direct route needs (CONFIG_PCI_P2PDMA): requests that demand it are refused\n");
	return 0;
}

static void __exit pdio_exit(void)
{
	rooms_stop(ARRAY_SIZE(rooms));
}

module_init(pdio_init);
module_exit(pdio_exit);

MODULE_DESCRIPTION("Peer-direct I/O between storage and device memory");
MODULE_LICENSE("GPL");
MODULE_VERSION(PDIO_VERSION);
MODULE_ALIAS("devname:pdio");
PDIO_IMPORT_NS_DMA_BUF();
