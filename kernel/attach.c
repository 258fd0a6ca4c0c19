// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: a buffer made ready for a client.
 *
 * Exporters decide per device, so there is one attachment for each client that
 * a buffer is used with, made when the two first meet. It holds all that keeps
 * the memory where it is while DMA runs: the pin, the mapping, the windows'
 * pages, the charge, the provider's power. All of it goes together, when the
 * attachment is killed and its last request has ended: by the exporter, by the
 * unbinding of either device, or because the buffer's id is taken away.
 *
 * An attachment is entered into the lists before anything is done for it, and
 * is taken out after everything was undone. So whoever marks a buffer and then
 * walks the list under attach_lock misses none: either the attachment is there
 * and is killed, or it comes later and sees the mark.
 */
#include <linux/dma-buf.h>
#include <linux/pci-p2pdma.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include "pdio.h"

static DEFINE_MUTEX(attach_lock);
static LIST_HEAD(attach_list);

static void attach_release(struct pdio_drain *drain)
{
	struct pdio_attach *attach =
		container_of(drain, struct pdio_attach, drain);
	struct pdio_buffer *buffer = attach->buffer;

	/* A newer one may have taken its place. */
	xa_cmpxchg(&buffer->attaches, attach->client->id, attach, NULL, 0);
	pdio_dmabuf_unmap(&attach->dmabuf);
	pdio_layout_free(attach);
	if (attach->charged)
		pdio_buffer_uncharge(buffer);
	if (attach->awake)
		pm_runtime_put(&attach->provider->pdev->dev);

	mutex_lock(&attach_lock);
	if (!list_empty(&attach->node)) {
		list_del_init(&attach->node);
		list_del_init(&attach->in_buffer);
	}
	mutex_unlock(&attach_lock);

	if (attach->provider)
		pdio_provider_put(attach->provider);
	pdio_client_put(attach->client);
	pdio_object_put(&buffer->object);
}

static void attach_free(struct pdio_drain *drain)
{
	kfree(container_of(drain, struct pdio_attach, drain));
}

static const struct pdio_drain_ops attach_ops = {
	.release = attach_release,
	.free = attach_free,
};

/* Called by the exporter, its reservation held: mark, and be gone. */
static void attach_revoked(struct pdio_dmabuf *dmabuf)
{
	struct pdio_attach *attach =
		container_of(dmabuf, struct pdio_attach, dmabuf);

	WRITE_ONCE(attach->buffer->revoked, true);
	pdio_drain_kill(&attach->drain);
}

static struct pdio_attach *attach_new(struct pdio_buffer *buffer,
				      struct pdio_client *client)
{
	struct pdio_attach *attach;

	attach = kzalloc(sizeof(*attach), GFP_KERNEL_ACCOUNT);
	if (!attach)
		return NULL;
	if (pdio_drain_init(&attach->drain, &attach_ops)) {
		kfree(attach);
		return NULL;
	}
	INIT_LIST_HEAD(&attach->node);
	INIT_LIST_HEAD(&attach->in_buffer);
	pdio_drain_get(&buffer->object.drain);
	attach->buffer = buffer;
	pdio_client_hold(client);
	attach->client = client;
	attach->dmabuf.dmabuf = buffer->dmabuf;
	attach->dmabuf.dir = buffer->writable ? DMA_BIDIRECTIONAL :
						DMA_TO_DEVICE;
	attach->dmabuf.on_revoke = attach_revoked;
	return attach;
}

static int attach_doomed(const struct pdio_buffer *buffer)
{
	if (READ_ONCE(buffer->revoked))
		return -ENODEV;
	return READ_ONCE(buffer->closed) ? -ENOENT : 0;
}

