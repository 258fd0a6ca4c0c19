// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beds in which there is no direct route: asked, pdio says why; told to go
 * direct, it refuses before any byte moves; and it never serves the request
 * another way without being able to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "testlib.h"

#define SIZE MIB(1)

FIXTURE(refuse) {
	int pd, gpu, fd, dmabuf;
	int64_t handle, buffer, file;
	uint32_t reason, map_type;
};

FIXTURE_VARIANT(refuse) {
	uint32_t behaviour;
};

FIXTURE_VARIANT_ADD(refuse, revocable) { .behaviour = FAKEGPU_REVOCABLE };
FIXTURE_VARIANT_ADD(refuse, movable) { .behaviour = FAKEGPU_MOVABLE };
FIXTURE_VARIANT_ADD(refuse, static) { .behaviour = FAKEGPU_STATIC };
FIXTURE_VARIANT_ADD(refuse, liar) { .behaviour = FAKEGPU_LIAR };

FIXTURE_SETUP(refuse)
{
	self->reason = PDIO_REASON_NONE;
	self->map_type = PDIO_MAP_UNKNOWN;
	if (test_bed_is("nopages")) {
		self->reason = PDIO_REASON_NO_P2PDMA;
	} else if (test_bed_is("blocked")) {
		self->reason = PDIO_REASON_HOST_BRIDGE;
		self->map_type = PDIO_MAP_BLOCKED;
	} else if (test_bed_is("misroute")) {
		self->reason = PDIO_REASON_UNVERIFIED;
		self->map_type = PDIO_MAP_BUS_ADDR;
	}
	ASSERT_NE(PDIO_REASON_NONE, self->reason) {
		TH_LOG("bed '%s' isn't one for this test", test_bed());
	}
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	self->gpu = gpu_open(0);
	ASSERT_LE(0, self->gpu);
	self->handle = gpu_alloc(self->gpu, SIZE, variant->behaviour, 0, 0);
	ASSERT_LT(0, self->handle);
	self->dmabuf = gpu_export(self->gpu, self->handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->dmabuf);
	ASSERT_EQ(0, disk_fill(test_disk(), 0, SIZE, 3));
	self->fd = open(test_disk(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->file = pd_file(self->pd, self->fd, NULL);
	ASSERT_LT(0, self->file);
}

FIXTURE_TEARDOWN(refuse)
{
	struct fakegpu_stat stat;

	/* A refusal leaves nothing behind in the exporter. */
	EXPECT_EQ(0, gpu_stat(self->gpu, self->handle, &stat));
	EXPECT_EQ(0, stat.attached);
	EXPECT_EQ(0, stat.pinned);
	EXPECT_EQ(0, stat.mapped);
	close(self->fd);
	close(self->dmabuf);
	close(self->gpu);
	close(self->pd);
}

TEST_F_TIMEOUT(refuse, hint, 120)
{
	uint32_t reason = PDIO_REASON_NONE;

	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, self->file,
				 &reason);
	ASSERT_LT(0, self->buffer);
	EXPECT_EQ(self->reason, reason);
}

TEST_F_TIMEOUT(refuse, route, 120)
{
	struct pdio_route route;
	uint32_t op;

	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, self->buffer);
	for (op = PDIO_OP_READ; op <= PDIO_OP_WRITE; op++) {
		ASSERT_EQ(0, pd_route(self->pd, self->buffer, self->file, op,
				      &route));
		EXPECT_EQ(PDIO_ROUTE_NONE, route.out_route);
		EXPECT_EQ(self->reason, route.out_reason);
		EXPECT_EQ(self->map_type, route.out_map_type);
	}
}

TEST_F_TIMEOUT(refuse, request, 120)
{
	uint64_t before, after;
	struct pdio_info info;
	struct pdio_rw rw;
	void *disk;

	self->buffer = pd_buffer(self->pd, self->dmabuf, 0, 0, 0, NULL);
	ASSERT_LT(0, self->buffer);
	ASSERT_EQ(0, gpu_fill(self->gpu, self->handle, 0, SIZE, 8));
	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &before));
	EXPECT_EQ(-EXDEV, pd_io(self->pd, PDIO_OP_READ,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->file, 0,
				self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(self->reason, rw.out_reason);
	EXPECT_EQ(-EXDEV, pd_io(self->pd, PDIO_OP_WRITE,
				PDIO_RW_FLAG_REQUIRE_DIRECT, self->file, 0,
				self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(self->reason, rw.out_reason);
	EXPECT_EQ(-EOPNOTSUPP, pd_io(self->pd, PDIO_OP_READ, 0, self->file, 0,
				     self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(PDIO_REASON_UNSUPPORTED, rw.out_reason);
	EXPECT_EQ(-EOPNOTSUPP, pd_io(self->pd, PDIO_OP_WRITE, 0, self->file, 0,
				     self->buffer, 0, SIZE, &rw));
	EXPECT_EQ(PDIO_REASON_UNSUPPORTED, rw.out_reason);

	ASSERT_EQ(0, gpu_sum(self->gpu, self->handle, 0, SIZE, &after));
	EXPECT_EQ(before, after);
	disk = disk_read(test_disk(), 0, SIZE);
	ASSERT_NE(NULL, disk);
	EXPECT_EQ(0, memcmp(disk, &(uint64_t){ fakegpu_word(3, 0) }, 8));
	free(disk);
	ASSERT_EQ(0, pd_info(self->pd, &info));
	EXPECT_EQ(0, info.out_bytes_direct + info.out_bytes_staged +
		  info.out_bytes_cpu);
	EXPECT_EQ(test_bed_is("nopages") ? PDIO_REASON_NO_P2PDMA :
		  PDIO_REASON_NONE, info.out_reason);
}

TEST_HARNESS_MAIN
