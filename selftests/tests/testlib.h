/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the test programs share: thin calls of /dev/pdio and of the fake GPU that
 * return 0 or -errno, and the disk they may write to. No judgement in here: the
 * tests assert.
 */
#ifndef _PDIO_TESTLIB_H
#define _PDIO_TESTLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pdio.h>
#include "fakegpu.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

/* The bed and kernel, "" if not set by the harness. */
const char *test_bed(void);
const char *test_kernel(void);
bool test_bed_is(const char *names);	/* "switch ports iommu" */
bool test_long(void);			/* long counts wanted */
/* Bytes for a large transfer: 64 MiB, less where everything is checked. */
uint64_t test_bulk(void);

/* The scratch disk, a block device that the tests may overwrite. */
const char *test_disk(void);

/* ---- /dev/pdio ----------------------------------------------------------- */

int pd_open(void);			/* descriptor or -errno */
int pd_info(int pd, struct pdio_info *info);
/* Register; the id (> 0) or -errno. @reason may be NULL. */
int64_t pd_buffer(int pd, int dmabuf, uint64_t offset, uint64_t length,
		  uint32_t file_id, uint32_t *reason);
int64_t pd_file(int pd, int fd, struct pdio_file_register *reg);
int pd_destroy(int pd, uint32_t id);
int pd_route(int pd, uint32_t buffer, uint32_t file, uint32_t op,
	     struct pdio_route *route);
int pd_rw(int pd, struct pdio_rw *rw);
/* One segment; the whole answer in *rw (may be NULL). Bytes moved or -errno. */
int64_t pd_io(int pd, uint32_t op, uint32_t flags, uint32_t file,
	      uint64_t file_offset, uint32_t buffer, uint64_t buffer_offset,
	      uint64_t length, struct pdio_rw *rw);

/* ---- the fake GPU -------------------------------------------------------- */

int gpu_open(int index);		/* descriptor or -errno */
int gpu_info(int gpu, struct fakegpu_info *info);
/* Allocate; the handle (> 0) or -errno. */
int64_t gpu_alloc(int gpu, uint64_t size, uint32_t behaviour, uint32_t flags,
		  uint64_t extent_size);
int gpu_free(int gpu, uint32_t handle);
int gpu_export(int gpu, uint32_t handle, int open_flags); /* fd or -errno */
int gpu_fill(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
	     uint32_t seed);
int gpu_sum(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
	    uint64_t *sum);
int gpu_copy_out(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
		 void *host);
int gpu_copy_in(int gpu, uint32_t handle, uint64_t offset, uint64_t length,
		const void *host);
/* All extents, malloc'ed; their number or -errno. */
int gpu_extents(int gpu, uint32_t handle, struct fakegpu_extent **extents);
int gpu_stat(int gpu, uint32_t handle, struct fakegpu_stat *stat);
int gpu_revoke(int gpu, uint32_t handle, uint32_t timeout_ms,
	       uint64_t *drain_ns);

/* FNV-1a over host memory, as FAKEGPU_IOC_SUM counts it. */
uint64_t sum_host(const void *data, size_t length);
/* The pattern of FAKEGPU_IOC_FILL into host memory; offset is a multiple of 8. */
void fill_host(void *data, size_t length, uint32_t seed, uint64_t offset);

/*
 * SHA-256 of allocated memory as the *host* sees it in the GPU's memory file,
 * 64 hex digits and a 0. Needs the VM harness. 0 or -errno.
 */
int host_sum(int index, const struct fakegpu_extent *extents, int nr,
	     char hex[65]);
/* SHA-256 of the pattern, same form; reckoned once a boot. */
int pattern_sum(uint32_t seed, uint64_t length, char hex[65]);

/* ---- files --------------------------------------------------------------- */

/* Writes @length bytes of the pattern to @path by O_DIRECT. 0 or -errno. */
int disk_fill(const char *path, uint64_t offset, uint64_t length,
	      uint32_t seed);
/* Reads by O_DIRECT into aligned memory, malloc'ed. NULL on failure. */
void *disk_read(const char *path, uint64_t offset, uint64_t length);
/* 0 if the disk or file holds the pattern there, -EBADMSG if not, or -errno. */
int disk_check(const char *path, uint64_t offset, uint64_t length,
	       uint32_t seed);
/* First number of a /sys/block/DISK/stat line's merge columns. */
int disk_merges(const char *disk, uint64_t *reads, uint64_t *writes);

/* mkfs and mount of the scratch disk, by its tools; 0 or -errno. */
int fs_make(const char *type, const char *mount_point);
int fs_unmake(const char *mount_point);
/* system(3) with a printf format; the exit status. */
int run_command(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif /* _PDIO_TESTLIB_H */
