// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peer requests must not be merged with requests on host memory: a merged
 * request is mapped as its first page demands, and the other's data are lost.
 * While pdio moves every other block of a stretch of the disk, host memory I/O
 * goes to the blocks between, and the disk's merge counters must not move. That
 * they would move for host memory alone is shown first.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define BLOCK KIB(16)
#define BLOCKS 64

FIXTURE(merge) {
	int fd;
	char *ram;
	uint64_t reads, writes;
};

FIXTURE_SETUP(merge)
{
	ASSERT_EQ(0, disk_fill(test_disk(), 0, BLOCK * BLOCKS, 31));
	self->fd = open(test_disk(), O_RDWR | O_DIRECT | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, posix_memalign((void **)&self->ram, 4096,
				    BLOCK * BLOCKS));
	ASSERT_EQ(0, disk_merges(test_disk(), &self->reads, &self->writes));
}

FIXTURE_TEARDOWN(merge)
{
	free(self->ram);
	close(self->fd);
}

/* Every block of one parity, or all, in one submission: one plug. */
static int ram_read(FIXTURE_DATA(merge) * self, int first, int step)
{
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int i, nr = 0, ret;

	ret = io_uring_queue_init(BLOCKS, &ring, 0);
	if (ret)
		return ret;
	for (i = first; i < BLOCKS; i += step, nr++)
		io_uring_prep_read(io_uring_get_sqe(&ring), self->fd,
				   self->ram + i * BLOCK, BLOCK, i * BLOCK);
	ret = io_uring_submit(&ring) == nr ? 0 : -EIO;
	while (!ret && nr--) {
		ret = io_uring_wait_cqe(&ring, &cqe);
		if (!ret) {
			ret = cqe->res == BLOCK ? 0 : -EIO;
			io_uring_cqe_seen(&ring, cqe);
		}
	}
	io_uring_queue_exit(&ring);
	return ret;
}

TEST_F_TIMEOUT(merge, host_memory_is_merged, 60)
{
	uint64_t reads, writes;

	ASSERT_EQ(0, ram_read(self, 0, 1));
	ASSERT_EQ(0, disk_merges(test_disk(), &reads, &writes));
	EXPECT_LT(self->reads, reads);
}

struct ram_thread {
	FIXTURE_DATA(merge) * self;
	atomic_int stop;
	int bad;
};

static void *ram_thread_run(void *arg)
{
	struct ram_thread *thread = arg;

	while (!atomic_load(&thread->stop) && !thread->bad)
		thread->bad = ram_read(thread->self, 1, 2);
	return NULL;
}

TEST_F_TIMEOUT(merge, peer_memory_is_not, 120)
{
	int pd, gpu, dmabuf, rounds = test_long() ? 2000 : 50, i, round;
	struct ram_thread thread = { .self = self };
	uint64_t reads, writes, sum, want;
	int64_t handle, file, buffer;
	char *block = malloc(BLOCK);
	pthread_t id;

	ASSERT_NE(NULL, block);
	pd = pd_open();
	ASSERT_LE(0, pd);
	gpu = gpu_open(0);
	ASSERT_LE(0, gpu);
	handle = gpu_alloc(gpu, BLOCK * BLOCKS, FAKEGPU_STATIC, 0, 0);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	file = pd_file(pd, self->fd, NULL);
	ASSERT_LT(0, file);
	buffer = pd_buffer(pd, dmabuf, 0, 0, file, NULL);
	ASSERT_LT(0, buffer);

	ASSERT_EQ(0, pthread_create(&id, NULL, ram_thread_run, &thread));
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < BLOCKS; i += 2) {
			uint32_t op = round % 2 ? PDIO_OP_WRITE : PDIO_OP_READ;

			ASSERT_EQ((int64_t)BLOCK,
				  pd_io(pd, op, PDIO_RW_FLAG_REQUIRE_DIRECT,
					file, i * BLOCK, buffer, i * BLOCK,
					BLOCK, NULL));
		}
	}
	atomic_store(&thread.stop, 1);
	pthread_join(id, NULL);
	EXPECT_EQ(0, thread.bad);
	ASSERT_EQ(0, disk_merges(test_disk(), &reads, &writes));
	EXPECT_EQ(self->reads, reads);
	EXPECT_EQ(self->writes, writes);

	/* Both sides have the right bytes. */
	for (i = 0; i < BLOCKS; i++) {
		fill_host(block, BLOCK, 31, i * BLOCK);
		want = sum_host(block, BLOCK);
		sum = sum_host(self->ram + i * BLOCK, BLOCK);
		if (i % 2 == 0) {
			ASSERT_EQ(0, gpu_sum(gpu, handle, i * BLOCK, BLOCK,
					     &sum));
		}
		EXPECT_EQ(want, sum);
	}
	EXPECT_EQ(0, disk_check(test_disk(), 0, BLOCK * BLOCKS, 31));
	free(block);
	close(pd);
	close(dmabuf);
	close(gpu);
}

TEST_HARNESS_MAIN
