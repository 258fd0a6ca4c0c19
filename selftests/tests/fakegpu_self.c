// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake GPU by itself, without importers: allocations, their extents, the
 * work that the device does on its memory, exports, revocation, reset, and bad
 * input. Everything else that is tested stands on this.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../modules/fakegpu.h"
#include "kselftest_harness.h"

#define KIB	(1ULL << 10)
#define MIB	(1ULL << 20)

static uint64_t fnv(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t sum = 0xcbf29ce484222325ULL;

	while (len--)
		sum = (sum ^ *p++) * 0x100000001b3ULL;
	return sum;
}

/* An ioctl as 0 or a negative errno. */
static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static int call_value(int fd, unsigned long cmd, unsigned long value)
{
	return ioctl(fd, cmd, value) ? -errno : 0;
}

FIXTURE(gpu) {
	int fd;
};

FIXTURE_SETUP(gpu)
{
	self->fd = open("/dev/fakegpu0", O_RDWR | O_CLOEXEC);
	if (self->fd < 0)
		SKIP(return, "no fake GPU: %s", strerror(errno));
}

FIXTURE_TEARDOWN(gpu)
{
	close(self->fd);
}

static int alloc(int fd, uint64_t size, uint32_t behaviour, uint32_t flags,
		 uint32_t *handle)
{
	struct fakegpu_alloc a = {
		.size = size, .behaviour = behaviour, .flags = flags, .seed = 7,
	};
	int ret = call(fd, FAKEGPU_IOC_ALLOC, &a);

	*handle = a.handle;
	return ret;
}

static int copy(int fd, uint32_t handle, uint64_t offset, void *host,
		uint64_t len, uint32_t to_device)
{
	struct fakegpu_copy c = {
		.handle = handle, .offset = offset, .length = len,
		.host = (uintptr_t)host, .to_device = to_device,
	};

	return call(fd, FAKEGPU_IOC_COPY, &c);
}

static int export(int fd, uint32_t handle, uint32_t flags, int *out)
{
	struct fakegpu_export e = { .handle = handle, .open_flags = flags };
	int ret = call(fd, FAKEGPU_IOC_EXPORT, &e);

	*out = e.fd;
	return ret;
}

static uint64_t free_bytes(int fd)
{
	struct fakegpu_info info;

	return call(fd, FAKEGPU_IOC_INFO, &info) ? 0 : info.free;
}

TEST_F(gpu, info)
{
	struct fakegpu_info info;

	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_INFO, &info));
	EXPECT_NE(0, info.bar_size);
	EXPECT_EQ(0, info.bar_size & (info.bar_size - 1));
	EXPECT_LE(info.free, info.bar_size);
	EXPECT_EQ(1, info.wc_mapped);
	EXPECT_GE(0xffff, info.bdf);
	EXPECT_EQ(0, info.pad);
}

TEST_F(gpu, accounting)
{
	uint64_t before = free_bytes(self->fd);
	uint32_t a, b;

	ASSERT_EQ(0, alloc(self->fd, 3 * MIB, FAKEGPU_STATIC, 0, &a));
	ASSERT_EQ(0, alloc(self->fd, 64 * KIB, FAKEGPU_REVOCABLE,
			   FAKEGPU_SCATTERED, &b));
	EXPECT_NE(a, b);
	EXPECT_EQ(before - 3 * MIB - 64 * KIB, free_bytes(self->fd));
	EXPECT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, a));
	EXPECT_EQ(-ENOENT, call_value(self->fd, FAKEGPU_IOC_FREE, a));
	EXPECT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, b));
	EXPECT_EQ(before, free_bytes(self->fd));
}

/* Memory that is used again after it was filled must not show what it held. */
TEST_F(gpu, zeroed)
{
	struct fakegpu_fill f = { .length = 4 * MIB, .seed = 3 };
	uint64_t *buf = malloc(4 * MIB);
	struct fakegpu_info info;
	uint64_t left, i;
	uint32_t handle;

	ASSERT_NE(NULL, buf);
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_INFO, &info));
	/* Freed memory comes round last: once through all of it. */
	for (left = info.bar_size + 4 * MIB; left; left -= 4 * MIB) {
		ASSERT_EQ(0, alloc(self->fd, 4 * MIB, FAKEGPU_STATIC, 0,
				   &handle));
		f.handle = handle;
		ASSERT_EQ(0, copy(self->fd, handle, 0, buf, 4 * MIB, 0));
		for (i = 0; i < 4 * MIB / 8 && !buf[i]; i++)
			;
		ASSERT_EQ(4 * MIB / 8, i);
		ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_FILL, &f));
		ASSERT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, handle));
	}
	free(buf);
}

