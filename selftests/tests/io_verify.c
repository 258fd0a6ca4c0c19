// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main job: bytes from an NVMe disk into device memory and back, on the raw
 * disk and on file systems, with the host's view of the memory as witness. All
 * bytes have to be direct.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE test_bulk()
#define SMALL MIB(8)		/* where every byte is compared */
#define SECONDS 300		/* a debug kernel on a busy machine */
#define MOUNT "/tmp/io_verify"

FIXTURE(io) {
	int pd, gpu, dmabuf, fd;
	int64_t handle, buffer, file;
	struct fakegpu_extent *extents;
	int nr_extents;
	bool mounted;
};

FIXTURE_VARIANT(io) {
	const char *fs;		/* NULL: the raw disk */
	uint32_t behaviour;
	uint32_t flags;
	uint64_t extent_size;
};

FIXTURE_VARIANT_ADD(io, raw) { .behaviour = FAKEGPU_STATIC };
FIXTURE_VARIANT_ADD(io, ext4) { .fs = "ext4", .behaviour = FAKEGPU_REVOCABLE };
FIXTURE_VARIANT_ADD(io, xfs) { .fs = "xfs", .behaviour = FAKEGPU_MOVABLE };
FIXTURE_VARIANT_ADD(io, raw_scattered) {
	.behaviour = FAKEGPU_STATIC,
	.flags = FAKEGPU_SCATTERED | FAKEGPU_SPLIT_SG,
	.extent_size = KIB(64),
};

static const char *path_of(const char *fs)
{
	return fs ? MOUNT "/source" : test_disk();
}

static const char *target_of(const char *fs)
{
	return fs ? MOUNT "/target" : test_disk();
}

FIXTURE_SETUP(io)
{
	if (variant->fs) {
		ASSERT_EQ(0, fs_make(variant->fs, MOUNT));
		self->mounted = true;
	}
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, variant->behaviour,
				 variant->flags, variant->extent_size);
	ASSERT_LT(0, self->handle);
	self->nr_extents = gpu_extents(self->gpu, self->handle,
				       &self->extents);
	ASSERT_LT(0, self->nr_extents);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, self->buffer);
}

FIXTURE_TEARDOWN(io)
{
	close(self->fd);
	close(self->dmabuf);
	close(self->pd);
	close(self->gpu);
	free(self->extents);
	if (self->mounted)
		EXPECT_EQ(0, fs_unmake(MOUNT));
}

static int64_t open_file(int pd, int *fd, const char *path, int flags)
{
	*fd = open(path, flags | O_CLOEXEC, 0644);
	return *fd < 0 ? -errno : pd_file(pd, *fd, NULL);
}

TEST_F_TIMEOUT(io, read, SECONDS)
{
	char host[65], file[65];
	struct pdio_route route;
	struct pdio_info info;
	struct pdio_rw rw;

	ASSERT_EQ(0, disk_fill(path_of(variant->fs), 0, SIZE, 7));
	self->file = open_file(self->pd, &self->fd, path_of(variant->fs),
			       O_RDONLY);
	ASSERT_LT(0, self->file);
	ASSERT_EQ(0, pd_route(self->pd, self->buffer, self->file, PDIO_OP_READ,
			      &route));
	EXPECT_EQ(PDIO_ROUTE_DIRECT, route.out_route);
	EXPECT_EQ(PDIO_REASON_NONE, route.out_reason);
	EXPECT_EQ(test_bed_is("switch multi") ? PDIO_MAP_BUS_ADDR :
		  PDIO_MAP_HOST_BRIDGE, route.out_map_type);

	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 99));
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(SIZE, rw.out_bytes_direct);
	EXPECT_EQ(0, rw.out_bytes_staged);
	EXPECT_EQ(0, rw.out_bytes_cpu);
	EXPECT_EQ(PDIO_REASON_NONE, rw.out_reason);
	ASSERT_EQ(0, host_sum(0, self->extents, self->nr_extents, host));
	ASSERT_EQ(0, pattern_sum(7, SIZE, file));
	EXPECT_STREQ(file, host);

	ASSERT_EQ(0, pd_info(self->pd, &info));
	EXPECT_EQ(1, info.out_ops);
	EXPECT_EQ(SIZE, info.out_bytes_direct);
	EXPECT_EQ(0, info.out_bytes_staged + info.out_bytes_cpu);
}

