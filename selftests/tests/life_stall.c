// SPDX-License-Identifier: GPL-2.0-only
/*
 * A caller whose own memory doesn't answer (here: a page that userfaultfd never
 * fills) must not hold up whoever takes device memory away.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE MIB(1)
#define MOUNT "/tmp/life_stall"

FIXTURE(stall) {
	int pd, gpu, dmabuf, fd, fault;
	int64_t handle, buffer, file;
	char *page, *next;
	pthread_t thread;
};

FIXTURE_SETUP(stall)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	self->fault = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (self->fault < 0 && errno == ENOSYS)
		SKIP(return, "kernel without userfaultfd");
	ASSERT_LE(0, self->fault);
	ASSERT_EQ(0, ioctl(self->fault, UFFDIO_API, &api));
	self->page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->next = self->page + 4096;
	self->page[0] = 1;
	range.range.start = (uintptr_t)self->next;
	range.range.len = 4096;
	ASSERT_EQ(0, ioctl(self->fault, UFFDIO_REGISTER, &range));

	ASSERT_EQ(0, fs_make("ext4", MOUNT));
	ASSERT_EQ(0, disk_fill(MOUNT "/file", 0, SIZE, 71));
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE, 0, 0);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->fd = open(MOUNT "/file", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->file = pd_file(self->pd, self->fd, NULL);
	ASSERT_LT(0, self->file);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file,
				 NULL);
	ASSERT_LT(0, self->buffer);
}

FIXTURE_TEARDOWN(stall)
{
	if (self->fault < 0)
		return;
	close(self->fault);	/* who waits for the page gets it empty */
	if (self->thread)
		pthread_join(self->thread, NULL);
	close(self->pd);
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	EXPECT_EQ(0, fs_unmake(MOUNT));
}

/* The second segment lies in the page that never comes. */
static void *request_run(void *arg)
{
	FIXTURE_DATA(stall) * self = arg;
	struct pdio_segment *segment =
		(struct pdio_segment *)(self->next - sizeof(*segment));
	struct pdio_rw rw = {
		.file_id = self->file,
		.segments = (uintptr_t)segment,
		.nr_segments = 2,
	};

	memset(segment, 0, sizeof(*segment));
	segment->buffer_id = self->buffer;
	segment->length = 4096;
	pd_rw(self->pd, &rw);
	return NULL;
}

TEST_F_TIMEOUT(stall, request_in_missing_memory, 60)
{
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, request_run, self));
	usleep(300000);
	EXPECT_EQ(0, gpu_revoke(self->gpu, self->handle, 10000, NULL));
}

/* read(2) holds the position of the open file while it waits for the page. */
static void *read_run(void *arg)
{
	FIXTURE_DATA(stall) * self = arg;

	if (read(self->fd, self->next, 512) < 0)
		return arg;
	return NULL;
}

TEST_F_TIMEOUT(stall, file_position_held, 60)
{
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, read_run, self));
	usleep(300000);
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, SIZE, NULL));
	EXPECT_EQ(0, gpu_revoke(self->gpu, self->handle, 10000, NULL));
}

TEST_HARNESS_MAIN