static int by_offset(const void *a, const void *b)
{
	const struct fakegpu_extent *x = a, *y = b;

	return x->bar_offset < y->bar_offset ? -1 :
	       x->bar_offset > y->bar_offset;
}

TEST_F(gpu, scattered)
{
	struct fakegpu_extents e = { .count = 4096 };
	struct fakegpu_extent *x;
	uint64_t bytes = 0, ascending = 0;
	struct fakegpu_info info;
	int i;

	x = calloc(4096, sizeof(*x));
	ASSERT_NE(NULL, x);
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_INFO, &info));
	ASSERT_EQ(0, alloc(self->fd, 16 * MIB, FAKEGPU_STATIC,
			   FAKEGPU_SCATTERED, &e.handle));
	e.array = (uintptr_t)x;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	ASSERT_EQ(4096, e.count);

	for (i = 0; i < 4096; i++) {
		EXPECT_EQ(4096, x[i].length);
		EXPECT_EQ(0, x[i].bar_offset % 4096);
		EXPECT_LE(x[i].bar_offset + 4096, info.bar_size);
		bytes += x[i].length;
		if (!i)
			continue;
		ascending += x[i].bar_offset > x[i - 1].bar_offset;
		if (i < 4095) {
			EXPECT_NE(x[i - 1].bar_offset + 4096, x[i].bar_offset);
		}
	}
	EXPECT_EQ(16 * MIB, bytes);
	/* A random order ascends at half of all steps. */
	EXPECT_LT(1500, ascending);
	EXPECT_GT(2600, ascending);

	qsort(x, 4096, sizeof(*x), by_offset);
	for (i = 1; i < 4096; i++)
		ASSERT_LE(x[i - 1].bar_offset + 4096, x[i].bar_offset);
	free(x);
}

TEST_F(gpu, extents_room)
{
	struct fakegpu_alloc a = {
		.size = 5 * 64 * KIB + 4096, .extent_size = 64 * KIB,
		.behaviour = FAKEGPU_MOVABLE, .flags = FAKEGPU_SCATTERED,
	};
	struct fakegpu_extent x[7];
	struct fakegpu_extents e = { .array = (uintptr_t)x, .count = 2 };

	memset(x, 0x55, sizeof(x));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_ALLOC, &a));
	e.handle = a.handle;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_EQ(6, e.count);
	EXPECT_EQ(64 * KIB, x[1].length);
	EXPECT_EQ(0x5555555555555555ULL, x[2].length);
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_EQ(6, e.count);
	EXPECT_EQ(4096, x[5].length);
	e.array = 8;
	EXPECT_EQ(-EFAULT, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
}

FIXTURE(work) {
	int fd;
	uint32_t handle;
	uint8_t *buf, *back;
};

FIXTURE_VARIANT(work) {
	uint32_t behaviour, flags;
};

FIXTURE_VARIANT_ADD(work, whole) {
	.behaviour = FAKEGPU_STATIC,
};

FIXTURE_VARIANT_ADD(work, scattered) {
	.behaviour = FAKEGPU_REVOCABLE, .flags = FAKEGPU_SCATTERED,
};

FIXTURE_VARIANT_ADD(work, movable) {
	.behaviour = FAKEGPU_MOVABLE, .flags = FAKEGPU_SCATTERED,
};

FIXTURE_VARIANT_ADD(work, ram) {
	.behaviour = FAKEGPU_RAM,
};

#define WORK_SIZE	(1 * MIB)

FIXTURE_SETUP(work)
{
	self->fd = open("/dev/fakegpu0", O_RDWR | O_CLOEXEC);
	if (self->fd < 0)
		SKIP(return, "no fake GPU: %s", strerror(errno));
	self->buf = malloc(WORK_SIZE);
	self->back = malloc(WORK_SIZE);
	ASSERT_NE(NULL, self->buf);
	ASSERT_NE(NULL, self->back);
	ASSERT_EQ(0, alloc(self->fd, WORK_SIZE, variant->behaviour,
			   variant->flags, &self->handle));
}

