// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The two things that every call to the kernel and every answer to the caller
 * need: an ioctl() without errno, and structures that carry their size.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "internal.h"

int sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

bool sized_ok(const void *dst, size_t min)
{
	uint32_t size;

	if (!dst)
		return false;
	memcpy(&size, dst, sizeof(size));
	return size >= min;
}

void sized_put(void *dst, const void *src, size_t src_size)
{
	size_t head = sizeof(uint32_t);
	uint32_t size;

	memcpy(&size, dst, sizeof(size));
	if (size <= src_size) {
		memcpy((char *)dst + head, (const char *)src + head,
		       size - head);
		return;
	}
	memcpy((char *)dst + head, (const char *)src + head, src_size - head);
	memset((char *)dst + src_size, 0, size - src_size);
}