/* From here on everybody who takes memory or devices away finds it. */
static int attach_enlist(struct pdio_attach *attach)
{
	struct pdio_buffer *buffer = attach->buffer;
	struct device *dev = &attach->client->pdev->dev;
	int ret;

	ret = pdio_notify_lock_bound(attach->client->pdev);
	if (ret)
		return ret;
	/* Another driver than the one that the file's disk belonged to. */
	if (!pdio_client_is_nvme(attach->client->pdev)) {
		device_unlock(dev);
		return -ENODEV;
	}
	mutex_lock(&attach_lock);
	list_add_tail(&attach->node, &attach_list);
	list_add_tail(&attach->in_buffer, &buffer->list);
	mutex_unlock(&attach_lock);
	device_unlock(dev);
	return attach_doomed(buffer);
}

static int attach_check_distance(struct pdio_provider *provider,
				 struct pdio_client *client,
				 struct pdio_route_info *route)
{
	struct pci_dev *pdev = provider->pdev;

	route->provider_domain = pci_domain_nr(pdev->bus);
	route->provider_bdf = pci_dev_id(pdev);
	if (pci_p2pdma_distance(pdev, &client->pdev->dev, false) >= 0)
		return 0;
	route->map_type = PDIO_MAP_BLOCKED;
	route->reason = PDIO_REASON_HOST_BRIDGE;
	return -EXDEV;
}

/*
 * Exporters look at the distance too, and give host memory to a device that
 * can't reach theirs. So once the provider is known, such a device isn't even
 * attached.
 */
static int attach_check_known(struct pdio_attach *attach,
			      struct pdio_route_info *route)
{
	struct pdio_provider *provider = pdio_buffer_provider(attach->buffer);
	int ret;

	if (!provider)
		return 0;
	ret = attach_check_distance(provider, attach->client, route);
	pdio_provider_put(provider);
	return ret;
}

static int attach_wake(struct pdio_attach *attach)
{
	int ret = pm_runtime_resume_and_get(&attach->provider->pdev->dev);

	/* A device whose runtime power management is off is always awake. */
	if (ret < 0 && ret != -EACCES)
		return -EIO;
	attach->awake = ret >= 0;
	return 0;
}

/* Pages for the memory, while the provider's driver can't be unbound. */
static int attach_layout(struct pdio_attach *attach,
			 const struct pdio_runs *runs,
			 struct pdio_route_info *route)
{
	struct pdio_provider *provider;
	int ret;

	ret = pdio_notify_lock_bound(runs->pdev);
	if (ret == -ENODEV) {
		route->reason = PDIO_REASON_NO_DRIVER;
		return -EXDEV;
	}
	if (ret)
		return ret;
	provider = pdio_provider_get(runs->pdev);
	if (IS_ERR(provider)) {
		ret = PTR_ERR(provider);
		goto out;
	}
	mutex_lock(&attach_lock);
	attach->provider = provider;
	mutex_unlock(&attach_lock);

	ret = attach_check_distance(provider, attach->client, route);
	if (!ret)
		ret = pdio_buffer_charge(attach->buffer, provider);
	if (ret) {
		if (ret == -EDQUOT)
			route->reason = PDIO_REASON_QUOTA;
		else if (ret == -EXDEV && !route->reason)
			route->reason = PDIO_REASON_NO_PROVIDER;
		goto out;
	}
	attach->charged = true;
	ret = attach_wake(attach);
	if (!ret)
		ret = pdio_layout_build(attach, runs, &route->reason);
out:
	device_unlock(&runs->pdev->dev);
	return ret;
}

static int attach_decide(struct pdio_attach *attach,
			 struct pdio_route_info *route)
{
	int ret = pdio_layout_map_type(attach, &route->map_type);

	if (ret)
		return ret;
	if (route->map_type == PDIO_MAP_BLOCKED) {
		route->reason = PDIO_REASON_HOST_BRIDGE;
		return -EXDEV;
	}
	/*
	 * Behind a translating IOMMU a bus address is right only if no port on
	 * the way redirects it. Hardware that gets this wrong loses the data
	 * and reports success.
	 */
	if (route->map_type == PDIO_MAP_BUS_ADDR &&
	    pdio_client_translated(attach->client)) {
		route->reason = PDIO_REASON_UNVERIFIED;
		return -EXDEV;
	}
	route->route = PDIO_ROUTE_DIRECT;
	attach->route = *route;
	return 0;
}

