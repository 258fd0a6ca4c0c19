// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake GPU goes while an importer still maps its memory: its driver is
 * unbound, or it is removed from the bus. And memory that isn't its own: the
 * controller memory buffer of an NVMe drive.
 */
#include "fakegpu_importer.h"

static void expect_dead(struct __test_metadata *_metadata, imp_t *t)
{
	struct fakegpu_alloc a = { .size = 4096 };
	struct fakegpu_export e = { .handle = t->handle };
	struct fakegpu_info info;
	struct importer_map m;

	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_INFO, &info));
	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_ALLOC, &a));
	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_EXPORT, &e));
	EXPECT_EQ(-ENODEV, call_value(t->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(-ENODEV, call_value(t->gpu, FAKEGPU_IOC_FREE, t->handle));
	EXPECT_EQ(SIZE, lseek(t->dmabuf, 0, SEEK_END));
	EXPECT_EQ(-ENODEV, map(t, &m));
}

TEST_F(imp, unbind_waits)
{
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 500));
	start = now_ms();
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_LE(490, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, importer_stat(self).mapped);
	EXPECT_NE(0, access("/dev/fakegpu0", F_OK));
	expect_dead(_metadata, self);

	/* The new device has nothing to do with the old one's files. */
	ASSERT_EQ(0, write_file(DRIVER "bind", self->address));
	EXPECT_EQ(0, access("/dev/fakegpu0", F_OK));
	expect_dead(_metadata, self);
}

TEST_F(imp, unbind_movable)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_SCATTERED));
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 100));
	ASSERT_EQ(0, map(self, &m));
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_EQ(0, importer_stat(self).mapped);
	expect_dead(_metadata, self);
}

/* Nobody lets go: the device goes all the same, and the log names them. */
TEST_F(imp, unbind_timeout)
{
	struct importer_map m;
	uint64_t start;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, write_file(TIMEOUT_MS, "300"));
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, FAKEGPU_SCATTERED));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	start = now_ms();
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_LE(290, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).mapped);
	close(self->gpu);
	self->gpu = -1;
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_UNMAP, 0));
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
}

/* Hot-remove of the function, and back. */
TEST_F(imp, remove_and_rescan)
{
	char path[96];

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_SCATTERED, 100));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove",
		 self->address);
	ASSERT_EQ(0, write_file(path, "1"));
	EXPECT_EQ(0, importer_stat(self).mapped);
	expect_dead(_metadata, self);
	ASSERT_EQ(0, write_file("/sys/bus/pci/rescan", "1"));
	EXPECT_EQ(0, access("/dev/fakegpu0", F_OK));
}

TEST_F(imp, cmb)
{
	struct fakegpu_alloc a = { .size = SIZE };
	struct fakegpu_extent x;
	struct fakegpu_extents e = { .array = (uintptr_t)&x, .count = 1 };
	struct importer_map m;

	if (access("/dev/fakegpu-cmb", F_OK))
		SKIP(return, "no NVMe drive with a CMB on this bed");
	close(self->gpu);
	self->gpu = open("/dev/fakegpu-cmb", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->gpu);
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	e.handle = self->handle;
	ASSERT_EQ(0, call(self->gpu, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_EQ(1, e.count);
	EXPECT_EQ(SIZE, x.length);
	EXPECT_NE(0, gpu_sum(self));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, 0, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	a.behaviour = FAKEGPU_MOVABLE;
	EXPECT_EQ(-EOPNOTSUPP, call(self->gpu, FAKEGPU_IOC_ALLOC, &a));
	EXPECT_EQ(-EOPNOTSUPP, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
}

TEST_HARNESS_MAIN
