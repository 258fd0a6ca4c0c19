// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that go while requests run: the GPU's driver is unbound, the drive's
 * driver is unbound, either is removed from the bus. The unbinding returns,
 * requests end with -ENODEV or an I/O error, descriptors stay usable for
 * closing, and once the device is back a new buffer works.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "load.h"
#include "testlib.h"

#define SIZE MIB(4)

FIXTURE(devices) {
	int pd, gpu, dmabuf, fd;
	int64_t handle;
	struct load load;
	char gpu_name[32], disk_name[32];
};

static void device_name(char *name, uint32_t domain, uint32_t bdf)
{
	snprintf(name, 32, "%04x:%02x:%02x.%x", domain, bdf >> 8,
		 bdf >> 3 & 31, bdf & 7);
}

static int setup(FIXTURE_DATA(devices) * self)
{
	struct pdio_route route;

	memset(&self->load, 0, sizeof(self->load));
	self->pd = pd_open();
	self->gpu = gpu_open(0);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE, 0, 0);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
	self->load.pd = self->pd;
	self->load.length = SIZE;
	self->load.file = pd_file(self->pd, self->fd, NULL);
	self->load.buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	if (pd_route(self->pd, self->load.buffer, self->load.file,
		     PDIO_OP_READ, &route) ||
	    route.out_route != PDIO_ROUTE_DIRECT)
		return -1;
	device_name(self->gpu_name, route.out_provider_domain,
		    route.out_provider_bdf);
	device_name(self->disk_name, route.out_client_domain,
		    route.out_client_bdf);
	return 0;
}

static void teardown(FIXTURE_DATA(devices) * self)
{
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
}

FIXTURE_SETUP(devices)
{
	ASSERT_EQ(0, setup(self));
}

FIXTURE_TEARDOWN(devices)
{
	teardown(self);
}

static int write_sysfs(const char *text, const char *format, const char *name)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), format, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* A node appears some time after its driver was bound. */
static int wait_for(const char *path)
{
	int tries;

	for (tries = 0; tries < 600; tries++) {
		if (!access(path, R_OK | W_OK))
			return 0;
		usleep(50000);
	}
	return -ENODEV;
}

static long elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000 +
	       (now.tv_nsec - since->tv_nsec) / 1000000;
}

TEST_F_TIMEOUT(devices, gpu_unbind, 600)
{
	int rounds = test_long() ? 1000 : 10, i;
	long took, longest = 0;
	struct timespec start;

	for (i = 0; i < rounds; i++) {
		load_start(&self->load);
		clock_gettime(CLOCK_MONOTONIC, &start);
		ASSERT_EQ(0, write_sysfs(self->gpu_name,
					 "/sys/bus/pci/devices/%s/driver/unbind",
					 self->gpu_name));
		took = elapsed_ms(&start);
		longest = took > longest ? took : longest;
		load_stop(&self->load);
		EXPECT_EQ(0, self->load.bad);
		EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_READ, 0,
					 self->load.file, 0, self->load.buffer,
					 0, SIZE, NULL));
		EXPECT_EQ(0, pd_destroy(self->pd, self->load.buffer));
		teardown(self);
		ASSERT_EQ(0, write_sysfs(self->gpu_name,
					 "/sys/bus/pci/drivers/%s/bind",
					 "fakegpu"));
		ASSERT_EQ(0, wait_for("/dev/fakegpu0"));
		ASSERT_EQ(0, setup(self));
	}
	TH_LOG("longest unbind %ld ms over %d rounds", longest, rounds);
}

TEST_F_TIMEOUT(devices, gpu_remove, 300)
{
	load_start(&self->load);
	ASSERT_EQ(0, write_sysfs("1", "/sys/bus/pci/devices/%s/remove",
				 self->gpu_name));
	load_stop(&self->load);
	EXPECT_EQ(0, self->load.bad);
	EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_WRITE, 0, self->load.file,
				 0, self->load.buffer, 0, SIZE, NULL));
	teardown(self);
	ASSERT_EQ(0, write_sysfs("1", "/sys/bus/pci/%s", "rescan"));
	ASSERT_EQ(0, wait_for("/dev/fakegpu0"));
	ASSERT_EQ(0, setup(self));
	EXPECT_EQ((int64_t)SIZE,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			self->load.file, 0, self->load.buffer, 0, SIZE, NULL));
}

TEST_F_TIMEOUT(devices, disk_unbind, 600)
{
	int rounds = test_long() ? 100 : 5, i;
	struct fakegpu_stat stat;
	struct timespec start;
	long took, longest = 0;

	for (i = 0; i < rounds; i++) {
		/* The disk is gone before its last descriptor is closed. */
		self->load.allowed = EIO;
		load_start(&self->load);
		clock_gettime(CLOCK_MONOTONIC, &start);
		ASSERT_EQ(0, write_sysfs(self->disk_name,
					 "/sys/bus/pci/devices/%s/driver/unbind",
					 self->disk_name));
		took = elapsed_ms(&start);
		longest = took > longest ? took : longest;
		load_stop(&self->load);
		EXPECT_EQ(0, self->load.bad);
		ASSERT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
		EXPECT_EQ(0, stat.mapped + stat.attached);
		EXPECT_EQ(-ENODEV, pd_io(self->pd, PDIO_OP_READ, 0,
					 self->load.file, 0, self->load.buffer,
					 0, SIZE, NULL));
		/* The memory is fine: only its use with that drive ended. */
		close(self->fd);
		EXPECT_EQ(0, pd_destroy(self->pd, self->load.file));
		ASSERT_EQ(0, write_sysfs(self->disk_name,
					 "/sys/bus/pci/drivers/%s/bind",
					 "nvme"));
		ASSERT_EQ(0, wait_for(test_disk()));
		self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, self->fd);
		self->load.file = pd_file(self->pd, self->fd, NULL);
		ASSERT_LT(0, self->load.file);
		EXPECT_EQ((int64_t)SIZE,
			  pd_io(self->pd, PDIO_OP_READ,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->load.file, 0,
				self->load.buffer, 0, SIZE, NULL));
	}
	TH_LOG("longest unbind %ld ms over %d rounds", longest, rounds);
}

TEST_HARNESS_MAIN
