// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registered files: a handle around the kernel's id, with what the kernel said
 * about the file when it was registered.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "internal.h"

int libpdio_file_register(struct libpdio_ctx *ctx, int fd, uint32_t flags,
			  struct libpdio_file **file)
{
	struct pdio_file_register cmd = { .size = sizeof(cmd), .fd = fd };
	struct libpdio_file *new;
	int ret;

	if (!ctx || !file)
		return -EINVAL;
	if (flags)
		return -EOPNOTSUPP;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = sys_ioctl(ctx->fd, PDIO_FILE_REGISTER, &cmd);
	if (ret) {
		free(new);
		return ret;
	}
	new->ctx = ctx_get(ctx);
	new->owner = getpid();
	new->id = cmd.out_id;
	new->reason = cmd.out_reason;
	new->offset_align = cmd.out_offset_align;
	new->mem_align = cmd.out_mem_align;
	*file = new;
	return 0;
}

int libpdio_file_unregister(struct libpdio_file *file)
{
	int ret;

	if (!file)
		return 0;
	ret = ctx_destroy(file->ctx, file->id, file->owner);
	ctx_put(file->ctx);
	free(file);
	return ret;
}

uint32_t libpdio_file_reason(const struct libpdio_file *file)
{
	return file->reason;
}

uint32_t libpdio_file_offset_align(const struct libpdio_file *file)
{
	return file->offset_align;
}

uint32_t libpdio_file_mem_align(const struct libpdio_file *file)
{
	return file->mem_align;
}
