// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lifetimes of what a caller makes: in which order things are closed, destroyed
 * or killed must not matter, while requests run or not, and afterwards nothing
 * may stay pinned.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "load.h"
#include "testlib.h"

#define SIZE MIB(16)

FIXTURE(life) {
	int pd, gpu, dmabuf, fd;
	int64_t handle, buffer, file;
};

FIXTURE_SETUP(life)
{
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE, 0, 0);
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

FIXTURE_TEARDOWN(life)
{
	struct fakegpu_stat stat;

	if (self->pd >= 0)
		close(self->pd);
	EXPECT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.mapped);
	EXPECT_EQ(0, stat.attached);
	close(self->gpu);
	close(self->dmabuf);
	close(self->fd);
}

/* ---- order of closing ---------------------------------------------------- */

/* Every order of giving up the five things: 120 of them. */
static void give_up(FIXTURE_DATA(life) * self, int what)
{
	switch (what) {
	case 0:
		pd_destroy(self->pd, self->buffer);
		break;
	case 1:
		pd_destroy(self->pd, self->file);
		break;
	case 2:
		close(self->dmabuf);
		self->dmabuf = -1;
		break;
	case 3:
		close(self->fd);
		self->fd = -1;
		break;
	case 4:
		close(self->pd);
		self->pd = -1;
		break;
	}
}

TEST_F_TIMEOUT(life, close_in_any_order, 300)
{
	int order[5], n, i, j, used, left;
	struct fakegpu_stat stat;

	for (n = 0; n < 120; n++) {
		for (i = 0, used = 0, left = n; i < 5; i++) {
			int pick = left % (5 - i);

			left /= 5 - i;
			for (j = 0; j < 5; j++)
				if (!(used & (1 << j)) && !pick--)
					break;
			used |= 1 << j;
			order[i] = j;
		}
		for (i = 0; i < 5; i++)
			give_up(self, order[i]);
		ASSERT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
		ASSERT_EQ(0, stat.mapped + stat.attached + stat.pinned);

		self->pd = pd_open();
		ASSERT_LE(0, self->pd);
		self->dmabuf = gpu_export(self->gpu, self->handle,
					  O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, self->dmabuf);
		self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, self->fd);
		self->file = pd_file(self->pd, self->fd, NULL);
		ASSERT_LT(0, self->file);
		self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0,
					 self->file, NULL);
		ASSERT_LT(0, self->buffer);
	}
}

TEST_F(life, memory_outlives_its_descriptors)
{
	/* The buffer and the file need neither descriptor any more. */
	close(self->dmabuf);
	self->dmabuf = -1;
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, SIZE, NULL));
}

TEST_F(life, same_memory_twice)
{
	struct fakegpu_stat stat;
	int64_t again, part;

	again = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, again);
	EXPECT_NE(self->buffer, again);
	part = pd_buffer(self->pd, self->dmabuf, MIB(1), MIB(2), self->file,
			 NULL);
	ASSERT_LT(0, part);
	EXPECT_EQ((int64_t)MIB(2),
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, part, 0, MIB(2), NULL));
	EXPECT_EQ(0, pd_destroy(self->pd, self->buffer));
	EXPECT_EQ((int64_t)MIB(2),
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, again, MIB(1), MIB(2), NULL));
	EXPECT_EQ(0, pd_destroy(self->pd, part));
	EXPECT_EQ(0, pd_destroy(self->pd, again));
	ASSERT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.mapped);
}

/* ---- while requests run -------------------------------------------------- */

TEST_F_TIMEOUT(life, destroy_buffer_in_use, 120)
{
	struct load load = { .pd = self->pd, .buffer = self->buffer,
			     .file = self->file, .length = SIZE };
	struct fakegpu_stat stat;

	load_start(&load);
	EXPECT_EQ(0, pd_destroy(self->pd, self->buffer));
	/* Drained: nothing is mapped the moment the call returns. */
	EXPECT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.mapped);
	EXPECT_EQ(-ENOENT, pd_destroy(self->pd, self->buffer));
	load_stop(&load);
	EXPECT_EQ(0, load.bad);
}

TEST_F_TIMEOUT(life, destroy_file_in_use, 120)
{
	struct load load = { .pd = self->pd, .buffer = self->buffer,
			     .file = self->file, .length = SIZE };

	load_start(&load);
	EXPECT_EQ(0, pd_destroy(self->pd, self->file));
	EXPECT_EQ(-ENOENT, pd_io(self->pd, PDIO_OP_READ, 0, self->file, 0,
				 self->buffer, 0, SIZE, NULL));
	load_stop(&load);
	EXPECT_EQ(0, load.bad);
}

TEST_F_TIMEOUT(life, revoke_in_use, 300)
{
	int rounds = test_long() ? 1000 : 20, i;
	struct load load = { .pd = self->pd, .file = self->file,
			     .length = SIZE };
	uint64_t drain, longest = 0;
	struct pdio_rw rw;

	EXPECT_EQ(0, pd_destroy(self->pd, self->buffer));
	for (i = 0; i < rounds; i++) {
		int64_t handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE,
					   FAKEGPU_SCATTERED, KIB(64));
		int dmabuf;

		ASSERT_LT(0, handle);
		dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, dmabuf);
		load.buffer = pd_buffer(self->pd, dmabuf, 0, 0, self->file,
					NULL);
		ASSERT_LT(0, load.buffer);
		load_start(&load);
		usleep(rand() % 5000);
		ASSERT_EQ(0, gpu_revoke(self->gpu, handle, 30000, &drain));
		longest = drain > longest ? drain : longest;
		EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_READ, 0, self->file,
					 0, load.buffer, 0, SIZE, &rw));
		EXPECT_EQ(PDIO_REASON_REVOKED, rw.out_reason);
		load_stop(&load);
		ASSERT_EQ(0, load.bad);
		EXPECT_EQ(0, pd_destroy(self->pd, load.buffer));
		close(dmabuf);
		gpu_free(self->gpu, handle);
	}
	TH_LOG("longest drain %llu us over %d rounds",
	       (unsigned long long)longest / 1000, rounds);
}

