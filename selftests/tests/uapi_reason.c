// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files, or parts of files, that can't be one end of a direct route: they are
 * registered all the same, every command gives the same reason, and requests are
 * refused before anything moves. And where a file ends.
 */
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

#define MOUNT "/tmp/uapi_reason"
#define PAGE 4096
#define SEED 7

FIXTURE(reason) {
	int pd;
	int gpu;
	int dmabuf;
	uint32_t handle;
	uint32_t buffer;
	bool mounted;
	struct pdio_rw rw;	/* the last request */
};

FIXTURE_SETUP(reason)
{
	int64_t ret;

	/* The file is asked first, but where it can the devices have a say. */
	if (!test_bed_is(WORLD_DIRECT_BEDS))
		SKIP(return, "bed '%s' has no direct route", test_bed());
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	ret = gpu_alloc(self->gpu, WORLD_BYTES, FAKEGPU_STATIC, 0, 0);
	ASSERT_LT(0, ret);
	self->handle = ret;
	self->dmabuf = gpu_export(self->gpu, ret, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	ret = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, ret);
	self->buffer = ret;
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, WORLD_BYTES, SEED));
	mkdir(MOUNT, 0700);
}

FIXTURE_TEARDOWN(reason)
{
	int error;

	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
	error = self->mounted && umount(MOUNT) ? errno : 0;
	EXPECT_EQ(0, error) TH_LOG("something still uses the file system");
	if (error)
		umount2(MOUNT, MNT_DETACH);
}

/* A file with @bytes of a pattern, in the page cache and on storage; or -1. */
static int new_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *data = malloc(bytes);

	memset(data, 0x5a, bytes);
	if (fd >= 0 && (write(fd, data, bytes) != (ssize_t)bytes ||
			fsync(fd))) {
		close(fd);
		fd = -1;
	}
	free(data);
	return fd;
}

static bool file_is(int fd, int byte, size_t bytes)
{
	char *data = malloc(bytes);
	bool same = pread(fd, data, bytes, 0) == (ssize_t)bytes;
	size_t i;

	for (i = 0; i < bytes && same; i++)
		same = data[i] == byte;
	free(data);
	return same;
}

/* Does GPU memory from @offset on still hold the fixture's pattern? */
static bool gpu_untouched(FIXTURE_DATA(reason) * self, uint64_t offset)
{
	uint64_t words[WORLD_BYTES / 8], sum;

	fill_host(words, WORLD_BYTES, SEED, 0);
	return !gpu_sum(self->gpu, self->handle, offset, WORLD_BYTES - offset,
			&sum) &&
	       sum == sum_host((char *)words + offset, WORLD_BYTES - offset);
}

static int64_t io(FIXTURE_DATA(reason) * self, uint32_t op, uint32_t flags,
		  uint32_t file, uint64_t pos, uint64_t bytes)
{
	return pd_io(self->pd, op, flags, file, pos, self->buffer, 0, bytes,
		     &self->rw);
}

/* One request, with and without REQUIRE_DIRECT, that can't go direct. */
static void refused_request(struct __test_metadata *_metadata,
			    FIXTURE_DATA(reason) * self, uint32_t op,
			    uint32_t file, uint64_t pos, uint64_t bytes,
			    uint32_t reason)
{
	EXPECT_EQ(-EXDEV, io(self, op, PDIO_RW_FLAG_REQUIRE_DIRECT, file, pos,
			     bytes));
	EXPECT_EQ(reason, self->rw.out_reason);
	EXPECT_EQ(0, self->rw.out_bytes);
	EXPECT_EQ(-EOPNOTSUPP, io(self, op, 0, file, pos, bytes));
	EXPECT_EQ(PDIO_REASON_UNSUPPORTED, self->rw.out_reason);
	EXPECT_EQ(0, self->rw.out_bytes);
	EXPECT_TRUE(gpu_untouched(self, 0));
}

/* A file of @bytes that can never go direct. Closes @fd. */
static void refused_file(struct __test_metadata *_metadata,
			 FIXTURE_DATA(reason) * self, int fd, size_t bytes,
			 uint32_t reason)
{
	struct pdio_file_register reg;
	struct pdio_info before, after;
	struct pdio_route route;
	uint32_t hint, op;
	int64_t file, id;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pd_info(self->pd, &before));
	file = pd_file(self->pd, fd, &reg);
	ASSERT_LT(0, file);
	EXPECT_EQ(reason, reg.out_reason);
	if (reason == PDIO_REASON_FS_NOT_DIRECT) {
		EXPECT_EQ(0, reg.out_offset_align);
		EXPECT_EQ(0, reg.out_mem_align);
	}
	id = pd_buffer(self->pd, self->dmabuf, 0, 0, file, &hint);
	EXPECT_LT(0, id);
	EXPECT_EQ(reason, hint);
	for (op = PDIO_OP_READ; op <= PDIO_OP_WRITE; op++) {
		EXPECT_EQ(0, pd_route(self->pd, self->buffer, file, op,
				      &route));
		EXPECT_EQ(PDIO_ROUTE_NONE, route.out_route);
		EXPECT_EQ(reason, route.out_reason);
		EXPECT_EQ(PDIO_MAP_UNKNOWN, route.out_map_type);
		refused_request(_metadata, self, op, file, 0, bytes, reason);
	}
	EXPECT_TRUE(file_is(fd, 0x5a, bytes));
	EXPECT_EQ(0, pd_destroy(self->pd, id));
	EXPECT_EQ(0, pd_destroy(self->pd, file));
	ASSERT_EQ(0, pd_info(self->pd, &after));
	EXPECT_EQ(before.out_ops + 4, after.out_ops);
	EXPECT_EQ(before.out_bytes_direct, after.out_bytes_direct);
	EXPECT_EQ(before.out_bytes_cpu, after.out_bytes_cpu);
	close(fd);
}

