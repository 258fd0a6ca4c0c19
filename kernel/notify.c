// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI function loses its driver: the one piece of news that has to travel up.
 *
 * The kernel tells it before the driver's remove runs, with the device lock
 * held. The subscribers are called twice, once a step of
 * &enum pdio_unbind, so that the order between them doesn't depend on who
 * subscribed first.
 */
#include <linux/delay.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>

#include "pdio.h"

/* How long a device that is being reset or bound is waited for. */
#define LOCK_TRIES	200
#define LOCK_PAUSE_MS	5

static BLOCKING_NOTIFIER_HEAD(unbind_chain);

static int notify_bus(struct notifier_block *nb, unsigned long event,
		      void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (event != BUS_NOTIFY_UNBIND_DRIVER)
		return NOTIFY_DONE;
	blocking_notifier_call_chain(&unbind_chain, PDIO_UNBIND_DRAIN, pdev);
	blocking_notifier_call_chain(&unbind_chain, PDIO_UNBIND_FORGET, pdev);
	return NOTIFY_OK;
}

static struct notifier_block notify_bus_block = {
	.notifier_call = notify_bus,
};

/**
 * pdio_notify_lock_bound - keep a function's driver bound
 * @pdev: the function
 *
 * What is entered into a list of uses while this is held will be seen by the
 * unbinding: that holds the same lock from before it tells until the driver is
 * gone. The lock is tried, never waited for: drivers hold it while they wait for
 * their memory to be let go.
 *
 * Context: may sleep, up to a second. The caller calls device_unlock() later.
 * Return: 0 with the device lock held, -ENODEV if there is no driver, -EBUSY if
 * the function is busy being bound, unbound or reset, or -EINTR.
 */
int pdio_notify_lock_bound(struct pci_dev *pdev)
{
	int tries;

	for (tries = 0; !device_trylock(&pdev->dev); tries++) {
		if (tries == LOCK_TRIES)
			return -EBUSY;
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(LOCK_PAUSE_MS);
	}
	if (!pdev->dev.driver) {
		device_unlock(&pdev->dev);
		return -ENODEV;
	}
	return 0;
}

/**
 * pdio_notify_subscribe - hear of PCI functions that lose their driver
 * @nb: called with a step of &enum pdio_unbind and the struct pci_dev
 *
 * Context: may sleep. @nb is called with the function's device lock held.
 * Return: 0 or a negative errno.
 */
int pdio_notify_subscribe(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&unbind_chain, nb);
}

/**
 * pdio_notify_unsubscribe - undo pdio_notify_subscribe()
 * @nb: not called any more on return
 *
 * Context: may sleep.
 */
void pdio_notify_unsubscribe(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&unbind_chain, nb);
}

/**
 * pdio_notify_start - begin to listen to the PCI bus
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int pdio_notify_start(void)
{
	return bus_register_notifier(&pci_bus_type, &notify_bus_block);
}

/**
 * pdio_notify_stop - undo pdio_notify_start()
 *
 * Context: module exit, after what was held on any function was dropped.
 */
void pdio_notify_stop(void)
{
	bus_unregister_notifier(&pci_bus_type, &notify_bus_block);
}
