// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Back end for PCI functions bound to vfio-pci: the largest memory BAR is the
 * accelerator's memory, handed out first fit, exported as dma-bufs by the kernel
 * (6.19 and later) and copied to and from by CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "accel.h"
#include "internal.h"
#include "vfio_abi.h"
#include "vfio_device.h"

#define PCI_COMMAND_OFFSET 4
#define PCI_COMMAND_MEMORY_BIT 2

/* An allocated range; the list is sorted by offset. */
struct vfio_range {
	struct vfio_range *next;
	uint64_t offset;
	uint64_t length;
};

struct vfio_accel {
	struct vfio_device dev;
	uint32_t domain;
	uint32_t bdf;
	uint32_t bar;
	uint64_t size;
	unsigned char *map;
	pthread_mutex_t lock;	/* of @ranges and @used */
	struct vfio_range *ranges;
	uint64_t used;
};

static struct vfio_range *range_of(struct libpdio_mem *mem)
{
	return mem->priv;
}

/* vfio_parse - a full PCI address, and nothing after it */
static int vfio_parse(const char *rest, struct vfio_accel *vfio)
{
	unsigned int domain, bus, dev, fn;
	int end = -1;

	if (strlen(rest) > 16 ||
	    sscanf(rest, "%4x:%2x:%2x.%1x%n", &domain, &bus, &dev, &fn,
		   &end) != 4 ||
	    end != (int)strlen(rest) || dev > 31 || fn > 7)
		return -EINVAL;
	vfio->domain = domain;
	vfio->bdf = bus << 8 | dev << 3 | fn;
	return 0;
}

/* vfio_pick_bar - the largest BAR that can be mapped */
static int vfio_pick_bar(struct vfio_accel *vfio, uint64_t *offset)
{
	uint32_t i;
	int ret;

	for (i = VFIO_PCI_BAR0_REGION_INDEX; i <= VFIO_PCI_BAR5_REGION_INDEX;
	     i++) {
		struct vfio_region_info info = {
			.argsz = sizeof(info),
			.index = i,
		};

		ret = sys_ioctl(vfio->dev.device, VFIO_DEVICE_GET_REGION_INFO,
				&info);
		if (ret)
			return ret;
		if (!(info.flags & VFIO_REGION_INFO_FLAG_MMAP) ||
		    info.size <= vfio->size)
			continue;
		vfio->bar = i;
		vfio->size = info.size;
		*offset = info.offset;
	}
	return vfio->size >= ACCEL_PAGE ? 0 : -EOPNOTSUPP;
}

/* vfio_enable_memory - vfio-pci leaves BARs switched off until someone asks */
static int vfio_enable_memory(struct vfio_accel *vfio)
{
	struct vfio_region_info info = {
		.argsz = sizeof(info),
		.index = VFIO_PCI_CONFIG_REGION_INDEX,
	};
	uint16_t command;
	off_t where;
	int ret;

	ret = sys_ioctl(vfio->dev.device, VFIO_DEVICE_GET_REGION_INFO, &info);
	if (ret)
		return ret;
	where = info.offset + PCI_COMMAND_OFFSET;
	if (pread(vfio->dev.device, &command, sizeof(command), where) !=
	    sizeof(command))
		return -EIO;
	command |= PCI_COMMAND_MEMORY_BIT;
	if (pwrite(vfio->dev.device, &command, sizeof(command), where) !=
	    sizeof(command))
		return -EIO;
	return 0;
}

static int vfio_open(struct libpdio_accel *accel, const char *rest)
{
	struct vfio_accel *vfio;
	uint64_t offset = 0;
	int ret;

	vfio = calloc(1, sizeof(*vfio));
	if (!vfio)
		return -ENOMEM;
	ret = vfio_parse(rest, vfio);
	if (ret)
		goto err_free;
	ret = vfio_device_open(&vfio->dev, rest);
	if (ret)
		goto err_free;
	ret = vfio_enable_memory(vfio);
	if (!ret)
		ret = vfio_pick_bar(vfio, &offset);
	if (ret)
		goto err_close;
	vfio->map = mmap(NULL, vfio->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 vfio->dev.device, offset);
	if (vfio->map == MAP_FAILED) {
		ret = -errno;
		goto err_close;
	}
	ret = -pthread_mutex_init(&vfio->lock, NULL);
	if (ret)
		goto err_unmap;
	accel->priv = vfio;
	return 0;

err_unmap:
	munmap(vfio->map, vfio->size);
err_close:
	vfio_device_close(&vfio->dev);
err_free:
	free(vfio);
	return ret;
}