FIXTURE_TEARDOWN(work)
{
	free(self->buf);
	free(self->back);
	close(self->fd);
}

TEST_F(work, fill_sum_copy)
{
	struct fakegpu_fill f = {
		.handle = self->handle, .length = WORK_SIZE, .seed = 11,
	};
	struct fakegpu_sum s = {
		.handle = self->handle, .length = WORK_SIZE,
	};
	uint64_t *want = (uint64_t *)self->buf, i;

	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_FILL, &f));
	f.offset = 4096 * 3 + 8;
	f.length = 4096 * 2;
	f.seed = 12;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_FILL, &f));
	for (i = 0; i < WORK_SIZE / 8; i++)
		want[i] = fakegpu_word(i >= f.offset / 8 &&
				       i < (f.offset + f.length) / 8 ? 12 : 11,
				       i);

	ASSERT_EQ(0, copy(self->fd, self->handle, 0, self->back, WORK_SIZE, 0));
	EXPECT_EQ(0, memcmp(self->buf, self->back, WORK_SIZE));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(fnv(self->buf, WORK_SIZE), s.sum);
}

/* Any offset and length, across extents, touching nothing beside them. */
TEST_F(work, copy_odd)
{
	static const struct {
		uint64_t offset, length;
	} cases[] = {
		{ 0, 1 }, { 7, 1 }, { 1, 14 }, { 4095, 2 }, { 4090, 8200 },
		{ WORK_SIZE - 1, 1 }, { 3, WORK_SIZE - 3 }, { 5, 0 },
	};
	struct fakegpu_sum s = { .handle = self->handle };
	size_t i, j;

	for (j = 0; j < WORK_SIZE; j++)
		self->buf[j] = fakegpu_word(99, j);
	ASSERT_EQ(0, copy(self->fd, self->handle, 0, self->buf, WORK_SIZE, 1));

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t offset = cases[i].offset, length = cases[i].length;

		for (j = 0; j < length; j++)
			self->buf[offset + j] = fakegpu_word(i, j);
		ASSERT_EQ(0, copy(self->fd, self->handle, offset,
				  self->buf + offset, length, 1));
		s.offset = offset;
		s.length = length;
		ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
		EXPECT_EQ(fnv(self->buf + offset, length), s.sum);
		ASSERT_EQ(0, copy(self->fd, self->handle, 0, self->back,
				  WORK_SIZE, 0));
		EXPECT_EQ(0, memcmp(self->buf, self->back, WORK_SIZE));
	}
}

TEST_F(work, export)
{
	int rw, ro;

	ASSERT_EQ(0, export(self->fd, self->handle, O_RDWR | O_CLOEXEC, &rw));
	ASSERT_EQ(0, export(self->fd, self->handle, O_RDONLY, &ro));
	EXPECT_EQ(WORK_SIZE, lseek(rw, 0, SEEK_END));
	EXPECT_EQ(O_RDWR, fcntl(rw, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(O_RDONLY, fcntl(ro, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(FD_CLOEXEC, fcntl(rw, F_GETFD));
	EXPECT_EQ(0, fcntl(ro, F_GETFD));
	EXPECT_EQ(0, close(rw));
	EXPECT_EQ(0, close(ro));
}

TEST_F(gpu, dmabuf_keeps_memory)
{
	uint64_t before = free_bytes(self->fd);
	uint32_t handle;
	int dmabuf;

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_STATIC, 0, &handle));
	ASSERT_EQ(0, export(self->fd, handle, O_RDWR, &dmabuf));
	EXPECT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, handle));
	EXPECT_EQ(before - MIB, free_bytes(self->fd));
	EXPECT_EQ(0, close(dmabuf));
	EXPECT_EQ(before, free_bytes(self->fd));
}

TEST_F(gpu, move)
{
	struct fakegpu_extent one, two;
	struct fakegpu_extents e = { .array = (uintptr_t)&one, .count = 1 };
	struct fakegpu_fill f = { .length = MIB, .seed = 5 };
	struct fakegpu_sum s = { .length = MIB };
	uint64_t before = free_bytes(self->fd), sum;
	struct fakegpu_stat stat = { };
	uint32_t handle;

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_MOVABLE, 0, &handle));
	e.handle = f.handle = s.handle = stat.handle = handle;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_FILL, &f));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
	sum = s.sum;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	ASSERT_EQ(0, call_value(self->fd, FAKEGPU_IOC_MOVE, handle));
	e.array = (uintptr_t)&two;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_NE(one.bar_offset, two.bar_offset);
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(sum, s.sum);
	EXPECT_EQ(before - MIB, free_bytes(self->fd));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_STAT, &stat));
	EXPECT_EQ(1, stat.moves);
	EXPECT_EQ(0, stat.in_ram);
}