TEST_F_TIMEOUT(io, write, SECONDS)
{
	struct pdio_rw rw;

	self->file = open_file(self->pd, &self->fd, target_of(variant->fs),
			       O_RDWR | O_CREAT);
	ASSERT_LT(0, self->file);
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 42));
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_WRITE, PDIO_RW_FLAG_REQUIRE_DIRECT |
			PDIO_RW_FLAG_DSYNC, self->file, 0, self->buffer, 0,
			SIZE, &rw));
	EXPECT_EQ(SIZE, rw.out_bytes_direct);
	EXPECT_EQ(0, rw.out_bytes_staged);
	EXPECT_EQ(0, rw.out_bytes_cpu);
	EXPECT_EQ(0, disk_check(target_of(variant->fs), 0, SIZE, 42));
}

/* Odd places: every byte around what was asked for has to stay. */
TEST_F_TIMEOUT(io, parts, SECONDS)
{
	static const struct {
		uint64_t file_offset, offset, length;
	} part[] = {
		{ 0, 0, 512 }, { 512, 4, 512 }, { 4096, 4092, 4096 },
		{ 1536, 512, 65536 }, { MIB(3), MIB(5) + 2048, MIB(2) },
		{ SMALL - 512, SMALL - 512, 512 }, { 0, MIB(1) - 4, KIB(512) },
	};
	unsigned char *want, *have;
	struct pdio_rw rw;
	size_t i;

	ASSERT_EQ(0, disk_fill(path_of(variant->fs), 0, SMALL, 7));
	self->file = open_file(self->pd, &self->fd, path_of(variant->fs),
			       O_RDONLY);
	ASSERT_LT(0, self->file);
	want = malloc(SMALL);
	have = malloc(SMALL);
	ASSERT_TRUE(want && have);
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		TH_LOG("part %zu", i);
		ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SMALL, 5));
		fill_host(want, SMALL, 5, 0);
		ASSERT_EQ((int64_t)part[i].length,
			  pd_io(self->pd, PDIO_OP_READ,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->file,
				part[i].file_offset, self->buffer,
				part[i].offset, part[i].length, &rw));
		EXPECT_EQ(part[i].length, rw.out_bytes_direct);
		for (uint64_t j = 0; j < part[i].length; j++) {
			uint64_t at = part[i].file_offset + j;
			uint64_t word = fakegpu_word(7, at / 8);

			want[part[i].offset + j] = word >> (at % 8 * 8);
		}
		ASSERT_EQ(0, gpu_copy_out(self->gpu, self->handle, 0, SMALL,
					  have));
		EXPECT_EQ(0, memcmp(want, have, SMALL));
	}
	free(want);
	free(have);
}

/* preadv: the file's bytes in the order of the segments. */
TEST_F_TIMEOUT(io, vector, SECONDS)
{
	struct pdio_segment segment[5];
	uint64_t sum, want;
	struct pdio_rw rw = {
		.flags = PDIO_RW_FLAG_REQUIRE_DIRECT,
		.op = PDIO_OP_READ,
		.file_offset = MIB(1),
		.segments = (uintptr_t)segment,
		.nr_segments = 5,
	};
	int64_t second;
	void *data;
	int i;

	ASSERT_EQ(0, disk_fill(path_of(variant->fs), 0, SMALL, 7));
	self->file = open_file(self->pd, &self->fd, path_of(variant->fs),
			       O_RDONLY);
	ASSERT_LT(0, self->file);
	/* The same memory a second time, shifted by a page. */
	second = pd_buffer(self->pd, self->dmabuf, 4096, 0, self->file, NULL);
	ASSERT_LT(0, second);
	memset(segment, 0, sizeof(segment));
	for (i = 0; i < 5; i++) {
		segment[i].buffer_id = i % 2 ? second : self->buffer;
		segment[i].offset = MIB(10 - i) - (i % 2 ? 4096 : 0);
		segment[i].length = i == 2 ? 0 : MIB(1);
	}
	rw.file_id = self->file;
	ASSERT_EQ(0, pd_rw(self->pd, &rw));
	EXPECT_EQ(MIB(4), rw.out_bytes);
	EXPECT_EQ(MIB(4), rw.out_bytes_direct);
	data = malloc(MIB(1));
	ASSERT_NE(NULL, data);
	for (i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		fill_host(data, MIB(1), 7, MIB(1) + MIB(i > 2 ? i - 1 : i));
		want = sum_host(data, MIB(1));
		ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, MIB(10 - i),
				     MIB(1), &sum));
		EXPECT_EQ(want, sum);
	}
	free(data);
}

TEST_HARNESS_MAIN