/* What the exporter made of it, and the better reason behind that. */
static int attach_map(struct pdio_attach *attach, struct pdio_runs *runs,
		      struct pdio_route_info *route)
{
	struct pci_dev *pdev = attach->client->pdev;
	struct pdio_buffer *buffer = attach->buffer;
	int ret;

	ret = pdio_dmabuf_map(&attach->dmabuf, &pdev->dev, &route->reason);
	if (!ret)
		ret = pdio_dmabuf_resolve(&attach->dmabuf, pdev, buffer->offset,
					  buffer->bytes, runs, &route->reason);
	if (ret != -EXDEV)
		return ret;
	if ((route->reason == PDIO_REASON_EXPORTER_REFUSED ||
	     route->reason == PDIO_REASON_EXPORTER_RAM) &&
	    pdio_provider_out_of_reach(buffer->dmabuf->owner, &pdev->dev))
		route->reason = PDIO_REASON_HOST_BRIDGE;
	if (route->reason == PDIO_REASON_HOST_BRIDGE)
		route->map_type = PDIO_MAP_BLOCKED;
	return ret;
}

static int attach_prepare(struct pdio_attach *attach,
			  struct pdio_route_info *route)
{
	struct pdio_buffer *buffer = attach->buffer;
	struct pdio_runs runs = {};
	int ret;

	ret = attach_enlist(attach);
	if (ret)
		return ret;
	ret = attach_check_known(attach, route);
	if (ret)
		return ret;
	ret = attach_map(attach, &runs, route);
	if (!ret)
		ret = attach_layout(attach, &runs, route);
	pdio_runs_free(&runs);
	if (!ret)
		ret = attach_decide(attach, route);
	if (!ret)
		ret = xa_err(xa_store(&buffer->attaches, attach->client->id,
				      attach, GFP_KERNEL_ACCOUNT));
	/* Killed meanwhile: what was found may no longer be so. */
	ret = attach_doomed(buffer) ?: ret;
	if (ret == -ENODEV)
		route->reason = PDIO_REASON_REVOKED;
	return ret;
}

static struct pdio_attach *attach_find(struct pdio_buffer *buffer,
				       struct pdio_client *client)
{
	struct pdio_attach *attach;

	rcu_read_lock();
	attach = xa_load(&buffer->attaches, client->id);
	if (attach && !pdio_drain_tryget(&attach->drain))
		attach = NULL;
	rcu_read_unlock();
	return attach;
}

static struct pdio_attach *attach_make(struct pdio_buffer *buffer,
				       struct pdio_client *client,
				       struct pdio_route_info *route)
{
	struct pdio_attach *attach;
	int ret;

	if (mutex_lock_killable(&buffer->lock))
		return ERR_PTR(-EINTR);
	attach = attach_find(buffer, client);
	if (attach) {
		mutex_unlock(&buffer->lock);
		return attach;
	}
	attach = attach_new(buffer, client);
	if (!attach) {
		mutex_unlock(&buffer->lock);
		return ERR_PTR(-ENOMEM);
	}
	/* The caller's use: nothing is released under our hands. */
	pdio_drain_get(&attach->drain);
	ret = attach_prepare(attach, route);
	mutex_unlock(&buffer->lock);
	if (!ret)
		return attach;

	pdio_drain_hold(&attach->drain);
	pdio_drain_kill(&attach->drain);
	pdio_drain_put(&attach->drain);
	pdio_drain_wait(&attach->drain);
	pdio_drain_drop(&attach->drain);
	return ERR_PTR(ret);
}

