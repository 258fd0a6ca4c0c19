/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the ioctl interface start from: one buffer of GPU memory and
 * the scratch disk, both registered, and a record of everything that a failing
 * call must leave alone.
 */
#ifndef _PDIO_UAPI_WORLD_H
#define _PDIO_UAPI_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testlib.h"

#define WORLD_BYTES	KIB(64)		/* of the buffer */
#define WORLD_DISK	KIB(128)	/* of the disk, watched for changes */
#define WORLD_GPU_SEED	1
#define WORLD_DISK_SEED	2

/* Where requests go direct, and so fail or succeed as the tests say. */
#define WORLD_DIRECT_BEDS "switch ports iommu"

struct world {
	int pd;
	int gpu;
	int dmabuf;
	int disk;
	uint32_t handle;	/* the GPU's name for the memory */
	uint32_t buffer;	/* ids */
	uint32_t file;
};

/* What must be the same after a call that failed. */
struct world_state {
	struct pdio_info info;
	struct fakegpu_stat stat;
	uint64_t gpu_sum;
	uint64_t disk_sum;
	uint32_t last_id;
};

/* An ioctl that returns 0 or -errno; @arg may be any address. */
static inline int world_call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/* Memory whose first byte past @bytes faults; @bytes <= one page. */
static inline void *world_page_end(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE))
		return NULL;
	return map + page - bytes;
}

/* A copy of @bytes that can be read but not written. */
static inline void *world_read_only(const void *from, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	memcpy(map, from, bytes);
	return mprotect(map, page, PROT_READ) ? NULL : map;
}

static inline int world_register(struct world *w)
{
	int64_t id = pd_buffer(w->pd, w->dmabuf, 0, 0, 0, NULL);

	if (id < 0)
		return id;
	w->buffer = id;
	id = pd_file(w->pd, w->disk, NULL);
	if (id < 0)
		return id;
	w->file = id;
	return 0;
}

/* 0 or -errno. */
static inline int world_open(struct world *w)
{
	struct pdio_route route;
	int64_t ret;

	w->pd = pd_open();
	w->gpu = gpu_open(0);
	w->disk = open(test_disk(), O_RDWR | O_CLOEXEC);
	if (w->pd < 0 || w->gpu < 0 || w->disk < 0)
		return -ENODEV;
	ret = gpu_alloc(w->gpu, WORLD_BYTES, FAKEGPU_STATIC, 0, 0);
	if (ret < 0)
		return ret;
	w->handle = ret;
	ret = gpu_fill(w->gpu, w->handle, 0, WORLD_BYTES, WORLD_GPU_SEED);
	if (ret)
		return ret;
	w->dmabuf = gpu_export(w->gpu, w->handle, O_RDWR | O_CLOEXEC);
	if (w->dmabuf < 0)
		return w->dmabuf;
	ret = disk_fill(test_disk(), 0, WORLD_DISK, WORLD_DISK_SEED);
	if (ret)
		return ret;
	ret = world_register(w);
	/* Pinned here, so that a failing call has nothing to pin. */
	return ret ? ret : pd_route(w->pd, w->buffer, w->file, PDIO_OP_READ,
				    &route);
}

static inline void world_close(struct world *w)
{
	close(w->dmabuf);
	close(w->disk);
	close(w->gpu);
	close(w->pd);
}

/*
 * A new object's id, to see how far ids have come; 0 on failure. It stays, since
 * to end each by itself would take most of a test's time.
 */
static inline uint32_t world_next_id(struct world *w)
{
	int64_t id = pd_buffer(w->pd, w->dmabuf, 0, 0, 0, NULL);

	return id > 0 ? id : 0;
}

/* The id of an object that was. */
static inline uint32_t world_ended_id(struct world *w)
{
	uint32_t id = world_next_id(w);

	return pd_destroy(w->pd, id) ? 0 : id;
}

/* 0 or -errno. */
static inline int world_look(struct world *w, struct world_state *state)
{
	void *disk = disk_read(test_disk(), 0, WORLD_DISK);
	int ret;

	if (!disk)
		return -EIO;
	state->disk_sum = sum_host(disk, WORLD_DISK);
	free(disk);
	state->last_id = world_next_id(w);
	if (!state->last_id)
		return -EIO;
	ret = gpu_sum(w->gpu, w->handle, 0, WORLD_BYTES, &state->gpu_sum);
	if (!ret)
		ret = gpu_stat(w->gpu, w->handle, &state->stat);
	return ret ? ret : pd_info(w->pd, &state->info);
}

/* Is an id between two that world_next_id() gave alive? */
static inline bool world_has_ids(struct world *w, uint32_t after,
				 uint32_t before)
{
	for (after++; after < before; after++)
		if (pd_destroy(w->pd, after) != -ENOENT)
			return true;
	return false;
}

/*
 * What differs from an earlier state, or NULL. A request that was found wanting
 * counts as completed, one that could not even be understood doesn't: @requests
 * is how many may have been counted.
 */
static inline const char *world_changed(struct world *w,
					struct world_state *then,
					uint32_t requests)
{
	struct world_state now;
	struct pdio_route route;

	if (world_look(w, &now))
		return "the state can't be read any more";
	if (now.info.out_ops < then->info.out_ops ||
	    now.info.out_ops > then->info.out_ops + requests)
		return "count of requests";
	if (now.info.out_bytes_direct != then->info.out_bytes_direct ||
	    now.info.out_bytes_staged != then->info.out_bytes_staged ||
	    now.info.out_bytes_cpu != then->info.out_bytes_cpu)
		return "count of bytes";
	if (now.gpu_sum != then->gpu_sum)
		return "GPU memory";
	if (now.disk_sum != then->disk_sum)
		return "the disk";
	if (memcmp(&now.stat, &then->stat, sizeof(now.stat)))
		return "attachments, pins or mappings";
	if (world_has_ids(w, then->last_id, now.last_id))
		return "ids: one more";
	if (pd_route(w->pd, w->buffer, w->file, PDIO_OP_READ, &route))
		return "ids: one less";
	/* The look itself took an id: the next comparison starts behind it. */
	then->last_id = now.last_id;
	return NULL;
}

#endif /* _PDIO_UAPI_WORLD_H */