TEST_F_TIMEOUT(life, kill_in_use, 300)
{
	int rounds = test_long() ? 1000 : 20, i, status;
	struct fakegpu_stat stat;
	pid_t child;

	for (i = 0; i < rounds; i++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			struct load load = { .pd = pd_open(), .length = SIZE };

			load.file = pd_file(load.pd, self->fd, NULL);
			load.buffer = pd_buffer(load.pd, self->dmabuf, 0, 0,
						load.file, NULL);
			load_start(&load);
			pause();
		}
		usleep(20000 + rand() % 200000);
		kill(child, SIGKILL);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
	}
	EXPECT_EQ(0, pd_destroy(self->pd, self->buffer));
	ASSERT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.mapped + stat.attached);
}

TEST_F_TIMEOUT(life, register_and_destroy, 300)
{
	int rounds = test_long() ? 10000 : 200, i;
	struct fakegpu_stat stat;
	int64_t id;

	for (i = 0; i < rounds; i++) {
		id = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file, NULL);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, pd_destroy(self->pd, id));
	}
	ASSERT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(1, stat.mapped);
}

/* ---- exporters ------------------------------------------------------------ */

TEST_F(life, movable_stays_while_pinned)
{
	struct fakegpu_stat stat;
	int64_t handle, id;
	int dmabuf;

	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_MOVABLE, 0, 0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, gpu_stat(self->gpu, handle, &stat));
	EXPECT_EQ(1, stat.pinned);
	EXPECT_EQ(0, stat.in_ram);
	EXPECT_EQ(-1, ioctl(self->gpu, FAKEGPU_IOC_MOVE, handle));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, id, 0, SIZE, NULL));
	EXPECT_EQ(0, pd_destroy(self->pd, id));
	ASSERT_EQ(0, gpu_stat(self->gpu, handle, &stat));
	EXPECT_EQ(0, stat.pinned);
	close(dmabuf);
}

TEST_F(life, refused_pin)
{
	struct fakegpu_stat stat;
	struct pdio_rw rw;
	int64_t handle, id;
	uint32_t reason;
	int dmabuf;

	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_MOVABLE,
			   FAKEGPU_REFUSE_PIN, 0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, &reason);
	ASSERT_LT(0, id);
	EXPECT_EQ(PDIO_REASON_EXPORTER_REFUSED, reason);
	EXPECT_EQ(-EXDEV, pd_io(self->pd, PDIO_OP_READ,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->file, 0, id,
				0, SIZE, &rw));
	EXPECT_EQ(PDIO_REASON_EXPORTER_REFUSED, rw.out_reason);
	ASSERT_EQ(0, gpu_stat(self->gpu, handle, &stat));
	EXPECT_EQ(0, stat.attached + stat.mapped + stat.pinned);
	close(dmabuf);
}

TEST_F(life, host_memory_is_never_direct)
{
	struct pdio_rw rw;
	int64_t handle, id;
	uint32_t reason;
	int dmabuf;

	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_RAM, 0, 0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, &reason);
	ASSERT_LT(0, id);
	EXPECT_EQ(PDIO_REASON_EXPORTER_RAM, reason);
	EXPECT_EQ(-EXDEV, pd_io(self->pd, PDIO_OP_READ,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->file, 0, id,
				0, SIZE, &rw));
	EXPECT_EQ(PDIO_REASON_EXPORTER_RAM, rw.out_reason);
	close(dmabuf);
}

/* The raw addresses don't matter: the pages are found all the same. */
TEST_F(life, liar_is_served_by_pages)
{
	uint64_t sum, want;
	int64_t handle, id;
	int dmabuf;
	void *disk;

	ASSERT_EQ(0, disk_fill(test_disk(), 0, SIZE, 11));
	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_LIAR, 0, 0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, id);
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, id, 0, SIZE, NULL));
	ASSERT_EQ(0, gpu_sum(self->gpu, handle, 0, SIZE, &sum));
	disk = disk_read(test_disk(), 0, SIZE);
	ASSERT_NE(NULL, disk);
	want = sum_host(disk, SIZE);
	EXPECT_EQ(want, sum);
	free(disk);
	close(dmabuf);
}

/* An exporter that doesn't wait for the unmap: still refused afterwards. */
TEST_F(life, revoke_without_wait)
{
	struct pdio_rw rw;
	int64_t handle, id;
	int dmabuf;

	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE, FAKEGPU_NO_WAIT,
			   0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, gpu_revoke(self->gpu, handle, 0, NULL));
	EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_WRITE, 0, self->file, 0, id,
				 0, SIZE, &rw));
	EXPECT_EQ(PDIO_REASON_REVOKED, rw.out_reason);
	EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_WRITE,
				 PDIO_RW_FLAG_REQUIRE_DIRECT, self->file, 0, id,
				 0, SIZE, &rw));
	EXPECT_EQ(0, pd_destroy(self->pd, id));
	close(dmabuf);
}

TEST_HARNESS_MAIN
