// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a provider's memory each user may keep pinned.
 *
 * Device memory is scarce and can't be reclaimed while it is pinned, and no
 * resource limit of the kernel covers it. So bytes are counted per provider and
 * user. The limit is the same for all users: what the module parameter says, or
 * the size of the provider's BAR.
 */
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "pdio.h"

static unsigned int quota_mib;
module_param(quota_mib, uint, 0444);
MODULE_PARM_DESC(quota_mib,
		 "MiB of one provider that a user may pin, 0 = its BAR size");

/**
 * struct quota_account - what a user has pinned of a provider
 * @node: in the provider's list
 * @uid: the user
 * @bytes: pinned bytes, never 0
 */
struct quota_account {
	struct list_head node;
	kuid_t uid;
	u64 bytes;
};

static u64 quota_limit(const struct pdio_provider *provider)
{
	return quota_mib ? (u64)quota_mib << 20 : provider->bar_bytes;
}

static struct quota_account *account_find_locked(struct pdio_provider *provider,
						 kuid_t uid)
{
	struct quota_account *account;

	lockdep_assert_held(&provider->lock);
	list_for_each_entry(account, &provider->accounts, node)
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

/**
 * pdio_quota_charge - count bytes that are about to stay pinned
 * @provider: whose memory it is
 * @uid: who pins it
 * @bytes: how much, not 0
 *
 * Context: may sleep; takes the provider's lock.
 * Return: 0, -EDQUOT if the user's limit would be passed, or -ENOMEM.
 */
int pdio_quota_charge(struct pdio_provider *provider, kuid_t uid, u64 bytes)
{
	struct quota_account *account;
	u64 sum;
	int ret = 0;

	mutex_lock(&provider->lock);
	account = account_find_locked(provider, uid);
	if (check_add_overflow(account ? account->bytes : 0, bytes, &sum) ||
	    sum > quota_limit(provider)) {
		ret = -EDQUOT;
		goto out;
	}
	if (!account) {
		account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);
		if (!account) {
			ret = -ENOMEM;
			goto out;
		}
		account->uid = uid;
		list_add(&account->node, &provider->accounts);
	}
	account->bytes = sum;
out:
	mutex_unlock(&provider->lock);
	return ret;
}

/**
 * pdio_quota_uncharge - undo pdio_quota_charge()
 * @provider: as it was charged
 * @uid: as it was charged
 * @bytes: as it was charged
 *
 * Context: may sleep; takes the provider's lock.
 */
void pdio_quota_uncharge(struct pdio_provider *provider, kuid_t uid, u64 bytes)
{
	struct quota_account *account;

	mutex_lock(&provider->lock);
	account = account_find_locked(provider, uid);
	if (!WARN_ON_ONCE(!account || account->bytes < bytes)) {
		account->bytes -= bytes;
		if (!account->bytes) {
			list_del(&account->node);
			kfree(account);
		}
	}
	mutex_unlock(&provider->lock);
}
