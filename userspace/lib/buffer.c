// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registered buffers: a handle around the kernel's id of a dma-buf range.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "internal.h"

int libpdio_buffer_register(struct libpdio_ctx *ctx, int dmabuf_fd,
			    uint64_t offset, uint64_t length,
			    struct libpdio_file *hint, uint32_t flags,
			    struct libpdio_buffer **buffer, uint32_t *reason)
{
	struct pdio_buffer_register cmd = {
		.size = sizeof(cmd),
		.dmabuf_fd = dmabuf_fd,
		.file_id = hint ? hint->id : 0,
		.offset = offset,
		.length = length,
	};
	struct libpdio_buffer *new;
	int ret;

	if (reason)
		*reason = PDIO_REASON_NONE;
	if (!ctx || !buffer || (hint && hint->ctx != ctx))
		return -EINVAL;
	if (flags)
		return -EOPNOTSUPP;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = sys_ioctl(ctx->fd, PDIO_BUFFER_REGISTER, &cmd);
	if (reason)
		*reason = cmd.out_reason;
	if (ret) {
		free(new);
		return ret;
	}
	new->ctx = ctx_get(ctx);
	new->owner = getpid();
	new->id = cmd.out_id;
	new->length = cmd.out_length;
	*buffer = new;
	return 0;
}

int libpdio_buffer_unregister(struct libpdio_buffer *buffer)
{
	int ret;

	if (!buffer)
		return 0;
	ret = ctx_destroy(buffer->ctx, buffer->id, buffer->owner);
	ctx_put(buffer->ctx);
	free(buffer);
	return ret;
}

uint64_t libpdio_buffer_length(const struct libpdio_buffer *buffer)
{
	return buffer->length;
}
