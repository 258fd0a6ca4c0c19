// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of /dev/pdio and of the fake GPU for the tests; see testlib.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "testlib.h"

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

const char *test_bed(void)
{
	return env("PDIO_BED");
}

const char *test_kernel(void)
{
	return env("PDIO_KERNEL");
}

bool test_bed_is(const char *names)
{
	size_t length = strlen(test_bed());
	const char *at = names;

	while (length && (at = strstr(at, test_bed()))) {
		if ((at == names || at[-1] == ' ') &&
		    (at[length] == ' ' || !at[length]))
			return true;
		at += length;
	}
	return false;
}

bool test_long(void)
{
	return !strcmp(env("PDIO_LONG"), "1");
}

uint64_t test_bulk(void)
{
	return strcmp(test_kernel(), "debug") || test_long() ? MIB(64) : MIB(16);
}

const char *test_disk(void)
{
	const char *disk = getenv("PDIO_DISK");

	return disk ? disk : "/dev/nvme0n1";
}

static int call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

int pd_open(void)
{
	int fd = open("/dev/pdio", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int pd_info(int pd, struct pdio_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return call(pd, PDIO_INFO, info);
}

int64_t pd_buffer(int pd, int dmabuf, uint64_t offset, uint64_t length,
		  uint32_t file_id, uint32_t *reason)
{
	struct pdio_buffer_register reg = {
		.size = sizeof(reg),
		.dmabuf_fd = dmabuf,
		.file_id = file_id,
		.offset = offset,
		.length = length,
	};
	int ret = call(pd, PDIO_BUFFER_REGISTER, &reg);

	if (reason)
		*reason = reg.out_reason;
	return ret ? ret : (int64_t)reg.out_id;
}

int64_t pd_file(int pd, int fd, struct pdio_file_register *reg)
{
	struct pdio_file_register mine;
	int ret;

	if (!reg)
		reg = &mine;
	memset(reg, 0, sizeof(*reg));
	reg->size = sizeof(*reg);
	reg->fd = fd;
	ret = call(pd, PDIO_FILE_REGISTER, reg);
	return ret ? ret : (int64_t)reg->out_id;
}

int pd_destroy(int pd, uint32_t id)
{
	struct pdio_destroy destroy = { .size = sizeof(destroy), .id = id };

	return call(pd, PDIO_DESTROY, &destroy);
}

int pd_route(int pd, uint32_t buffer, uint32_t file, uint32_t op,
	     struct pdio_route *route)
{
	memset(route, 0, sizeof(*route));
	route->size = sizeof(*route);
	route->buffer_id = buffer;
	route->file_id = file;
	route->op = op;
	return call(pd, PDIO_ROUTE, route);
}

int pd_rw(int pd, struct pdio_rw *rw)
{
	rw->size = sizeof(*rw);
	return call(pd, PDIO_RW, rw);
}

int64_t pd_io(int pd, uint32_t op, uint32_t flags, uint32_t file,
	      uint64_t file_offset, uint32_t buffer, uint64_t buffer_offset,
	      uint64_t length, struct pdio_rw *rw)
{
	struct pdio_segment segment = {
		.buffer_id = buffer,
		.offset = buffer_offset,
		.length = length,
	};
	struct pdio_rw mine;
	int ret;

	if (!rw)
		rw = &mine;
	memset(rw, 0, sizeof(*rw));
	rw->flags = flags;
	rw->file_id = file;
	rw->op = op;
	rw->file_offset = file_offset;
	rw->segments = (uintptr_t)&segment;
	rw->nr_segments = 1;
	ret = pd_rw(pd, rw);
	return ret ? ret : (int64_t)rw->out_bytes;
}

int gpu_open(int index)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/fakegpu%d", index);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int gpu_info(int gpu, struct fakegpu_info *info)
{
	memset(info, 0, sizeof(*info));
	return call(gpu, FAKEGPU_IOC_INFO, info);
}

int64_t gpu_alloc(int gpu, uint64_t size, uint32_t behaviour, uint32_t flags,
		  uint64_t extent_size)
{
	struct fakegpu_alloc alloc = {
		.size = size,
		.extent_size = extent_size,
		.behaviour = behaviour,
		.flags = flags,
		.seed = 1,
	};
	int ret = call(gpu, FAKEGPU_IOC_ALLOC, &alloc);

	return ret ? ret : (int64_t)alloc.handle;
}

int gpu_free(int gpu, uint32_t handle)
{
	return call(gpu, FAKEGPU_IOC_FREE, (void *)(uintptr_t)handle);
}

int gpu_export(int gpu, uint32_t handle, int open_flags)
{
	struct fakegpu_export export = {
		.handle = handle,
		.open_flags = open_flags,
	};
	int ret = call(gpu, FAKEGPU_IOC_EXPORT, &export);

	return ret ? ret : export.fd;
}

int gpu_fill(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
	     uint32_t seed)
{
	struct fakegpu_fill fill = {
		.offset = offset,
		.length = length,
		.handle = handle,
		.seed = seed,
	};

	return call(gpu, FAKEGPU_IOC_FILL, &fill);
}

int gpu_sum(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
	    uint64_t *sum)
{
	struct fakegpu_sum ask = {
		.offset = offset,
		.length = length,
		.handle = handle,
	};
	int ret = call(gpu, FAKEGPU_IOC_SUM, &ask);

	*sum = ask.sum;
	return ret;
}

static int gpu_copy(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
		    const void *host, uint32_t to_device)
{
	struct fakegpu_copy copy = {
		.offset = offset,
		.length = length,
		.host = (uintptr_t)host,
		.handle = handle,
		.to_device = to_device,
	};

	return call(gpu, FAKEGPU_IOC_COPY, &copy);
}

int gpu_copy_out(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
		 void *host)
{
	return gpu_copy(gpu, handle, offset, length, host, 0);
}

int gpu_copy_in(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
		const void *host)
{
	return gpu_copy(gpu, handle, offset, length, host, 1);
}

int gpu_extents(int gpu, uint32_t handle, struct fakegpu_extent **extents)
{
	struct fakegpu_extents ask = { .handle = handle };
	int ret = call(gpu, FAKEGPU_IOC_EXTENTS, &ask);

	if (ret)
		return ret;
	*extents = calloc(ask.count, sizeof(**extents));
	if (!*extents)
		return -ENOMEM;
	ask.array = (uintptr_t)*extents;
	ret = call(gpu, FAKEGPU_IOC_EXTENTS, &ask);
	return ret ? ret : (int)ask.count;
}

int gpu_stat(int gpu, uint32_t handle, struct fakegpu_stat *stat)
{
	memset(stat, 0, sizeof(*stat));
	stat->handle = handle;
	return call(gpu, FAKEGPU_IOC_STAT, stat);
}

int gpu_revoke(int gpu, uint32_t handle, uint32_t timeout_ms,
	       uint64_t *drain_ns)
{
	struct fakegpu_revoke revoke = {
		.handle = handle,
		.timeout_ms = timeout_ms,
	};
	int ret = call(gpu, FAKEGPU_IOC_REVOKE, &revoke);

	if (drain_ns)
		*drain_ns = revoke.drain_ns;
	return ret;
}
