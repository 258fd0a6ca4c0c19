// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a PCI function that is bound to vfio-pci: by iommufd, the newer way,
 * or by the IOMMU group. No memory is mapped for its DMA; all that is wanted is
 * access to its BARs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"
#include "vfio_abi.h"
#include "vfio_device.h"

#define SYS_PCI "/sys/bus/pci/devices"

static int open_rdwr(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void vfio_device_close(struct vfio_device *vfio)
{
	close_fd(&vfio->device);
	close_fd(&vfio->group);
	close_fd(&vfio->container);
}

/* cdev_path - the function's own node, "/dev/vfio/devices/vfio0" */
static int cdev_path(const char *bdf, char *path, size_t size)
{
	char folder[96];
	struct dirent *entry;
	int ret = -ENODEV;
	DIR *dir;

	snprintf(folder, sizeof(folder), SYS_PCI "/%s/vfio-dev", bdf);
	dir = opendir(folder);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "vfio", 4))
			continue;
		ret = snprintf(path, size, "/dev/vfio/devices/%s",
			       entry->d_name);
		ret = ret < (int)size ? 0 : -ENAMETOOLONG;
		break;
	}
	closedir(dir);
	return ret;
}

static int open_by_iommufd(struct vfio_device *vfio, const char *bdf)
{
	struct vfio_device_bind_iommufd bind = { .argsz = sizeof(bind) };
	char path[64];
	int ret;

	ret = cdev_path(bdf, path, sizeof(path));
	if (ret)
		return ret;
	vfio->container = open_rdwr("/dev/iommu");
	if (vfio->container < 0)
		return vfio->container;
	vfio->device = open_rdwr(path);
	if (vfio->device < 0)
		return vfio->device;
	bind.iommufd = vfio->container;
	return sys_ioctl(vfio->device, VFIO_DEVICE_BIND_IOMMUFD, &bind);
}

/* group_path - the node of the function's group; *@noiommu if it has no IOMMU */
static int group_path(const char *bdf, char *path, size_t size, bool *noiommu)
{
	char name[96], target[256];
	const char *number;
	ssize_t len;
	int fd;

	snprintf(name, sizeof(name), SYS_PCI "/%s/iommu_group", bdf);
	len = readlink(name, target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	number = strrchr(target, '/');
	number = number ? number + 1 : target;

	snprintf(name, sizeof(name), SYS_PCI "/%s/iommu_group/name", bdf);
	len = 0;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, name, sizeof(name));
		close(fd);
	}
	*noiommu = len >= 12 && !memcmp(name, "vfio-noiommu", 12);
	if (snprintf(path, size, "/dev/vfio/%s%s", *noiommu ? "noiommu-" : "",
		     number) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

static int open_by_group(struct vfio_device *vfio, const char *bdf)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[64];
	bool noiommu = false;
	int ret;

	ret = group_path(bdf, path, sizeof(path), &noiommu);
	if (ret)
		return ret;
	vfio->group = open_rdwr(path);
	if (vfio->group < 0)
		return vfio->group;
	vfio->container = open_rdwr("/dev/vfio/vfio");
	if (vfio->container < 0)
		return vfio->container;
	ret = sys_ioctl(vfio->group, VFIO_GROUP_GET_STATUS, &status);
	if (ret)
		return ret;
	/* Another function of the group still has its host driver. */
	if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return -EPERM;
	ret = sys_ioctl(vfio->group, VFIO_GROUP_SET_CONTAINER,
			&vfio->container);
	if (ret)
		return ret;
	ret = sys_ioctl(vfio->container, VFIO_SET_IOMMU,
			(void *)(uintptr_t)(noiommu ? VFIO_NOIOMMU_IOMMU :
						      VFIO_TYPE1v2_IOMMU));
	if (ret)
		return ret;
	ret = sys_ioctl(vfio->group, VFIO_GROUP_GET_DEVICE_FD, (void *)bdf);
	if (ret < 0)
		return ret;
	vfio->device = ret;
	return 0;
}

int vfio_device_open(struct vfio_device *vfio, const char *bdf)
{
	int cdev_ret, ret;

	*vfio = (struct vfio_device){ -1, -1, -1 };
	cdev_ret = open_by_iommufd(vfio, bdf);
	if (!cdev_ret)
		return 0;
	vfio_device_close(vfio);
	ret = open_by_group(vfio, bdf);
	if (!ret)
		return 0;
	vfio_device_close(vfio);
	/* A kernel with only one of the two answers ENOENT for the other. */
	return ret == -ENOENT ? cdev_ret : ret;
}
