// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Accelerators: finds the back end for a spec, tests arguments once for all of
 * them, and counts references.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "accel.h"
#include "internal.h"

static const struct accel_ops *const backends[] = {
	&accel_fake,
	&accel_vfio,
};

/* accel_find - the back end for @spec; @rest is what follows the colon */
static const struct accel_ops *accel_find(const char *spec, const char **rest)
{
	size_t i, len;

	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		len = strlen(backends[i]->scheme);
		if (strncmp(spec, backends[i]->scheme, len) ||
		    spec[len] != ':')
			continue;
		*rest = spec + len + 1;
		return backends[i];
	}
	return NULL;
}

static void accel_put(struct libpdio_accel *accel)
{
	if (atomic_fetch_sub_explicit(&accel->refs, 1,
				      memory_order_acq_rel) > 1)
		return;
	accel->ops->close(accel);
	free(accel);
}

int libpdio_accel_open(const char *spec, uint32_t flags,
		       struct libpdio_accel **accel)
{
	const struct accel_ops *ops;
	struct libpdio_accel *new;
	const char *rest;
	int ret;

	if (!spec || !accel)
		return -EINVAL;
	if (flags)
		return -EOPNOTSUPP;
	ops = accel_find(spec, &rest);
	if (!ops)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->ops = ops;
	atomic_init(&new->refs, 1);
	ret = ops->open(new, rest);
	if (ret) {
		free(new);
		return ret;
	}
	*accel = new;
	return 0;
}

void libpdio_accel_close(struct libpdio_accel *accel)
{
	if (accel)
		accel_put(accel);
}

int libpdio_accel_info_get(struct libpdio_accel *accel,
			   struct libpdio_accel_info *info)
{
	struct libpdio_accel_info out = { 0 };
	int ret;

	if (!sized_ok(info, ACCEL_INFO_V1_SIZE))
		return -EINVAL;
	ret = accel->ops->info(accel, &out);
	if (!ret)
		sized_put(info, &out, sizeof(out));
	return ret;
}

int libpdio_accel_alloc(struct libpdio_accel *accel, uint64_t length,
			uint32_t flags, struct libpdio_mem **mem)
{
	struct libpdio_mem *new;
	int ret;

	if (!accel || !mem || !length || length % ACCEL_PAGE)
		return -EINVAL;
	if (flags)
		return -EOPNOTSUPP;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->accel = accel;
	new->length = length;
	ret = accel->ops->alloc(new);
	if (ret) {
		free(new);
		return ret;
	}
	atomic_fetch_add_explicit(&accel->refs, 1, memory_order_relaxed);
	*mem = new;
	return 0;
}

void libpdio_accel_free(struct libpdio_mem *mem)
{
	if (!mem)
		return;
	mem->accel->ops->free(mem);
	accel_put(mem->accel);
	free(mem);
}

int libpdio_accel_export(struct libpdio_mem *mem, uint32_t flags)
{
	if (flags)
		return -EOPNOTSUPP;
	return mem->accel->ops->export(mem);
}

static int mem_range(const struct libpdio_mem *mem, uint64_t offset,
		     size_t length)
{
	if (offset > mem->length || length > mem->length - offset)
		return -ERANGE;
	return 0;
}

int libpdio_accel_copy_in(struct libpdio_mem *mem, uint64_t offset,
			  const void *src, size_t length)
{
	int ret = mem_range(mem, offset, length);

	if (ret || !length)
		return ret;
	return mem->accel->ops->copy_in(mem, offset, src, length);
}

int libpdio_accel_copy_out(struct libpdio_mem *mem, uint64_t offset, void *dst,
			   size_t length)
{
	int ret = mem_range(mem, offset, length);

	if (ret || !length)
		return ret;
	return mem->accel->ops->copy_out(mem, offset, dst, length);
}

int libpdio_accel_extents(struct libpdio_mem *mem,
			  struct libpdio_extent *extents, uint32_t *count)
{
	if (!count || (*count && !extents))
		return -EINVAL;
	if (!mem->accel->ops->extents)
		return -EOPNOTSUPP;
	return mem->accel->ops->extents(mem, extents, count);
}
