// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake GPU towards importers: what each behaviour demands, gives and takes
 * away. The importer is a test module that lets go when it is told to, late, or
 * never.
 */
#include "fakegpu_importer.h"

TEST_F(imp, static_demands)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, 0, 0));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, IMPORTER_DYNAMIC |
					   IMPORTER_INVALIDATE, 0));
	if (!strcmp(env("PDIO_BED"), "blocked")) {
		EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, GOOD, 0));
		return;
	}
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(0, m.pages);
	EXPECT_EQ(1, gpu_stat(self).attached);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).pinned);
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).attached);
}

TEST_F(imp, static_split)
{
	struct importer_map m;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, FAKEGPU_SPLIT_SG));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(0, m.pages);
	EXPECT_EQ(7 * 4096, m.longest);
	EXPECT_EQ(SIZE / 4096 / 4, m.nents);
}

/* A reset doesn't wait for those that can't be told; they still can't map. */
TEST_F(imp, static_reset)
{
	struct importer_map m;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(0, importer_stat(self).invalidations);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(-ENODEV, attach(self, GOOD, 0));
}

TEST_F(imp, revocable_demands)
{
	ASSERT_EQ(0, make(self, FAKEGPU_REVOCABLE, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, IMPORTER_DYNAMIC |
				      IMPORTER_PEER2PEER, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, IMPORTER_DYNAMIC |
				      IMPORTER_INVALIDATE, 0));
	EXPECT_EQ(0, attach(self, GOOD, 0));
}

TEST_F(imp, revoke_waits)
{
	struct fakegpu_revoke r;
	struct importer_map m;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_SCATTERED, 400));
	start = now_ms();
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_LE(390, now_ms() - start);
	EXPECT_EQ(1, r.attachments);
	EXPECT_LE(390000000ULL, r.drain_ns);
	EXPECT_GE((now_ms() - start + 1) * 1000000ULL, r.drain_ns);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, importer_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(-ENODEV, map(self, &m));
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(-ENODEV, attach(self, GOOD, 0));
	EXPECT_NE(0, gpu_sum(self));
}

TEST_F(imp, revoke_timeout)
{
	struct fakegpu_revoke r;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, IMPORTER_FOREVER));
	start = now_ms();
	EXPECT_EQ(-ETIMEDOUT, take_away(self, 200, &r));
	EXPECT_LE(190, now_ms() - start);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_UNMAP, 0));
	EXPECT_EQ(0, take_away(self, 200, &r));
	EXPECT_EQ(0, r.attachments);
}

TEST_F(imp, revoke_no_wait)
{
	struct fakegpu_revoke r;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_NO_WAIT, IMPORTER_FOREVER));
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_EQ(1, r.attachments);
	EXPECT_EQ(0, r.drain_ns);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	EXPECT_EQ(1, importer_stat(self).invalidations);
}

TEST_F(imp, revoke_waits_for_fences)
{
	struct fakegpu_revoke r;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 0));
	start = now_ms();
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_FENCE, 500));
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_LE(490, now_ms() - start);
}

TEST_F(imp, revocable_reset)
{
	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 300));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_sum(self));
}

TEST_F(imp, reset_timeout)
{
	NEEDS_REVOCABLE();
	ASSERT_EQ(0, write_file(TIMEOUT_MS, "200"));
	ASSERT_EQ(0, revocable_mapped(self, 0, IMPORTER_FOREVER));
	EXPECT_EQ(-ETIMEDOUT, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(1, gpu_stat(self).mapped);
}

TEST_F(imp, movable_pinned_stays)
{
	struct importer_map m;
	uint32_t told;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(1, gpu_stat(self).pinned);
	EXPECT_EQ(!kernel_reaches(), gpu_stat(self).in_ram);
	EXPECT_EQ(kernel_reaches(), importer_stat(self).peer2peer);
	told = importer_stat(self).invalidations;
	EXPECT_EQ(-EBUSY, call_value(self->gpu, FAKEGPU_IOC_MOVE,
				     self->handle));
	EXPECT_EQ(told, importer_stat(self).invalidations);
}

TEST_F(imp, movable_moves)
{
	struct importer_map one, two;
	uint64_t sum, start;

	if (!kernel_reaches())
		SKIP(return, "memory is in RAM on this bed");
	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	sum = gpu_sum(self);
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &one));
	EXPECT_EQ(0, gpu_stat(self).in_ram);
	start = now_ms();
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_FENCE, 400));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_MOVE, self->handle));
	EXPECT_LE(390, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(1, gpu_stat(self).moves);
	EXPECT_EQ(sum, gpu_sum(self));

	while (importer_stat(self).mapped == 1)
		usleep(1000);
	ASSERT_EQ(0, map(self, &two));
	EXPECT_EQ(SIZE, two.bytes);
	if (strcmp(env("PDIO_BED"), "iommu") &&
	    strcmp(env("PDIO_BED"), "misroute")) {
		EXPECT_NE(one.first, two.first);
	}
}

TEST_F(imp, movable_ram_for_static_importer)
{
	struct importer_map m;
	uint64_t sum;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_SCATTERED));
	sum = gpu_sum(self);
	ASSERT_EQ(0, attach(self, 0, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(1, gpu_stat(self).in_ram);
	EXPECT_EQ(1, gpu_stat(self).moves);
	EXPECT_EQ(sum, gpu_sum(self));
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).pinned);

	/* Back when somebody maps who can reach it. */
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(!kernel_reaches(), gpu_stat(self).in_ram);
	EXPECT_EQ(sum, gpu_sum(self));
}

TEST_F(imp, movable_refuses_pin)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_REFUSE_PIN));
	EXPECT_EQ(-EBUSY, attach(self, GOOD | IMPORTER_PIN, 0));
	if (!strcmp(env("PDIO_BED"), "nopages"))
		SKIP(return, "this kernel pins all importers");
	ASSERT_EQ(0, attach(self, GOOD, 0));
	EXPECT_EQ(0, map(self, &m));
}

static uint64_t bar_start(imp_t *t)
{
	unsigned long long start = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource",
		 t->address);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*x %*x %*x %*x %*x %*x %llx", &start) != 1)
		start = 0;
	fclose(f);
	return start;
}

TEST_F(imp, liar)
{
	struct fakegpu_extent x;
	struct fakegpu_extents e = { .array = (uintptr_t)&x, .count = 1 };
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_LIAR, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, 0, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	e.handle = self->handle;
	ASSERT_EQ(0, call(self->gpu, FAKEGPU_IOC_EXTENTS, &e));
	ASSERT_NE(0, bar_start(self));
	EXPECT_EQ(bar_start(self) + x.bar_offset, m.first);
	EXPECT_EQ(0, m.pages);
}

TEST_F(imp, ram)
{
	struct importer_map m;
	uint64_t word;

	ASSERT_EQ(0, make(self, FAKEGPU_RAM, 0));
	ASSERT_EQ(0, attach(self, 0, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	ASSERT_EQ(0, call(self->importer, IMPORTER_IOC_VMAP, &word));
	EXPECT_EQ(fakegpu_word(21, 0), word);
}

TEST_F(imp, no_vmap_of_device_memory)
{
	uint64_t word;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	EXPECT_NE(0, call(self->importer, IMPORTER_IOC_VMAP, &word));
}

TEST_HARNESS_MAIN
