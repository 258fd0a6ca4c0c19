// SPDX-License-Identifier: GPL-2.0-only
/*
 * A provider whose own driver made the pages and owns their allocator: the
 * controller memory buffer of an NVMe drive. pdio uses the pages as they are and
 * takes nothing from the allocator.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE MIB(8)

FIXTURE(cmb) {
	int pd, gpu, dmabuf, fd;
	int64_t handle, buffer, file;
	struct pdio_route route;
};

/* Bytes that the drive's allocator has left, by its own word. */
static long long pool_available(const struct pdio_route *route)
{
	char path[96];
	long long left = -1;
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/bus/pci/devices/%04x:%02x:%02x.%x/p2pmem/available",
		 route->out_provider_domain, route->out_provider_bdf >> 8 & 255,
		 route->out_provider_bdf >> 3 & 31, route->out_provider_bdf & 7);
	file = fopen(path, "r");
	if (!file)
		return -errno;
	if (fscanf(file, "%lld", &left) != 1)
		left = -EIO;
	fclose(file);
	return left;
}

FIXTURE_SETUP(cmb)
{
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = open("/dev/fakegpu-cmb", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_STATIC, 0, 0);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->file = pd_file(self->pd, self->fd, NULL);
	ASSERT_LT(0, self->file);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, self->buffer);
	ASSERT_EQ(0, pd_route(self->pd, self->buffer, self->file, PDIO_OP_READ,
			      &self->route));
}

FIXTURE_TEARDOWN(cmb)
{
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
}

TEST_F_TIMEOUT(cmb, read_and_write, 120)
{
	uint64_t sum, want;
	struct pdio_rw rw;
	void *data;

	EXPECT_EQ(PDIO_ROUTE_DIRECT, self->route.out_route);
	EXPECT_NE(self->route.out_provider_bdf, self->route.out_client_bdf);
	ASSERT_EQ(0, disk_fill(test_disk(), 0, SIZE, 51));
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(SIZE, rw.out_bytes_direct);
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &sum));
	data = malloc(SIZE);
	ASSERT_NE(NULL, data);
	fill_host(data, SIZE, 51, 0);
	want = sum_host(data, SIZE);
	free(data);
	EXPECT_EQ(want, sum);

	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 52));
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_WRITE, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->file, 0, self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(SIZE, rw.out_bytes_direct);
	EXPECT_EQ(0, disk_check(test_disk(), 0, SIZE, 52));
}

TEST_F_TIMEOUT(cmb, allocator_is_left_alone, 60)
{
	long long before = pool_available(&self->route);
	int64_t again;

	ASSERT_LT(0, before);
	again = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, again);
	EXPECT_EQ(before, pool_available(&self->route));
	EXPECT_EQ(0, pd_destroy(self->pd, again));
	EXPECT_EQ(before, pool_available(&self->route));
}

TEST_HARNESS_MAIN
