// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Back end for the fake GPU of the test beds (module fakegpu): allocations and
 * copies are ioctls of its node.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "accel.h"
#include "fakegpu.h"
#include "internal.h"

struct fake {
	int fd;
};

_Static_assert(sizeof(struct libpdio_extent) == sizeof(struct fakegpu_extent) &&
	       offsetof(struct libpdio_extent, length) ==
	       offsetof(struct fakegpu_extent, length),
	       "extents are passed through");

static struct fake *fake_of(struct libpdio_mem *mem)
{
	return mem->accel->priv;
}

static uint32_t handle_of(struct libpdio_mem *mem)
{
	return (uintptr_t)mem->priv;
}

/* fake_path - "0" is /dev/fakegpu0, "cmb" is /dev/fakegpu-cmb */
static int fake_path(const char *rest, char *path, size_t size)
{
	if (!strcmp(rest, "cmb"))
		return snprintf(path, size, "/dev/fakegpu-cmb");
	if (!*rest || strlen(rest) > 4 || rest[strspn(rest, "0123456789")])
		return -EINVAL;
	return snprintf(path, size, "/dev/fakegpu%s", rest);
}

static int fake_open(struct libpdio_accel *accel, const char *rest)
{
	struct fake *fake;
	char path[32];
	int ret;

	ret = fake_path(rest, path, sizeof(path));
	if (ret < 0)
		return ret;
	fake = calloc(1, sizeof(*fake));
	if (!fake)
		return -ENOMEM;
	fake->fd = open(path, O_RDWR | O_CLOEXEC);
	if (fake->fd < 0) {
		ret = -errno;
		free(fake);
		return ret;
	}
	accel->priv = fake;
	return 0;
}

static void fake_close(struct libpdio_accel *accel)
{
	struct fake *fake = accel->priv;

	close(fake->fd);
	free(fake);
}

static int fake_info(struct libpdio_accel *accel,
		     struct libpdio_accel_info *info)
{
	struct fake *fake = accel->priv;
	struct fakegpu_info cmd = { 0 };
	int ret = sys_ioctl(fake->fd, FAKEGPU_IOC_INFO, &cmd);

	info->domain = cmd.domain;
	info->bdf = cmd.bdf;
	info->bytes_total = cmd.bar_size;
	info->bytes_free = cmd.free;
	return ret;
}

static int fake_alloc(struct libpdio_mem *mem)
{
	struct fakegpu_alloc cmd = {
		.size = mem->length,
		.behaviour = FAKEGPU_STATIC,
	};
	int ret = sys_ioctl(fake_of(mem)->fd, FAKEGPU_IOC_ALLOC, &cmd);

	mem->priv = (void *)(uintptr_t)cmd.handle;
	return ret;
}

static void fake_free(struct libpdio_mem *mem)
{
	/* The handle is passed by value, as the driver wants it. */
	sys_ioctl(fake_of(mem)->fd, FAKEGPU_IOC_FREE, mem->priv);
}

static int fake_export(struct libpdio_mem *mem)
{
	struct fakegpu_export cmd = {
		.handle = handle_of(mem),
		.open_flags = O_RDWR | O_CLOEXEC,
	};
	int ret = sys_ioctl(fake_of(mem)->fd, FAKEGPU_IOC_EXPORT, &cmd);

	return ret ? ret : cmd.fd;
}

static int fake_copy(struct libpdio_mem *mem, uint64_t offset, const void *host,
		     size_t length, uint32_t to_device)
{
	struct fakegpu_copy cmd = {
		.handle = handle_of(mem),
		.offset = offset,
		.length = length,
		.host = (uintptr_t)host,
		.to_device = to_device,
	};

	return sys_ioctl(fake_of(mem)->fd, FAKEGPU_IOC_COPY, &cmd);
}

static int fake_copy_in(struct libpdio_mem *mem, uint64_t offset,
			const void *src, size_t length)
{
	return fake_copy(mem, offset, src, length, 1);
}

static int fake_copy_out(struct libpdio_mem *mem, uint64_t offset, void *dst,
			 size_t length)
{
	return fake_copy(mem, offset, dst, length, 0);
}

static int fake_extents(struct libpdio_mem *mem, struct libpdio_extent *extents,
			uint32_t *count)
{
	struct fakegpu_extents cmd = {
		.handle = handle_of(mem),
		.array = (uintptr_t)extents,
		.count = *count,
	};
	int ret = sys_ioctl(fake_of(mem)->fd, FAKEGPU_IOC_EXTENTS, &cmd);

	if (!ret)
		*count = cmd.count;
	return ret;
}

const struct accel_ops accel_fake = {
	.scheme = "fake",
	.open = fake_open,
	.close = fake_close,
	.info = fake_info,
	.alloc = fake_alloc,
	.free = fake_free,
	.export = fake_export,
	.copy_in = fake_copy_in,
	.copy_out = fake_copy_out,
	.extents = fake_extents,
};