/* Memory is all that such a file has. */
TEST_F(reason, tmpfs)
{
	ASSERT_EQ(0, mount("reason", MOUNT, "tmpfs", 0, NULL));
	self->mounted = true;
	refused_file(_metadata, self, new_file(MOUNT "/file", 4 * PAGE),
		     4 * PAGE, PDIO_REASON_FS_NOT_DIRECT);
}

/* Has direct I/O, and is not among the file systems that are served. */
TEST_F_TIMEOUT(reason, btrfs, 300)
{
	ASSERT_EQ(0, fs_make("btrfs", MOUNT));
	self->mounted = true;
	refused_file(_metadata, self, new_file(MOUNT "/file", 4 * PAGE),
		     4 * PAGE, PDIO_REASON_UNSUPPORTED);
}

static int mount_ext4(const char *options)
{
	return run_command("mkfs.ext4 -qF %s && mount -t ext4 -o %s %s %s",
			   test_disk(), options, test_disk(), MOUNT);
}

/* Data goes through the journal, so it has to come from memory. */
TEST_F_TIMEOUT(reason, ext4_data_journal, 300)
{
	ASSERT_EQ(0, mount_ext4("data=journal"));
	self->mounted = true;
	refused_file(_metadata, self, new_file(MOUNT "/file", 4 * PAGE),
		     4 * PAGE, PDIO_REASON_FS_NOT_DIRECT);
}

/* A loop device on @backing, and its node in @path; or -1. */
static int loop_open(int backing, char *path, size_t room)
{
	int control, loop, nr;

	run_command("modprobe -q loop");
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	nr = ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	snprintf(path, room, "/dev/loop%d", nr);
	loop = open(path, O_RDWR | O_CLOEXEC);
	if (loop < 0 || ioctl(loop, LOOP_SET_FD, backing))
		return -1;
	return loop;
}

/* Nothing on the PCI bus does its DMA. */
TEST_F(reason, loop_device)
{
	int backing = new_file("/tmp/uapi_reason.img", 16 * PAGE);
	char path[32];
	int loop;

	ASSERT_LE(0, backing);
	unlink("/tmp/uapi_reason.img");
	loop = loop_open(backing, path, sizeof(path));
	ASSERT_LE(0, loop);
	refused_file(_metadata, self, open(path, O_RDWR | O_CLOEXEC), 16 * PAGE,
		     PDIO_REASON_NO_CLIENT);
	EXPECT_EQ(0, ioctl(loop, LOOP_CLR_FD));
	close(loop);
	close(backing);
}

