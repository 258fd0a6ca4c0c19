/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of the VFIO interface that is younger than the oldest kernel headers
 * we build with: binding to an iommufd (6.6) and dma-buf export (6.19).
 */
#ifndef LIBPDIO_VFIO_ABI_H
#define LIBPDIO_VFIO_ABI_H

#include <linux/vfio.h>

#ifndef VFIO_DEVICE_BIND_IOMMUFD
#define VFIO_DEVICE_BIND_IOMMUFD _IO(VFIO_TYPE, VFIO_BASE + 18)
struct vfio_device_bind_iommufd {
	__u32 argsz;
	__u32 flags;
	__s32 iommufd;
	__u32 out_devid;
};
#endif

#ifndef VFIO_DEVICE_FEATURE_DMA_BUF
#define VFIO_DEVICE_FEATURE_DMA_BUF 11
struct vfio_region_dma_range {
	__u64 offset;
	__u64 length;
};

struct vfio_device_feature_dma_buf {
	__u32 region_index;
	__u32 open_flags;
	__u32 flags;
	__u32 nr_ranges;
	struct vfio_region_dma_range dma_ranges[];
};
#endif

#endif /* LIBPDIO_VFIO_ABI_H */