/**
 * pdio_attach_get - a buffer, made ready for a client and kept in use
 * @buffer: the buffer, kept in use by the caller
 * @client: the client
 * @route: how requests between them are served; on failure, why they aren't
 *
 * The first call for a pair attaches, pins, maps and adopts; later ones take no
 * lock.
 *
 * Context: may sleep.
 * Return: the attachment, to be given back by pdio_attach_put(), or ERR_PTR:
 * -EXDEV if there is no direct route, -ENODEV if the memory or a device is gone,
 * -ENOENT if the buffer is being destroyed, -EDQUOT, -EBUSY, -EIO, -ENOMEM,
 * -EINTR, -ERESTARTSYS, each with @route->reason where there is one.
 */
struct pdio_attach *pdio_attach_get(struct pdio_buffer *buffer,
				    struct pdio_client *client,
				    struct pdio_route_info *route)
{
	struct pdio_attach *attach;

	if (READ_ONCE(buffer->revoked)) {
		route->reason = PDIO_REASON_REVOKED;
		return ERR_PTR(-ENODEV);
	}
	attach = attach_find(buffer, client);
	if (!attach)
		attach = attach_make(buffer, client, route);
	if (!IS_ERR(attach))
		*route = attach->route;
	return attach;
}

/**
 * pdio_attach_kill_all - end all attachments of a buffer
 * @buffer: marked before, so that no new ones are made
 *
 * Context: may sleep. Doesn't wait for their end.
 */
void pdio_attach_kill_all(struct pdio_buffer *buffer)
{
	struct pdio_attach *attach;

	mutex_lock(&attach_lock);
	list_for_each_entry(attach, &buffer->list, in_buffer)
		pdio_drain_kill(&attach->drain);
	mutex_unlock(&attach_lock);
}

static bool attach_uses_locked(const struct pdio_attach *attach,
			       const struct pci_dev *pdev)
{
	lockdep_assert_held(&attach_lock);
	return attach->client->pdev == pdev ||
	       (attach->provider && attach->provider->pdev == pdev);
}

/* All at once, so that their ends overlap. */
static void attach_kill_of(struct pci_dev *pdev)
{
	struct pdio_attach *attach;

	mutex_lock(&attach_lock);
	list_for_each_entry(attach, &attach_list, node) {
		if (!attach_uses_locked(attach, pdev))
			continue;
		/* Another client may come back; the memory won't. */
		if (attach->provider && attach->provider->pdev == pdev)
			WRITE_ONCE(attach->buffer->revoked, true);
		pdio_drain_kill(&attach->drain);
	}
	mutex_unlock(&attach_lock);
}

/* One that has not ended yet, its structure held, or NULL. */
static struct pdio_attach *attach_left_of(struct pci_dev *pdev)
{
	struct pdio_attach *attach;

	mutex_lock(&attach_lock);
	list_for_each_entry(attach, &attach_list, node) {
		if (attach_uses_locked(attach, pdev)) {
			pdio_drain_hold(&attach->drain);
			mutex_unlock(&attach_lock);
			return attach;
		}
	}
	mutex_unlock(&attach_lock);
	return NULL;
}

/*
 * The driver's remove has to find its device unused, so this waits for the
 * requests in progress: for local NVMe as long as its timeouts and resets take.
 */
static int attach_unbind(struct notifier_block *nb, unsigned long step,
			 void *pdev)
{
	struct pdio_attach *attach;

	if (step != PDIO_UNBIND_DRAIN)
		return NOTIFY_DONE;
	attach_kill_of(pdev);
	while ((attach = attach_left_of(pdev))) {
		pdio_drain_kill(&attach->drain);
		pdio_drain_wait(&attach->drain);
		pdio_drain_drop(&attach->drain);
	}
	return NOTIFY_OK;
}

static struct notifier_block attach_nb = { .notifier_call = attach_unbind };

/**
 * pdio_attach_start - begin to follow the drivers of providers and clients
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int pdio_attach_start(void)
{
	return pdio_notify_subscribe(&attach_nb);
}

/**
 * pdio_attach_stop - undo pdio_attach_start()
 *
 * Context: module exit.
 */
void pdio_attach_stop(void)
{
	pdio_notify_unsubscribe(&attach_nb);
}