/* Holes and unwritten blocks: zeros, made by the CPU, and never old contents. */
TEST_F_TIMEOUT(reason, zeroed, 300)
{
	uint64_t got[WORLD_BYTES / 8];
	int hole, unwritten, mixed, i, j;
	struct {
		int fd;
		uint64_t pos;
		uint64_t bytes;
	} cases[4];
	int64_t file;

	ASSERT_EQ(0, mount_ext4("defaults"));
	self->mounted = true;
	hole = open(MOUNT "/hole", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ASSERT_EQ(0, ftruncate(hole, WORLD_BYTES));
	unwritten = open(MOUNT "/unwritten", O_RDWR | O_CREAT | O_CLOEXEC,
			 0600);
	ASSERT_EQ(0, posix_fallocate(unwritten, 0, WORLD_BYTES));
	mixed = new_file(MOUNT "/mixed", PAGE);
	ASSERT_EQ(0, ftruncate(mixed, WORLD_BYTES));
	sync();
	cases[0] = (typeof(cases[0])) { hole, 0, WORLD_BYTES };
	cases[1] = (typeof(cases[0])) { unwritten, PAGE, 8 * PAGE };
	cases[2] = (typeof(cases[0])) { mixed, PAGE, PAGE };
	/* Its first page is data, and doesn't come either. */
	cases[3] = (typeof(cases[0])) { mixed, 0, 2 * PAGE };
	for (i = 0; i < 4; i++) {
		file = pd_file(self->pd, cases[i].fd, NULL);
		ASSERT_LT(0, file);
		ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, WORLD_BYTES,
				      SEED));
		EXPECT_EQ(-EXDEV, io(self, PDIO_OP_READ,
				     PDIO_RW_FLAG_REQUIRE_DIRECT, file,
				     cases[i].pos, cases[i].bytes));
		EXPECT_EQ(PDIO_REASON_ZEROED, self->rw.out_reason);
		EXPECT_EQ(0, self->rw.out_bytes);
		EXPECT_TRUE(gpu_untouched(self, 0));
		EXPECT_EQ(cases[i].bytes, io(self, PDIO_OP_READ, 0, file,
					     cases[i].pos, cases[i].bytes));
		EXPECT_EQ(PDIO_REASON_ZEROED, self->rw.out_reason);
		EXPECT_EQ(cases[i].bytes, self->rw.out_bytes);
		EXPECT_EQ(0, self->rw.out_bytes_direct);
		EXPECT_EQ(0, self->rw.out_bytes_staged);
		EXPECT_EQ(cases[i].bytes, self->rw.out_bytes_cpu);
		EXPECT_TRUE(gpu_untouched(self, cases[i].bytes));
		ASSERT_EQ(0, gpu_copy_out(self->gpu, self->handle, 0,
					  WORLD_BYTES, got));
		for (j = i == 3 ? PAGE / 8 : 0; j < cases[i].bytes / 8; j++)
			ASSERT_EQ(0, got[j]);
		EXPECT_EQ(0, pd_destroy(self->pd, file));
	}
	close(hole);
	close(unwritten);
	close(mixed);
}

/* A read at @pos for @bytes that goes direct, or finds nothing: @want bytes. */
static void reads(struct __test_metadata *_metadata,
		  FIXTURE_DATA(reason) * self, uint32_t file, uint64_t pos,
		  uint64_t bytes, uint64_t want)
{
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, WORLD_BYTES, SEED));
	EXPECT_EQ(want, io(self, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			   file, pos, bytes))
		TH_LOG("%llu bytes at %llu", (unsigned long long)bytes,
		       (unsigned long long)pos);
	EXPECT_EQ(PDIO_REASON_NONE, self->rw.out_reason);
	EXPECT_EQ(want, self->rw.out_bytes_direct);
	/* What is past the end of the file is not written. */
	EXPECT_TRUE(gpu_untouched(self, want));
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, WORLD_BYTES, SEED));
}

TEST_F_TIMEOUT(reason, end_of_file, 300)
{
	const uint32_t tail = PDIO_REASON_EOF_TAIL;
	const uint32_t unaligned = PDIO_REASON_UNALIGNED;
	const uint64_t end = 10000;
	int64_t file;
	int fd;

	ASSERT_EQ(0, mount_ext4("defaults"));
	self->mounted = true;
	fd = new_file(MOUNT "/file", end);
	file = pd_file(self->pd, fd, NULL);
	ASSERT_LT(0, file);

	/* At the end, after it, and far after it. */
	reads(_metadata, self, file, end, PAGE, 0);
	reads(_metadata, self, file, 3 * PAGE, PAGE, 0);
	reads(_metadata, self, file, 3 * PAGE + 1, 8, 0);
	reads(_metadata, self, file, 1ULL << 50, PAGE, 0);
	/* Before its last block. */
	reads(_metadata, self, file, 0, 2 * PAGE, 2 * PAGE);
	reads(_metadata, self, file, 2 * PAGE, 1536, 1536);
	/* Into its last block. */
	refused_request(_metadata, self, PDIO_OP_READ, file, 2 * PAGE, PAGE,
			tail);
	refused_request(_metadata, self, PDIO_OP_READ, file, 0, WORLD_BYTES,
			tail);
	refused_request(_metadata, self, PDIO_OP_READ, file, 2 * PAGE,
			end - 2 * PAGE, tail);
	/* Not the file's end, but the request's. */
	refused_request(_metadata, self, PDIO_OP_READ, file, 2 * PAGE, 1000,
			unaligned);
	refused_request(_metadata, self, PDIO_OP_READ, file, 2 * PAGE + 1, PAGE,
			unaligned);
	/* Writing has no end there. */
	refused_request(_metadata, self, PDIO_OP_WRITE, file, 2 * PAGE,
			end - 2 * PAGE, unaligned);
	EXPECT_TRUE(file_is(fd, 0x5a, end));
	EXPECT_EQ(end, lseek(fd, 0, SEEK_END));

	/* A file that ends with a block. */
	ASSERT_EQ(0, ftruncate(fd, 3 * PAGE));
	ASSERT_EQ(PAGE, pwrite(fd, "", 1, 3 * PAGE - 1) * PAGE);
	ASSERT_EQ(0, fsync(fd));
	reads(_metadata, self, file, 2 * PAGE, 4 * PAGE, PAGE);
	reads(_metadata, self, file, 3 * PAGE, PAGE, 0);
	close(fd);
}

TEST_HARNESS_MAIN
