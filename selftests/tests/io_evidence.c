// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel copies or zeroes by CPU must never be called direct, and what is
 * direct must not be doubted without need.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE MIB(4)
#define MOUNT "/tmp/io_evidence"
#define FILE_PATH MOUNT "/file"

FIXTURE(evidence) {
	int pd, gpu, dmabuf, fd;
	int64_t handle, buffer, file;
	struct pdio_rw rw;
};

FIXTURE_VARIANT(evidence) {
	const char *fs;
};

FIXTURE_VARIANT_ADD(evidence, ext4) { .fs = "ext4" };
FIXTURE_VARIANT_ADD(evidence, xfs) { .fs = "xfs" };

FIXTURE_SETUP(evidence)
{
	ASSERT_EQ(0, fs_make(variant->fs, MOUNT));
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_STATIC, 0, 0);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, self->buffer);
	self->fd = -1;
}

FIXTURE_TEARDOWN(evidence)
{
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
	EXPECT_EQ(0, fs_unmake(MOUNT));
}

static int64_t take(FIXTURE_DATA(evidence) * self, int flags)
{
	self->fd = open(FILE_PATH, flags | O_CLOEXEC, 0644);
	if (self->fd < 0)
		return -errno;
	self->file = pd_file(self->pd, self->fd, NULL);
	return self->file;
}

static int64_t io(FIXTURE_DATA(evidence) * self, uint32_t op, uint32_t flags,
		  uint64_t offset, uint64_t length)
{
	return pd_io(self->pd, op, flags, self->file, offset, self->buffer, 0,
		     length, &self->rw);
}

/* A direct read leaves a clean cache alone, and is direct all the same. */
TEST_F_TIMEOUT(evidence, cached_read, 120)
{
	uint64_t sum, want;
	void *data;

	ASSERT_EQ(0, disk_fill(FILE_PATH, 0, SIZE, 61));
	ASSERT_EQ(0, run_command("cat %s >/dev/null", FILE_PATH));
	ASSERT_LT(0, take(self, O_RDONLY));
	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_READ,
				    PDIO_RW_FLAG_REQUIRE_DIRECT, 0, SIZE));
	EXPECT_EQ(SIZE, self->rw.out_bytes_direct);
	data = malloc(SIZE);
	ASSERT_NE(NULL, data);
	fill_host(data, SIZE, 61, 0);
	want = sum_host(data, SIZE);
	free(data);
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &sum));
	EXPECT_EQ(want, sum);
}

/* Dirty pages are written first: the read sees them, and is direct. */
TEST_F_TIMEOUT(evidence, dirty_read, 120)
{
	uint64_t sum, want;
	void *data = malloc(SIZE);

	ASSERT_NE(NULL, data);
	ASSERT_EQ(0, disk_fill(FILE_PATH, 0, SIZE, 62));
	ASSERT_LT(0, take(self, O_RDWR));
	fill_host(data, SIZE, 63, 0);
	ASSERT_EQ((ssize_t)SIZE, pwrite(self->fd, data, SIZE, 0));
	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_READ,
				    PDIO_RW_FLAG_REQUIRE_DIRECT, 0, SIZE));
	EXPECT_EQ(SIZE, self->rw.out_bytes_direct);
	want = sum_host(data, SIZE);
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &sum));
	EXPECT_EQ(want, sum);

	/* And the other way: a direct write is seen by a buffered read. */
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 64));
	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_WRITE,
				    PDIO_RW_FLAG_REQUIRE_DIRECT, 0, SIZE));
	EXPECT_EQ(SIZE, self->rw.out_bytes_direct);
	ASSERT_EQ((ssize_t)SIZE, pread(self->fd, data, SIZE, 0));
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &sum));
	want = sum_host(data, SIZE);
	EXPECT_EQ(want, sum);
	free(data);
}

static void expect_zeroed(struct __test_metadata *_metadata,
			  FIXTURE_DATA(evidence) * self)
{
	uint64_t before, after;
	char *data = malloc(SIZE);
	size_t i;

	ASSERT_NE(NULL, data);
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 65));
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &before));
	EXPECT_EQ(-EXDEV, io(self, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT, 0,
			     SIZE));
	EXPECT_EQ(PDIO_REASON_ZEROED, self->rw.out_reason);
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &after));
	EXPECT_EQ(before, after);

	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_READ, 0, 0, SIZE));
	EXPECT_EQ(0, self->rw.out_bytes_direct);
	EXPECT_EQ(SIZE, self->rw.out_bytes_cpu);
	EXPECT_EQ(PDIO_REASON_ZEROED, self->rw.out_reason);
	ASSERT_EQ(0, gpu_copy_out(self->gpu, self->handle, 0, SIZE, data));
	for (i = 0; i < SIZE && !data[i]; i++)
		;
	EXPECT_EQ(SIZE, i);
	free(data);
}

