// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation and every user copy on the way of every call fails once:
 * fail-nth 1, 2, 3, ... until a call meets no more of them. Whatever the call
 * then says, nothing may be left behind, and the same call has to work
 * afterwards. KASAN, lockdep and kmemleak watch; the harness reads the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE MIB(2)	/* one window */
#define SITES 1000	/* more means that the sweep doesn't end */

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int faults_enable(void)
{
	static const char * const quiet[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
		"fail_make_request",
	};
	char path[96];
	size_t i;

	for (i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose",
			 quiet[i]);
		if (write_text(path, "0"))
			return -1;
	}
	/* Allocations that may sleep are those that callers have to survive. */
	return write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait",
			  "N") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0");
}

FIXTURE(fault) {
	int nth, pd, gpu, disk;
	int64_t handle, file, buffer;
	int dmabuf;
	int sites;
};

FIXTURE_SETUP(fault)
{
	ASSERT_EQ(0, faults_enable());
	self->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->nth);
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->disk = open(test_disk(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->disk);
	self->file = pd_file(self->pd, self->disk, NULL);
	ASSERT_LT(0, self->file);
	self->handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE, 0, 0);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file,
				 NULL);
	ASSERT_LT(0, self->buffer);
}

FIXTURE_TEARDOWN(fault)
{
	struct fakegpu_stat stat;

	TH_LOG("%d sites failed", self->sites);
	/* A sweep that met no site has tested nothing. */
	EXPECT_LT(0, self->sites);
	close(self->pd);
	EXPECT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.attached + stat.mapped + stat.pinned);
	close(self->dmabuf);
	close(self->gpu);
	close(self->disk);
	close(self->nth);
}

static void fault_arm(int nth, int site)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", site);
	if (pwrite(nth, text, strlen(text), 0) < 0)
		_exit(1);
}

/*
 * Disarms; true if the fault was met by the call before. A fault that wasn't may
 * hit the reading of its own counter.
 */
static bool fault_met(int nth)
{
	char text[16] = "";
	bool met = pread(nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(nth, "0", 1, 0) < 0)
		;
	return met;
}

/* for (site = 1; the last call met a fault; site++) */
#define SWEEP(_site)							\
	for (_site = 1; _site <= SITES && (_site == 1 || self->sites ==	\
					   _site - 1); _site++)

#define SWEEP_END(_site)						\
	do {								\
		if (fault_met(self->nth))				\
			self->sites = _site;				\
	} while (0)

TEST_F_TIMEOUT(fault, open, 120)
{
	int site, fd;

	SWEEP(site) {
		fault_arm(self->nth, site);
		fd = open("/dev/pdio", O_RDWR | O_CLOEXEC);
		SWEEP_END(site);
		/* The path is copied from user space too. */
		if (fd >= 0) {
			close(fd);
		} else {
			EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
		}
	}
	ASSERT_GE(SITES, site);
}

TEST_F_TIMEOUT(fault, info, 120)
{
	struct pdio_info info;
	int site, ret;

	SWEEP(site) {
		fault_arm(self->nth, site);
		ret = pd_info(self->pd, &info);
		SWEEP_END(site);
		EXPECT_TRUE(!ret || ret == -EFAULT);
	}
	ASSERT_GE(SITES, site);
}

TEST_F_TIMEOUT(fault, file_register, 300)
{
	struct pdio_file_register reg;
	int64_t id;
	int site;

	SWEEP(site) {
		fault_arm(self->nth, site);
		id = pd_file(self->pd, self->disk, &reg);
		SWEEP_END(site);
		if (id > 0) {
			EXPECT_EQ(0, pd_destroy(self->pd, id));
		} else {
			EXPECT_TRUE(id == -ENOMEM || id == -EFAULT);
		}
		/* An answer that got lost took its object along. */
		if (id == -EFAULT && reg.out_id)
			EXPECT_EQ(-ENOENT, pd_destroy(self->pd, reg.out_id));
	}
	ASSERT_GE(SITES, site);
}

TEST_F_TIMEOUT(fault, buffer_register, 300)
{
	int64_t id;
	int site;

	SWEEP(site) {
		fault_arm(self->nth, site);
		id = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
		SWEEP_END(site);
		if (id > 0) {
			EXPECT_EQ(0, pd_destroy(self->pd, id));
		} else {
			EXPECT_TRUE(id == -ENOMEM || id == -EFAULT);
		}
	}
	ASSERT_GE(SITES, site);
}

