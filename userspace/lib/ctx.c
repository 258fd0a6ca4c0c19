// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The context: one open file description of /dev/pdio, counted, because the
 * objects in it may outlive the caller's handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "internal.h"

const char *libpdio_version(void)
{
	return LIBPDIO_VERSION;
}

struct libpdio_ctx *ctx_get(struct libpdio_ctx *ctx)
{
	atomic_fetch_add_explicit(&ctx->refs, 1, memory_order_relaxed);
	return ctx;
}

void ctx_put(struct libpdio_ctx *ctx)
{
	if (atomic_fetch_sub_explicit(&ctx->refs, 1, memory_order_acq_rel) > 1)
		return;
	close(ctx->fd);
	free(ctx);
}

/*
 * A forked child shares the parent's ids. Were it to destroy one, the parent
 * would lose an object that it is still using.
 */
int ctx_destroy(struct libpdio_ctx *ctx, uint32_t id, pid_t owner)
{
	struct pdio_destroy cmd = { .size = sizeof(cmd), .id = id };
	int ret;

	if (owner != getpid())
		return 0;
	ret = sys_ioctl(ctx->fd, PDIO_DESTROY, &cmd);
	return ret == -ENOENT ? 0 : ret;
}

static int ctx_info(int fd, struct pdio_info *info)
{
	*info = (struct pdio_info){ .size = sizeof(*info) };
	return sys_ioctl(fd, PDIO_INFO, info);
}

int libpdio_open(uint32_t flags, struct libpdio_ctx **ctx)
{
	struct libpdio_ctx *new;
	struct pdio_info info;
	int ret;

	if (!ctx)
		return -EINVAL;
	if (flags)
		return -EOPNOTSUPP;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = open(PDIO_NODE, O_RDWR | O_CLOEXEC);
	if (new->fd < 0) {
		ret = -errno;
		goto err_free;
	}
	ret = ctx_info(new->fd, &info);
	if (ret)
		goto err_close;
	atomic_init(&new->refs, 1);
	new->max_segments = info.out_max_segments;
	*ctx = new;
	return 0;

err_close:
	close(new->fd);
err_free:
	free(new);
	return ret;
}

void libpdio_close(struct libpdio_ctx *ctx)
{
	if (ctx)
		ctx_put(ctx);
}

int libpdio_fd(const struct libpdio_ctx *ctx)
{
	return ctx->fd;
}

int libpdio_info_get(struct libpdio_ctx *ctx, struct libpdio_info *info)
{
	struct libpdio_info out = { 0 };
	struct pdio_info cmd;
	int ret;

	if (!sized_ok(info, INFO_V1_SIZE))
		return -EINVAL;
	ret = ctx_info(ctx->fd, &cmd);
	if (ret)
		return ret;
	out.reason = cmd.out_reason;
	out.features = cmd.out_features;
	out.max_segments = cmd.out_max_segments;
	out.max_objects = cmd.out_max_objects;
	out.ops = cmd.out_ops;
	out.bytes_direct = cmd.out_bytes_direct;
	out.bytes_staged = cmd.out_bytes_staged;
	out.bytes_cpu = cmd.out_bytes_cpu;
	sized_put(info, &out, sizeof(out));
	return 0;
}
