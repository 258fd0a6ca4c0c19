/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Older kernels, shimmed down from the newest API. The only file that may look
 * at the kernel's version.
 *
 * Each difference stands behind a PDIO_HAVE_... macro. A distribution that
 * carries a backport sets the macro itself (ccflags-y += -DPDIO_HAVE_X=1), and
 * the version no longer matters.
 */
#ifndef _PDIO_COMPAT_H
#define _PDIO_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/memremap.h>
#include <linux/module.h>
#include <linux/uio.h>
#include <linux/version.h>

/* dma_buf_attach_ops.invalidate_mappings, named move_notify before 7.1 */
#ifndef PDIO_HAVE_INVALIDATE_MAPPINGS
#define PDIO_HAVE_INVALIDATE_MAPPINGS \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0))
#endif

/* get_dev_pagemap() without a hint, since 6.18 */
#ifndef PDIO_HAVE_GET_DEV_PAGEMAP_PFN
#define PDIO_HAVE_GET_DEV_PAGEMAP_PFN \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0))
#endif

/* MODULE_IMPORT_NS() takes a string, since 6.13 */
#ifndef PDIO_HAVE_IMPORT_NS_STRING
#define PDIO_HAVE_IMPORT_NS_STRING \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0))
#endif

/* vfs_iocb_iter_write() takes freeze protection itself, since 6.8 */
#ifndef PDIO_HAVE_IOCB_WRITE_PROTECTED
#define PDIO_HAVE_IOCB_WRITE_PROTECTED \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0))
#endif

/* dynamic exporters need no CONFIG_DMABUF_MOVE_NOTIFY to be mapped, since 6.13 */
#ifndef PDIO_HAVE_MOVE_NOTIFY
#define PDIO_HAVE_MOVE_NOTIFY \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0) || \
	 IS_ENABLED(CONFIG_DMABUF_MOVE_NOTIFY))
#endif

/* the mapping type is read off a segment by this name, since 6.5 */
#ifndef PDIO_HAVE_SG_DMA_IS_BUS_ADDRESS
#define PDIO_HAVE_SG_DMA_IS_BUS_ADDRESS \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0))
#endif

/* struct file_kattr, named fileattr before 6.17 */
#ifndef PDIO_HAVE_FILE_KATTR
#define PDIO_HAVE_FILE_KATTR \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0))
#endif

/* direct I/O carries peer pages down to the driver, since 6.2 */
#ifndef PDIO_HAVE_PEER_BIO
#define PDIO_HAVE_PEER_BIO \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#endif

/* The direct route. Other architectures than x86-64 are untested. */
#ifndef PDIO_HAVE_DIRECT
#define PDIO_HAVE_DIRECT \
	(IS_ENABLED(CONFIG_PCI_P2PDMA) && IS_ENABLED(CONFIG_X86_64) && \
	 PDIO_HAVE_MOVE_NOTIFY && PDIO_HAVE_PEER_BIO)
#endif

#if PDIO_HAVE_INVALIDATE_MAPPINGS
#define PDIO_INVALIDATE_OP invalidate_mappings
#else
#define PDIO_INVALIDATE_OP move_notify
#endif

#if PDIO_HAVE_IMPORT_NS_STRING
#define PDIO_IMPORT_NS_DMA_BUF() MODULE_IMPORT_NS("DMA_BUF")
#else
#define PDIO_IMPORT_NS_DMA_BUF() MODULE_IMPORT_NS(DMA_BUF)
#endif

static inline struct dev_pagemap *pdio_get_dev_pagemap(unsigned long pfn)
{
#if PDIO_HAVE_GET_DEV_PAGEMAP_PFN
	return get_dev_pagemap(pfn);
#else
	return get_dev_pagemap(pfn, NULL);
#endif
}

static inline ssize_t pdio_iocb_write(struct kiocb *iocb, struct iov_iter *iter)
{
#if PDIO_HAVE_IOCB_WRITE_PROTECTED
	return vfs_iocb_iter_write(iocb->ki_filp, iocb, iter);
#else
	ssize_t ret;

	/* Neither does anything but on regular files. */
	file_start_write(iocb->ki_filp);
	ret = vfs_iocb_iter_write(iocb->ki_filp, iocb, iter);
	file_end_write(iocb->ki_filp);
	return ret;
#endif
}

#if !PDIO_HAVE_SG_DMA_IS_BUS_ADDRESS
#define sg_dma_is_bus_address(sg) sg_is_dma_bus_address(sg)
#endif

#if !PDIO_HAVE_FILE_KATTR
#define file_kattr fileattr
#endif

#ifndef ITER_SOURCE
#define ITER_SOURCE WRITE
#define ITER_DEST READ
#endif

#endif /* _PDIO_COMPAT_H */