TEST_F(gpu, revoke)
{
	struct fakegpu_revoke r = { .drain_ns = 1, .attachments = 1 };
	struct fakegpu_sum s = { .length = MIB };
	uint32_t handle;
	int dmabuf;

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_REVOCABLE, 0, &handle));
	ASSERT_EQ(0, export(self->fd, handle, O_RDWR, &dmabuf));
	r.handle = s.handle = handle;
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_REVOKE, &r));
	EXPECT_EQ(0, r.drain_ns);
	EXPECT_EQ(0, r.attachments);
	EXPECT_EQ(0, call(self->fd, FAKEGPU_IOC_REVOKE, &r));
	/* Importers are out, the device itself isn't. */
	EXPECT_EQ(-ENODEV, export(self->fd, handle, O_RDWR, &dmabuf));
	EXPECT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
	close(dmabuf);
}

TEST_F(gpu, reset)
{
	struct fakegpu_sum s = { .length = MIB };
	struct fakegpu_fill f = { .length = MIB, .seed = 1 };
	uint64_t before = free_bytes(self->fd);
	uint32_t old, handle;
	int dmabuf;

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_STATIC, 0, &old));
	ASSERT_EQ(0, export(self->fd, old, O_RDWR, &dmabuf));
	ASSERT_EQ(0, call_value(self->fd, FAKEGPU_IOC_RESET, 0));
	s.handle = f.handle = old;
	EXPECT_EQ(-ENODEV, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(-ENODEV, call(self->fd, FAKEGPU_IOC_FILL, &f));
	EXPECT_EQ(-ENODEV, copy(self->fd, old, 0, &s, sizeof(s), 0));
	EXPECT_EQ(MIB, lseek(dmabuf, 0, SEEK_END));

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_STATIC, 0, &handle));
	s.handle = handle;
	EXPECT_EQ(0, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, handle));
	EXPECT_EQ(0, call_value(self->fd, FAKEGPU_IOC_FREE, old));
	EXPECT_EQ(before - MIB, free_bytes(self->fd));
	close(dmabuf);
	EXPECT_EQ(before, free_bytes(self->fd));
}

TEST_F(gpu, bad_alloc)
{
	static const struct {
		struct fakegpu_alloc a;
		int want;
	} cases[] = {
		{ { .size = 0 }, -EINVAL },
		{ { .size = 4095 }, -EINVAL },
		{ { .size = 4096, .extent_size = 4096 }, -EINVAL },
		{ { .size = 8192, .extent_size = 100,
		    .flags = FAKEGPU_SCATTERED }, -EINVAL },
		{ { .size = 4096, .behaviour = FAKEGPU_RAM + 1 }, -EINVAL },
		{ { .size = 4096, .flags = 0x10 }, -EINVAL },
		{ { .size = 4096, .flags = FAKEGPU_REFUSE_PIN }, -EINVAL },
		{ { .size = 4096, .flags = FAKEGPU_NO_WAIT }, -EINVAL },
		{ { .size = 4096, .behaviour = FAKEGPU_RAM,
		    .flags = FAKEGPU_SCATTERED }, -EINVAL },
		{ { .size = 1ULL << 50 }, -ENOSPC },
		{ { .size = 1ULL << 50, .behaviour = FAKEGPU_RAM }, -ENOSPC },
		{ { .size = -4096ULL }, -ENOSPC },
	};
	struct fakegpu_alloc a;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		a = cases[i].a;
		EXPECT_EQ(cases[i].want,
			  call(self->fd, FAKEGPU_IOC_ALLOC, &a)) {
			TH_LOG("case %zu", i);
		}
	}
}

TEST_F(gpu, full)
{
	struct fakegpu_info info;
	uint32_t all, more;

	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_INFO, &info));
	if (info.free != info.bar_size)
		SKIP(return, "somebody else uses the GPU");
	ASSERT_EQ(0, alloc(self->fd, info.bar_size, FAKEGPU_STATIC,
			   FAKEGPU_SCATTERED, &all));
	EXPECT_EQ(0, free_bytes(self->fd));
	EXPECT_EQ(-ENOSPC, alloc(self->fd, 4096, FAKEGPU_STATIC, 0, &more));
	EXPECT_EQ(0, alloc(self->fd, 4096, FAKEGPU_RAM, 0, &more));
}

