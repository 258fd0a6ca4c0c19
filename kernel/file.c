// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files: what an open regular file or block device can do.
 *
 * What can't change while the file is open is found once, when it is registered.
 * What can is asked again for every request.
 */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/fileattr.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/stat.h>

#include "compat.h"
#include "pdio.h"

/*
 * File systems whose file data lie on the super block's device alone, and whose
 * direct I/O hands the caller's pages to it unread.
 */
static const char * const file_systems[] = { "ext4", "xfs" };

static bool file_system_known(const struct super_block *sb)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(file_systems); i++)
		if (!strcmp(sb->s_type->name, file_systems[i]))
			return true;
	return false;
}

/*
 * Data of XFS realtime files is on another device than the super block's. An
 * empty file can still become one.
 */
static bool file_may_be_elsewhere(struct file *file)
{
	struct file_kattr attr = {};

	/* The node of a block device may lie on XFS too. */
	if (!S_ISREG(file_inode(file)->i_mode) ||
	    strcmp(file_inode(file)->i_sb->s_type->name, "xfs"))
		return false;
	return vfs_fileattr_get(file->f_path.dentry, &attr) ||
	       (attr.fsx_xflags & FS_XFLAG_REALTIME);
}

static u32 regular_reason(struct pdio_file *pf, const struct kstat *stat)
{
	struct inode *inode = file_inode(pf->file);

	if (IS_VERITY(inode))
		return PDIO_REASON_VERITY;
	if (IS_ENCRYPTED(inode))
		return PDIO_REASON_ENCRYPTED;
	if (stat->attributes & STATX_ATTR_COMPRESSED)
		return PDIO_REASON_COMPRESSED;
	/* Not every file system on a disk tells its alignment. */
	if (!file_system_known(inode->i_sb))
		return pf->offset_align ||
		       (inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV) ?
			PDIO_REASON_UNSUPPORTED : PDIO_REASON_FS_NOT_DIRECT;
	if (!pf->offset_align || !(pf->file->f_mode & FMODE_CAN_ODIRECT))
		return PDIO_REASON_FS_NOT_DIRECT;
	if (!inode->i_sb->s_bdev)
		return PDIO_REASON_UNSUPPORTED;
	pf->bdev = inode->i_sb->s_bdev;
	return PDIO_REASON_NONE;
}

/* For the question where the holes are, which moves the file's position. */
static int file_open_seek(struct pdio_file *pf)
{
	struct file *seek;

	if (!(pf->file->f_mode & FMODE_READ))
		return 0;
	seek = dentry_open(&pf->file->f_path, O_RDONLY | O_LARGEFILE,
			   pf->file->f_cred);
	if (IS_ERR(seek))
		return PTR_ERR(seek);
	pf->seek = seek;
	return 0;
}

/* What the file system says now; where it says nothing, all stays as it was. */
static int regular_stat(const struct pdio_file *pf, struct kstat *stat,
			u32 *offset_align, u32 *mem_align)
{
	int ret = vfs_getattr(&pf->file->f_path, stat, STATX_DIOALIGN, 0);

	if (!ret && (stat->result_mask & STATX_DIOALIGN)) {
		*offset_align = stat->dio_offset_align;
		*mem_align = stat->dio_mem_align;
	}
	return ret;
}

static int file_examine(struct pdio_file *pf)
{
	struct inode *inode = file_inode(pf->file);
	struct pdio_client *client;
	struct kstat stat = {};
	int ret;

	if (S_ISBLK(inode->i_mode)) {
		pf->bdev = I_BDEV(pf->file->f_mapping->host);
		pf->offset_align = bdev_logical_block_size(pf->bdev);
		pf->mem_align = bdev_dma_alignment(pf->bdev) + 1;
	} else {
		ret = regular_stat(pf, &stat, &pf->offset_align,
				   &pf->mem_align);
		if (ret)
			return ret;
		pf->reason = regular_reason(pf, &stat);
		ret = pf->reason ? 0 : file_open_seek(pf);
		if (ret)
			return ret;
	}
	if (pf->reason)
		return 0;
	client = pdio_client_find(pf->bdev, &pf->reason);
	if (IS_ERR(client))
		return PTR_ERR(client);
	pf->client = client;
	return 0;
}