static void vfio_close(struct libpdio_accel *accel)
{
	struct vfio_accel *vfio = accel->priv;

	pthread_mutex_destroy(&vfio->lock);
	munmap(vfio->map, vfio->size);
	vfio_device_close(&vfio->dev);
	free(vfio);
}

static int vfio_info(struct libpdio_accel *accel,
		     struct libpdio_accel_info *info)
{
	struct vfio_accel *vfio = accel->priv;

	info->domain = vfio->domain;
	info->bdf = vfio->bdf;
	info->bytes_total = vfio->size;
	pthread_mutex_lock(&vfio->lock);
	info->bytes_free = vfio->size - vfio->used;
	pthread_mutex_unlock(&vfio->lock);
	return 0;
}

static int vfio_alloc(struct libpdio_mem *mem)
{
	struct vfio_accel *vfio = mem->accel->priv;
	struct vfio_range *range, **at;
	uint64_t offset = 0;
	int ret = 0;

	range = calloc(1, sizeof(*range));
	if (!range)
		return -ENOMEM;
	range->length = mem->length;
	pthread_mutex_lock(&vfio->lock);
	for (at = &vfio->ranges; *at; at = &(*at)->next) {
		if ((*at)->offset - offset >= mem->length)
			break;
		offset = (*at)->offset + (*at)->length;
	}
	if (vfio->size - offset < mem->length) {
		ret = -ENOSPC;
		free(range);
	} else {
		range->offset = offset;
		range->next = *at;
		*at = range;
		vfio->used += range->length;
		mem->priv = range;
	}
	pthread_mutex_unlock(&vfio->lock);
	return ret;
}

static void vfio_free(struct libpdio_mem *mem)
{
	struct vfio_accel *vfio = mem->accel->priv;
	struct vfio_range *range = range_of(mem), **at;

	pthread_mutex_lock(&vfio->lock);
	for (at = &vfio->ranges; *at != range; at = &(*at)->next)
		;
	*at = range->next;
	vfio->used -= range->length;
	pthread_mutex_unlock(&vfio->lock);
	free(range);
}

static int vfio_export(struct libpdio_mem *mem)
{
	struct vfio_accel *vfio = mem->accel->priv;
	struct vfio_device_feature_dma_buf *dmabuf;
	struct vfio_device_feature *feature;
	size_t size = sizeof(*feature) + sizeof(*dmabuf) +
		      sizeof(dmabuf->dma_ranges[0]);
	int ret;

	feature = calloc(1, size);
	if (!feature)
		return -ENOMEM;
	feature->argsz = size;
	feature->flags = VFIO_DEVICE_FEATURE_GET | VFIO_DEVICE_FEATURE_DMA_BUF;
	dmabuf = (void *)feature->data;
	dmabuf->region_index = vfio->bar;
	dmabuf->open_flags = O_RDWR | O_CLOEXEC;
	dmabuf->nr_ranges = 1;
	dmabuf->dma_ranges[0].offset = range_of(mem)->offset;
	dmabuf->dma_ranges[0].length = mem->length;
	ret = sys_ioctl(vfio->dev.device, VFIO_DEVICE_FEATURE, feature);
	free(feature);
	/* What an older kernel says of a feature that it doesn't know. */
	return ret == -ENOTTY ? -EOPNOTSUPP : ret;
}

static int vfio_copy_in(struct libpdio_mem *mem, uint64_t offset,
			const void *src, size_t length)
{
	struct vfio_accel *vfio = mem->accel->priv;

	memcpy(vfio->map + range_of(mem)->offset + offset, src, length);
	return 0;
}

static int vfio_copy_out(struct libpdio_mem *mem, uint64_t offset, void *dst,
			 size_t length)
{
	struct vfio_accel *vfio = mem->accel->priv;

	memcpy(dst, vfio->map + range_of(mem)->offset + offset, length);
	return 0;
}

static int vfio_extents(struct libpdio_mem *mem, struct libpdio_extent *extents,
			uint32_t *count)
{
	if (*count) {
		extents[0].bar_offset = range_of(mem)->offset;
		extents[0].length = mem->length;
	}
	*count = 1;
	return 0;
}

const struct accel_ops accel_vfio = {
	.scheme = "vfio",
	.open = vfio_open,
	.close = vfio_close,
	.info = vfio_info,
	.alloc = vfio_alloc,
	.free = vfio_free,
	.export = vfio_export,
	.copy_in = vfio_copy_in,
	.copy_out = vfio_copy_out,
	.extents = vfio_extents,
};
