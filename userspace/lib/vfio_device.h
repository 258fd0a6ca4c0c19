/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a PCI function that is bound to vfio-pci.
 */
#ifndef LIBPDIO_VFIO_DEVICE_H
#define LIBPDIO_VFIO_DEVICE_H

/* Descriptors that together keep a device open; -1 where there is none. */
struct vfio_device {
	int device;
	int group;
	int container;	/* container of the group, or an iommufd */
};

/*
 * vfio_device_open - open the function with PCI address @bdf ("0000:01:00.0")
 *
 * By its own node and an iommufd where the kernel has them, else by its IOMMU
 * group. Returns 0 or a negative errno.
 */
int vfio_device_open(struct vfio_device *vfio, const char *bdf);

void vfio_device_close(struct vfio_device *vfio);

#endif /* LIBPDIO_VFIO_DEVICE_H */