TEST_F_TIMEOUT(evidence, hole, 120)
{
	ASSERT_EQ(0, run_command("truncate -s 4M %s", FILE_PATH));
	ASSERT_LT(0, take(self, O_RDONLY));
	expect_zeroed(_metadata, self);
}

/* Allocated, never written: old contents of the disk must not show. */
TEST_F_TIMEOUT(evidence, unwritten, 120)
{
	ASSERT_EQ(0, run_command("fallocate -l 4M %s", FILE_PATH));
	ASSERT_LT(0, take(self, O_RDONLY));
	expect_zeroed(_metadata, self);
}

/* One hole in the middle: none of the piece that meets it is called direct. */
TEST_F_TIMEOUT(evidence, punched, 120)
{
	ASSERT_EQ(0, disk_fill(FILE_PATH, 0, SIZE, 66));
	ASSERT_EQ(0, run_command("fallocate -p -o 1M -l 4096 %s", FILE_PATH));
	ASSERT_LT(0, take(self, O_RDONLY));
	EXPECT_EQ(-EXDEV, io(self, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT, 0,
			     SIZE));
	/* Pieces end where windows do, which is nowhere near. */
	EXPECT_EQ((int64_t)KIB(12), io(self, PDIO_OP_READ, 0, MIB(1) - 4096,
				       KIB(12)));
	EXPECT_EQ(0, self->rw.out_bytes_direct);
	EXPECT_EQ(KIB(12), self->rw.out_bytes_cpu);
	EXPECT_EQ(PDIO_REASON_ZEROED, self->rw.out_reason);
	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_READ, 0, 0, SIZE));
	EXPECT_EQ(SIZE, self->rw.out_bytes_direct + self->rw.out_bytes_cpu);
	EXPECT_LT(0, self->rw.out_bytes_cpu);
	EXPECT_EQ((int64_t)MIB(1), io(self, PDIO_OP_READ,
				      PDIO_RW_FLAG_REQUIRE_DIRECT, 0, MIB(1)));
	EXPECT_EQ(MIB(1), self->rw.out_bytes_direct);
}

/*
 * XFS copies writes to shared blocks through its page cache when they aren't
 * aligned to whole blocks: many in a row, so that the dirty throttling, which
 * clears the counters that tell, falls between.
 */
TEST_F_TIMEOUT(evidence, shared_blocks, 300)
{
	uint64_t length, at;

	if (strcmp(variant->fs, "xfs"))
		return;
	ASSERT_EQ(0, run_command("dd if=/dev/zero of=%s bs=1M count=72 oflag=direct status=none",
				 FILE_PATH));
	ASSERT_LT(0, take(self, O_RDWR));
	EXPECT_EQ((int64_t)512, io(self, PDIO_OP_WRITE,
				   PDIO_RW_FLAG_REQUIRE_DIRECT, 512, 512));
	ASSERT_EQ(0, run_command("cp --reflink=always %s %s.copy", FILE_PATH,
				 FILE_PATH));
	/* The alignment of the file is another one now. */
	EXPECT_EQ(-EXDEV, io(self, PDIO_OP_WRITE, PDIO_RW_FLAG_REQUIRE_DIRECT,
			     512, 512));
	EXPECT_EQ(PDIO_REASON_UNALIGNED, self->rw.out_reason);
	for (length = KIB(256); length <= MIB(1); length *= 4) {
		for (at = 512; at + MIB(2) < MIB(62); at += MIB(2)) {
			ASSERT_EQ((int64_t)length,
				  io(self, PDIO_OP_WRITE, 0, at, length));
			EXPECT_EQ(0, self->rw.out_bytes_direct);
			EXPECT_EQ(PDIO_REASON_FS_FELL_BACK,
				  self->rw.out_reason);
		}
	}
	/* Whole blocks go direct, shared or not. */
	EXPECT_EQ((int64_t)SIZE, io(self, PDIO_OP_WRITE,
				    PDIO_RW_FLAG_REQUIRE_DIRECT, MIB(64),
				    SIZE));
	EXPECT_EQ(SIZE, self->rw.out_bytes_direct);
}

TEST_HARNESS_MAIN
