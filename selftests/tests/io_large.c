// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large and scattered memory: 4096 extents of one page each in shuffled order,
 * and a buffer as large as a 1 GiB BAR, moved by one call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

FIXTURE(large) {
	int pd, gpu, dmabuf, fd;
	int64_t handle, buffer, file;
	uint64_t size;
};

FIXTURE_VARIANT(large) {
	uint64_t size;		/* 0: the whole BAR */
	uint32_t behaviour;
	uint32_t flags;
	uint64_t extent_size;
};

FIXTURE_VARIANT_ADD(large, extents_4096) {
	.size = 4096 * 4096,
	.behaviour = FAKEGPU_REVOCABLE,
	.flags = FAKEGPU_SCATTERED,
	.extent_size = 4096,
};

FIXTURE_VARIANT_ADD(large, whole_bar) { .behaviour = FAKEGPU_STATIC };

FIXTURE_SETUP(large)
{
	struct fakegpu_info info;

	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	ASSERT_EQ(0, gpu_info(self->gpu, &info));
	self->size = variant->size ? variant->size : info.bar_size;
	self->handle = gpu_alloc(self->gpu, self->size, variant->behaviour,
				 variant->flags, variant->extent_size);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->file = pd_file(self->pd, self->fd, NULL);
	ASSERT_LT(0, self->file);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file,
				 NULL);
	ASSERT_LT(0, self->buffer);
}

FIXTURE_TEARDOWN(large)
{
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
}

TEST_F_TIMEOUT(large, extents, 120)
{
	struct fakegpu_extent *extents;
	int nr = gpu_extents(self->gpu, self->handle, &extents);

	/* The memory is as awkward as this test claims. */
	EXPECT_EQ(variant->size ? 4096 : 1, nr);
	free(extents);
}

TEST_F_TIMEOUT(large, read_in_one_call, 300)
{
	struct fakegpu_extent *extents;
	char host[65], want[65];
	struct pdio_rw rw;
	int nr;

	ASSERT_EQ(0, disk_fill(test_disk(), 0, self->size, 21));
	EXPECT_EQ((int64_t)self->size,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, self->size, &rw));
	EXPECT_EQ(self->size, rw.out_bytes_direct);
	nr = gpu_extents(self->gpu, self->handle, &extents);
	ASSERT_LT(0, nr);
	ASSERT_EQ(0, host_sum(0, extents, nr, host));
	ASSERT_EQ(0, pattern_sum(21, self->size, want));
	EXPECT_STREQ(want, host);
	free(extents);
}

TEST_F_TIMEOUT(large, write_in_one_call, 300)
{
	struct pdio_rw rw;

	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, self->size, 22));
	EXPECT_EQ((int64_t)self->size,
		  pd_io(self->pd, PDIO_OP_WRITE, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, self->size, &rw));
	EXPECT_EQ(self->size, rw.out_bytes_direct);
	EXPECT_EQ(0, disk_check(test_disk(), 0, self->size, 22));
}

TEST_HARNESS_MAIN
