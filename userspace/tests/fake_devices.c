// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fake kernel's accelerators. fakegpu: an allocation is a memfd, and so is
 * its dma-buf. vfio: the device's node is a file, config space at 0 and BAR 2 at
 * 1 MiB, so that reading, writing and mapping it just work.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fake_kernel.h"
#include "fakegpu.h"
#include "vfio_abi.h"

#define HANDLES 16
#define GPU_BYTES (64ULL << 20)
#define BAR_BYTES 0x100000ULL

static int handles[HANDLES];	/* descriptors; 0 is none */

static int gpu_alloc(struct fakegpu_alloc *cmd)
{
	int i;

	if (cmd->size > GPU_BYTES)
		return -ENOSPC;
	for (i = 1; i < HANDLES && handles[i]; i++)
		;
	if (i == HANDLES)
		return -ENOMEM;
	handles[i] = memfd_create("fakegpu", MFD_CLOEXEC);
	if (handles[i] < 0 || ftruncate(handles[i], cmd->size))
		return -errno;
	cmd->handle = i;
	fake.allocations++;
	return 0;
}

static int gpu_copy(struct fakegpu_copy *cmd)
{
	void *host = (void *)(uintptr_t)cmd->host;
	int fd = handles[cmd->handle];
	ssize_t ret;

	ret = cmd->to_device ? pwrite(fd, host, cmd->length, cmd->offset) :
			       pread(fd, host, cmd->length, cmd->offset);
	return ret == (ssize_t)cmd->length ? 0 : -EIO;
}

/* gpu_extents - equal pieces, each MiB another one, in reverse */
static int gpu_extents(struct fakegpu_extents *cmd)
{
	struct fakegpu_extent *to = (void *)(uintptr_t)cmd->array;
	uint32_t count = fake.scattered ? fake.scattered : 1;
	uint64_t size = lseek(handles[cmd->handle], 0, SEEK_END);
	uint32_t i;

	for (i = 0; i < count && i < cmd->count; i++) {
		to[i].bar_offset = (uint64_t)(count - i) << 20;
		to[i].length = size / count;
	}
	cmd->count = count;
	return 0;
}

static int gpu_free(uint32_t handle)
{
	close(handles[handle]);
	handles[handle] = 0;
	fake.allocations--;
	return 0;
}

int fake_gpu_ioctl(int fd, unsigned long cmd, void *arg)
{
	struct fakegpu_export *export = arg;
	struct fakegpu_info *info = arg;

	(void)fd;
	switch (cmd) {
	case FAKEGPU_IOC_INFO:
		info->bar_size = GPU_BYTES;
		info->free = GPU_BYTES - (fake.allocations << 12);
		info->bdf = 0x0300;
		return 0;
	case FAKEGPU_IOC_ALLOC:
		return gpu_alloc(arg);
	case FAKEGPU_IOC_FREE:
		return gpu_free((uintptr_t)arg);
	case FAKEGPU_IOC_EXPORT:
		export->fd = fcntl(handles[export->handle], F_DUPFD_CLOEXEC, 3);
		return export->fd < 0 ? -errno : 0;
	case FAKEGPU_IOC_COPY:
		return gpu_copy(arg);
	case FAKEGPU_IOC_EXTENTS:
		return gpu_extents(arg);
	default:
		return -ENOTTY;
	}
}

static int vfio_region(struct vfio_region_info *info)
{
	info->flags = 0;
	info->size = 0;
	if (info->index == VFIO_PCI_CONFIG_REGION_INDEX)
		info->size = 256;
	/* Not to be taken: bigger, but it can't be mapped. */
	if (info->index == 0)
		info->size = 2 * BAR_BYTES;
	if (info->index == 1) {
		info->size = 4096;
		info->flags = VFIO_REGION_INFO_FLAG_MMAP;
	}
	if (info->index == 2) {
		info->size = BAR_BYTES;
		info->flags = VFIO_REGION_INFO_FLAG_MMAP;
	}
	info->offset = info->index == VFIO_PCI_CONFIG_REGION_INDEX ?
		       0 : BAR_BYTES;
	return 0;
}

static int vfio_dmabuf(int fd, struct vfio_device_feature *feature)
{
	struct vfio_device_feature_dma_buf *dmabuf = (void *)feature->data;

	if (feature->flags !=
	    (VFIO_DEVICE_FEATURE_GET | VFIO_DEVICE_FEATURE_DMA_BUF) ||
	    fake.vfio_no_dmabuf)
		return -ENOTTY;
	if (dmabuf->nr_ranges != 1 || dmabuf->flags)
		return -EINVAL;
	fake.dmabuf_region = dmabuf->region_index;
	fake.dmabuf_offset = dmabuf->dma_ranges[0].offset;
	fake.dmabuf_length = dmabuf->dma_ranges[0].length;
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static int vfio_device_fd(const char *bdf)
{
	char room[PATH_MAX];
	int fd;

	if (strcmp(bdf, "0000:01:00.0"))
		return -ENODEV;
	fd = open(fake_path("/dev/vfio/device", room), O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int fake_vfio_ioctl(int fd, unsigned long cmd, void *arg)
{
	struct vfio_group_status *status = arg;

	switch (cmd) {
	case VFIO_DEVICE_GET_REGION_INFO:
		return vfio_region(arg);
	case VFIO_DEVICE_FEATURE:
		return vfio_dmabuf(fd, arg);
	case VFIO_DEVICE_BIND_IOMMUFD:
		fake.bound_iommufd++;
		return 0;
	case VFIO_GROUP_GET_STATUS:
		status->flags = fake.vfio_not_viable ?
				0 : VFIO_GROUP_FLAGS_VIABLE;
		return 0;
	case VFIO_GROUP_SET_CONTAINER:
		return 0;
	case VFIO_SET_IOMMU:
		fake.noiommu = (uintptr_t)arg == VFIO_NOIOMMU_IOMMU;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		return vfio_device_fd(arg);
	default:
		return -ENOTTY;
	}
}