TEST_F(gpu, bad_handle)
{
	struct fakegpu_fill f = { .handle = 77, .length = 8 };
	struct fakegpu_sum s = { .handle = 77, .length = 8 };
	struct fakegpu_extents e = { .handle = 77 };
	struct fakegpu_revoke r = { .handle = 77 };
	struct fakegpu_stat stat = { .handle = 77 };
	int fd;

	EXPECT_EQ(-ENOENT, call(self->fd, FAKEGPU_IOC_FILL, &f));
	EXPECT_EQ(-ENOENT, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(-ENOENT, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_EQ(-ENOENT, call(self->fd, FAKEGPU_IOC_REVOKE, &r));
	EXPECT_EQ(-ENOENT, call(self->fd, FAKEGPU_IOC_STAT, &stat));
	EXPECT_EQ(-ENOENT, copy(self->fd, 77, 0, &f, 8, 0));
	EXPECT_EQ(-ENOENT, export(self->fd, 77, O_RDWR, &fd));
	EXPECT_EQ(-ENOENT, call_value(self->fd, FAKEGPU_IOC_MOVE, 77));
	EXPECT_EQ(-ENOENT, call_value(self->fd, FAKEGPU_IOC_FREE, 1UL << 40));
	EXPECT_EQ(-ENOTTY, call_value(self->fd, _IO('G', 99), 0));
}

TEST_F(gpu, bad_values)
{
	struct fakegpu_fill f = { .length = 12 };
	struct fakegpu_sum s = { .length = 1, .pad = 1 };
	struct fakegpu_revoke r = { };
	struct fakegpu_copy c = { .to_device = 2 };
	uint32_t handle;
	int fd;

	ASSERT_EQ(0, alloc(self->fd, 8192, FAKEGPU_STATIC, 0, &handle));
	f.handle = s.handle = r.handle = c.handle = handle;
	EXPECT_EQ(-EINVAL, call(self->fd, FAKEGPU_IOC_FILL, &f));
	EXPECT_EQ(-EINVAL, call(self->fd, FAKEGPU_IOC_SUM, &s));
	EXPECT_EQ(-EINVAL, call(self->fd, FAKEGPU_IOC_COPY, &c));
	EXPECT_EQ(-EINVAL, export(self->fd, handle, O_APPEND, &fd));
	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, FAKEGPU_IOC_REVOKE, &r));
	EXPECT_EQ(-EOPNOTSUPP, call_value(self->fd, FAKEGPU_IOC_MOVE, handle));

	EXPECT_EQ(-ERANGE, copy(self->fd, handle, 8192, &f, 1, 0));
	EXPECT_EQ(-ERANGE, copy(self->fd, handle, 1, &f, -1ULL, 0));
	EXPECT_EQ(0, copy(self->fd, handle, 8192, &f, 0, 0));
	EXPECT_EQ(-EFAULT, copy(self->fd, handle, 0, (void *)8, 16, 0));
	EXPECT_EQ(-EFAULT, copy(self->fd, handle, 0, (void *)8, 16, 1));
	EXPECT_EQ(-EFAULT, call(self->fd, FAKEGPU_IOC_ALLOC, (void *)8));
	EXPECT_EQ(-EFAULT, call(self->fd, FAKEGPU_IOC_INFO, (void *)8));
}

/* Memory in system RAM has no place in the BAR. */
TEST_F(gpu, ram)
{
	struct fakegpu_extents e = { };
	struct fakegpu_stat stat = { };
	uint64_t before = free_bytes(self->fd);
	uint32_t handle;

	ASSERT_EQ(0, alloc(self->fd, MIB, FAKEGPU_RAM, 0, &handle));
	EXPECT_EQ(before, free_bytes(self->fd));
	e.handle = stat.handle = handle;
	EXPECT_EQ(-ENXIO, call(self->fd, FAKEGPU_IOC_EXTENTS, &e));
	ASSERT_EQ(0, call(self->fd, FAKEGPU_IOC_STAT, &stat));
	EXPECT_EQ(1, stat.in_ram);
}

TEST_HARNESS_MAIN