/* Attaching to an exporter whose pages are there, with many extents. */
TEST_F_TIMEOUT(fault, attach, 600)
{
	struct fakegpu_stat stat;
	int64_t id, handle;
	int site, dmabuf;

	handle = gpu_alloc(self->gpu, SIZE, FAKEGPU_REVOCABLE,
			   FAKEGPU_SCATTERED, 4096);
	ASSERT_LT(0, handle);
	dmabuf = gpu_export(self->gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, dmabuf);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
	ASSERT_LT(0, id);
	EXPECT_EQ(0, pd_destroy(self->pd, id));
	SWEEP(site) {
		fault_arm(self->nth, site);
		id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
		SWEEP_END(site);
		if (id > 0) {
			EXPECT_EQ(0, pd_destroy(self->pd, id));
		} else {
			EXPECT_TRUE(id == -ENOMEM || id == -EFAULT);
		}
		ASSERT_EQ(0, gpu_stat(self->gpu, handle, &stat));
		EXPECT_EQ(0, stat.attached + stat.mapped + stat.pinned);
	}
	ASSERT_GE(SITES, site);
	id = pd_buffer(self->pd, dmabuf, 0, 0, self->file, NULL);
	EXPECT_LT(0, id);
	close(dmabuf);
}

/*
 * Taking windows into use whose pages are there from before the module was last
 * loaded. The making of the pages can't be swept: when memory for that is short,
 * the kernel itself warns (add_pages(), arch/x86/mm/init_64.c) or leaves an
 * action behind that uses freed memory when the driver is unbound (the error path
 * behind gen_pool_add_owner() in drivers/pci/p2pdma.c, 7.3).
 */
TEST_F_TIMEOUT(fault, windows, 600)
{
	struct pdio_route route;
	int64_t buffer, file;
	int site, ret;

	close(self->pd);
	ASSERT_EQ(0, run_command("rmmod pdio && insmod /pdio-modules/pdio.ko"));
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	file = pd_file(self->pd, self->disk, NULL);
	ASSERT_LT(0, file);
	buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, buffer);
	SWEEP(site) {
		fault_arm(self->nth, site);
		ret = pd_route(self->pd, buffer, file, PDIO_OP_READ, &route);
		SWEEP_END(site);
		EXPECT_TRUE(!ret || ret == -ENOMEM || ret == -EFAULT);
		EXPECT_EQ(!ret && route.out_route == PDIO_ROUTE_DIRECT,
			  !ret && route.out_reason == PDIO_REASON_NONE);
	}
	ASSERT_GE(SITES, site);
	ASSERT_EQ(0, pd_route(self->pd, buffer, file, PDIO_OP_READ, &route));
	EXPECT_EQ(PDIO_ROUTE_DIRECT, route.out_route);
	EXPECT_LT((int64_t)0,
		  pd_io(self->pd, PDIO_OP_READ, PDIO_RW_FLAG_REQUIRE_DIRECT,
			file, 0, buffer, 0, SIZE, NULL));
}

static void sweep_rw(struct __test_metadata *_metadata,
		     FIXTURE_DATA(fault) * self, uint32_t op)
{
	struct pdio_rw rw;
	int64_t ret;
	int site;

	SWEEP(site) {
		fault_arm(self->nth, site);
		ret = pd_io(self->pd, op, PDIO_RW_FLAG_REQUIRE_DIRECT,
			    self->file, 0, self->buffer, 0, SIZE, &rw);
		SWEEP_END(site);
		EXPECT_TRUE(ret > 0 || ret == -ENOMEM || ret == -EFAULT ||
			    ret == -EIO || ret == -EAGAIN) {
			TH_LOG("site %d: %lld", site, (long long)ret);
		}
		ASSERT_EQ((int64_t)SIZE,
			  pd_io(self->pd, op, PDIO_RW_FLAG_REQUIRE_DIRECT,
				self->file, 0, self->buffer, 0, SIZE, NULL));
	}
	ASSERT_GE(SITES, site);
}

TEST_F_TIMEOUT(fault, read, 600)
{
	sweep_rw(_metadata, self, PDIO_OP_READ);
}

TEST_F_TIMEOUT(fault, write, 600)
{
	sweep_rw(_metadata, self, PDIO_OP_WRITE);
}

TEST_F_TIMEOUT(fault, destroy, 300)
{
	int64_t id;
	int site, ret;

	SWEEP(site) {
		id = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file, NULL);
		ASSERT_LT(0, id);
		fault_arm(self->nth, site);
		ret = pd_destroy(self->pd, id);
		SWEEP_END(site);
		EXPECT_TRUE(!ret || ret == -EFAULT);
		EXPECT_EQ(ret ? 0 : -ENOENT, pd_destroy(self->pd, id));
	}
	ASSERT_GE(SITES, site);
}

TEST_HARNESS_MAIN
