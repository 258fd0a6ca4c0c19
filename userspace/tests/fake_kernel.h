/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel for unit tests, linked in place of open(), ioctl() and the like: it
 * implements the interfaces of pdio, fakegpu and vfio over plain files and
 * memory. Device nodes and sysfs come from the folder FAKE_ROOT; a node that is
 * not there is a device that is absent.
 *
 * Behaviour is set by the members of fake, or by FAKE_PDIO="member=value ..."
 * in the environment, for programs.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <stdint.h>

struct fake_kernel {
	/* What pdio shall do. */
	uint64_t max_segments;
	uint64_t route;		/* PDIO_ROUTE_* of all pairs */
	uint64_t reason;	/* why the route isn't direct */
	uint64_t file_reason;	/* what FILE_REGISTER says */
	uint64_t info_reason;	/* what INFO says */
	uint64_t short_bytes;	/* at most so many bytes a request; 0: all */
	uint64_t fail_after;	/* with fail_errno: bytes until it comes */
	uint64_t fail_errno;	/* errno of requests, once, positive */
	uint64_t fail_reason;
	uint64_t register_errno;	/* errno of BUFFER_REGISTER */
	uint64_t excess_bytes;	/* lie: report so many more than moved */
	uint64_t interrupt;	/* raise SIGINT in each request */
	uint64_t scattered;	/* extents of an allocation of fakegpu; 0: 1 */
	uint64_t vfio_no_dmabuf;
	uint64_t vfio_not_viable;

	/* What it saw. */
	uint64_t requests;
	uint64_t destroyed;
	uint64_t objects;	/* that exist now */
	uint64_t allocations;	/* of fakegpu that exist now */
	uint64_t last_flags;
	uint64_t last_segments;
	uint64_t dmabuf_offset;	/* what vfio was asked to export */
	uint64_t dmabuf_length;
	uint64_t dmabuf_region;
	uint64_t noiommu;	/* VFIO_SET_IOMMU asked for none */
	uint64_t bound_iommufd;
};

extern struct fake_kernel fake;

/* fake_reset - the defaults: everything direct; all objects are forgotten */
void fake_reset(void);

/* One function a device; 0 or more, or a negative errno. */
int fake_pdio_ioctl(int fd, unsigned long cmd, void *arg);
int fake_gpu_ioctl(int fd, unsigned long cmd, void *arg);
int fake_vfio_ioctl(int fd, unsigned long cmd, void *arg);

/* fake_path - @path, or where it lies in FAKE_ROOT; @room is PATH_MAX */
const char *fake_path(const char *path, char *room);

#endif /* FAKE_KERNEL_H */