static void file_release(struct pdio_drain *drain)
{
	struct pdio_file *pf =
		container_of(drain, struct pdio_file, object.drain);

	pdio_client_put(pf->client);
	if (pf->seek)
		__fput_sync(pf->seek);
	/* Not delayed: who waits for this wants to unmount. */
	__fput_sync(pf->file);
}

static void file_free(struct pdio_drain *drain)
{
	kfree(container_of(drain, struct pdio_file, object.drain));
}

static const struct pdio_drain_ops file_ops = {
	.release = file_release,
	.free = file_free,
};

/**
 * pdio_file_create - examine an open file
 * @fd: the caller's descriptor
 *
 * Context: may sleep.
 * Return: the file, without an id yet, or ERR_PTR: -EBADF, -EINVAL if it is
 * neither a regular file nor a block device or opened with O_APPEND, -ENOMEM,
 * or what the file system says when asked for its alignment.
 */
struct pdio_file *pdio_file_create(int fd)
{
	struct pdio_file *pf;
	umode_t mode;
	int ret;

	pf = kzalloc(sizeof(*pf), GFP_KERNEL_ACCOUNT);
	if (!pf)
		return ERR_PTR(-ENOMEM);
	pf->object.type = PDIO_OBJECT_FILE;
	pf->file = fget(fd);
	if (!pf->file) {
		ret = -EBADF;
		goto err_free;
	}
	mode = file_inode(pf->file)->i_mode;
	if ((!S_ISREG(mode) && !S_ISBLK(mode)) ||
	    (pf->file->f_flags & O_APPEND)) {
		ret = -EINVAL;
		goto err_fput;
	}
	ret = file_examine(pf);
	if (!ret)
		ret = pdio_drain_init(&pf->object.drain, &file_ops);
	if (ret)
		goto err_client;
	return pf;

err_client:
	pdio_client_put(pf->client);
	if (pf->seek)
		fput(pf->seek);
err_fput:
	fput(pf->file);
err_free:
	kfree(pf);
	return ERR_PTR(ret);
}

/**
 * pdio_file_get - the file with an id, kept in use
 * @ctx: the set of ids
 * @id: the id
 *
 * Context: any.
 * Return: the file, to be given back by pdio_object_put(), or ERR_PTR(-ENOENT).
 */
struct pdio_file *pdio_file_get(struct pdio_ctx *ctx, u32 id)
{
	struct pdio_object *object =
		pdio_object_get(ctx, id, PDIO_OBJECT_FILE);

	return IS_ERR(object) ? ERR_CAST(object) : to_pdio_file(object);
}

/**
 * pdio_file_reason - why a file can't be one end of a direct route
 * @pf: the file
 *
 * Peer pages handed to direct I/O as kernel memory pass the kernel's own check
 * of the queue by, so the queue is asked here, for every request.
 *
 * Context: any.
 * Return: PDIO_REASON_NONE if it can, else why not.
 */
u32 pdio_file_reason(const struct pdio_file *pf)
{
	if (pf->reason)
		return pf->reason;
	if (IS_VERITY(file_inode(pf->file)))
		return PDIO_REASON_VERITY;
	if (file_may_be_elsewhere(pf->file))
		return PDIO_REASON_UNSUPPORTED;
	if (!blk_queue_pci_p2pdma(bdev_get_queue(pf->bdev)))
		return PDIO_REASON_QUEUE_NO_P2P;
	if (bdev_stable_writes(pf->bdev))
		return PDIO_REASON_STABLE_WRITES;
	return PDIO_REASON_NONE;
}

/**
 * pdio_file_alignment - what direct I/O demands of a file now
 * @pf: the file, which can be one end of a direct route
 * @offset: alignment of offsets and lengths, 0 if there is no direct I/O
 * @mem: alignment of memory
 *
 * Context: may sleep.
 * Return: 0, or what the file system says.
 */
int pdio_file_alignment(const struct pdio_file *pf, u32 *offset, u32 *mem)
{
	struct kstat stat = {};

	*offset = pf->offset_align;
	*mem = pf->mem_align;
	if (!S_ISREG(file_inode(pf->file)->i_mode))
		return 0;
	return regular_stat(pf, &stat, offset, mem);
}

/**
 * pdio_file_size - how many bytes there are to read
 * @pf: the file
 *
 * Context: any.
 * Return: the size in bytes.
 */
loff_t pdio_file_size(const struct pdio_file *pf)
{
	return i_size_read(pf->file->f_mapping->host);
}
