// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of pinned memory: each user's, counted per provider over all open
 * file descriptions, and every refusal gives back what it took.
 */
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

#define NOBODY 65534
#define PAGE 4096

FIXTURE(quota) {
	struct world w;		/* its buffer is of another allocation */
	uint32_t handle;
	int half;		/* dma-buf of half of what a user may pin */
	uint64_t half_bytes;
};

/* What a user may pin of the fake GPU, in bytes. */
static uint64_t limit(int gpu)
{
	FILE *file = fopen("/sys/module/pdio/parameters/quota_mib", "r");
	struct fakegpu_info info;
	unsigned int mib = 0;

	if (file) {
		if (fscanf(file, "%u", &mib) != 1)
			mib = 0;
		fclose(file);
	}
	if (mib)
		return MIB(mib);
	return gpu_info(gpu, &info) ? 0 : info.bar_size;
}

FIXTURE_SETUP(quota)
{
	int64_t handle;

	if (!test_bed_is(WORLD_DIRECT_BEDS))
		SKIP(return, "bed '%s' has no direct route", test_bed());
	ASSERT_EQ(0, world_open(&self->w));
	/* Nothing pinned: the world's buffer was only to be looked at. */
	ASSERT_EQ(0, pd_destroy(self->w.pd, self->w.buffer));
	self->half_bytes = limit(self->w.gpu) / 2;
	ASSERT_LE(MIB(1), self->half_bytes);
	handle = gpu_alloc(self->w.gpu, self->half_bytes, FAKEGPU_STATIC, 0, 0);
	ASSERT_LT(0, handle);
	self->handle = handle;
	self->half = gpu_export(self->w.gpu, handle, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->half);
}

FIXTURE_TEARDOWN(quota)
{
	close(self->half);
	world_close(&self->w);
}

/* Registers and pins at once. @reason may be NULL. */
static int64_t pinned(FIXTURE_DATA(quota) * self, uint64_t bytes,
		      uint32_t *reason)
{
	return pd_buffer(self->w.pd, self->half, 0, bytes, self->w.file,
			 reason);
}

static int mapped(FIXTURE_DATA(quota) * self)
{
	struct fakegpu_stat stat;
	int ret = gpu_stat(self->w.gpu, self->handle, &stat);

	if (ret)
		return ret;
	/* All three come and go together. */
	return stat.mapped == stat.attached && !stat.pinned ? stat.mapped : -1;
}

/* The limit stands exactly where it should: nothing was lost or won. */
static bool whole(FIXTURE_DATA(quota) * self)
{
	int64_t a = pinned(self, 0, NULL), b = pinned(self, 0, NULL);
	bool good = a > 0 && b > 0 && pinned(self, PAGE, NULL) == -EDQUOT;

	return !pd_destroy(self->w.pd, a) && !pd_destroy(self->w.pd, b) &&
	       good && !mapped(self);
}

TEST_F(quota, whole_at_first)
{
	EXPECT_TRUE(whole(self));
}

TEST_F(quota, overlapping)
{
	struct pdio_buffer_register reg = {
		.size = sizeof(reg),
		.dmabuf_fd = self->half,
		.file_id = self->w.file,
		.length = PAGE,
	};
	uint32_t reason = PDIO_REASON_POLICY;
	int64_t a, b, c;

	a = pinned(self, 0, &reason);
	ASSERT_LT(0, a);
	EXPECT_EQ(PDIO_REASON_NONE, reason);
	b = pinned(self, 0, &reason);
	ASSERT_LT(0, b);
	EXPECT_EQ(2, mapped(self));

	memset(&reg.out_id, 0xff, sizeof(reg) -
	       offsetof(struct pdio_buffer_register, out_id));
	EXPECT_EQ(-EDQUOT, world_call(self->w.pd, PDIO_BUFFER_REGISTER, &reg));
	EXPECT_EQ(PDIO_REASON_QUOTA, reg.out_reason);
	EXPECT_EQ(0, reg.out_id);
	EXPECT_EQ(0, reg.out_length);
	EXPECT_EQ(2, mapped(self));
	/* The refused one left no id, and the others serve on. */
	EXPECT_EQ(-ENOENT, pd_destroy(self->w.pd, b + 1));
	EXPECT_EQ(PAGE, pd_io(self->w.pd, PDIO_OP_READ, 0, self->w.file, 0, a,
			      self->half_bytes - PAGE, PAGE, NULL));
	EXPECT_EQ(PAGE, pd_io(self->w.pd, PDIO_OP_WRITE, 0, self->w.file, 0, b,
			      0, PAGE, NULL));

	EXPECT_EQ(0, pd_destroy(self->w.pd, a));
	c = pinned(self, PAGE, &reason);
	EXPECT_LT(0, c);
	EXPECT_EQ(-EDQUOT, pinned(self, 0, &reason));
	EXPECT_EQ(PDIO_REASON_QUOTA, reason);
	EXPECT_LT(0, pinned(self, self->half_bytes - PAGE, &reason));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, &reason));
}

/* Without a file nothing is pinned yet, so the first use is what fails. */
TEST_F(quota, at_first_use)
{
	int64_t a = pinned(self, 0, NULL), b = pinned(self, 0, NULL), c;
	uint64_t before, after;
	struct pdio_route route;
	struct pdio_rw rw;

	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	c = pd_buffer(self->w.pd, self->half, 0, PAGE, 0, NULL);
	ASSERT_LT(0, c);
	ASSERT_EQ(0, gpu_fill(self->w.gpu, self->handle, 0, PAGE, 5));
	ASSERT_EQ(0, gpu_sum(self->w.gpu, self->handle, 0, PAGE, &before));

	EXPECT_EQ(-EDQUOT, pd_route(self->w.pd, c, self->w.file, PDIO_OP_READ,
				    &route));
	EXPECT_EQ(PDIO_ROUTE_NONE, route.out_route);
	EXPECT_EQ(PDIO_REASON_QUOTA, route.out_reason);
	EXPECT_EQ(-EDQUOT, pd_io(self->w.pd, PDIO_OP_READ, 0, self->w.file, 0,
				 c, 0, PAGE, &rw));
	EXPECT_EQ(PDIO_REASON_QUOTA, rw.out_reason);
	EXPECT_EQ(0, rw.out_bytes);
	/* It isn't a matter of the route, so REQUIRE_DIRECT changes nothing. */
	EXPECT_EQ(-EDQUOT, pd_io(self->w.pd, PDIO_OP_READ,
				 PDIO_RW_FLAG_REQUIRE_DIRECT, self->w.file, 0,
				 c, 0, PAGE, &rw));
	EXPECT_EQ(PDIO_REASON_QUOTA, rw.out_reason);
	ASSERT_EQ(0, gpu_sum(self->w.gpu, self->handle, 0, PAGE, &after));
	EXPECT_EQ(before, after);
	EXPECT_EQ(2, mapped(self));

	EXPECT_EQ(0, pd_destroy(self->w.pd, b));
	EXPECT_EQ(PAGE, pd_io(self->w.pd, PDIO_OP_READ, 0, self->w.file, 0, c,
			      0, PAGE, &rw));
	EXPECT_EQ(PAGE, rw.out_bytes_direct);
}

/* The pin of a buffer counts once, however many files it is used with. */
TEST_F(quota, once_a_buffer)
{
	int64_t a = pinned(self, 0, NULL);
	struct pdio_route route;
	int64_t file;
	int i;

	ASSERT_LT(0, a);
	for (i = 0; i < 4; i++) {
		file = pd_file(self->w.pd, self->w.disk, NULL);
		ASSERT_LT(0, file);
		EXPECT_EQ(0, pd_route(self->w.pd, a, file, PDIO_OP_READ,
				      &route));
	}
	EXPECT_EQ(1, mapped(self));
	EXPECT_LT(0, pinned(self, 0, NULL));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
}

/* More in one piece than there may be at all. */
TEST_F(quota, larger_than_limit)
{
	int64_t a = pinned(self, 0, NULL), b = pinned(self, PAGE, NULL);
	int i;

	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	for (i = 0; i < 50; i++)
		ASSERT_EQ(-EDQUOT, pinned(self, 0, NULL));
	EXPECT_EQ(2, mapped(self));
	EXPECT_EQ(0, pd_destroy(self->w.pd, a));
	EXPECT_EQ(0, pd_destroy(self->w.pd, b));
	EXPECT_TRUE(whole(self));
}

/* Another description of the same user has the same account. */
TEST_F(quota, over_descriptions)
{
	int other = pd_open();
	int64_t file;

	ASSERT_LE(0, other);
	file = pd_file(other, self->w.disk, NULL);
	ASSERT_LT(0, file);
	ASSERT_LT(0, pinned(self, 0, NULL));
	ASSERT_LT(0, pd_buffer(other, self->half, 0, 0, file, NULL));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
	EXPECT_EQ(-EDQUOT, pd_buffer(other, self->half, 0, PAGE, file, NULL));
	/* Free when close returns. */
	close(other);
	EXPECT_LT(0, pinned(self, 0, NULL));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
}

/* Runs in a child as another user: fills that user's account. */
static int as_nobody(FIXTURE_DATA(quota) * self)
{
	uint32_t reason = PDIO_REASON_NONE;

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return 1;
	if (pinned(self, 0, NULL) < 0)
		return 2;
	if (pinned(self, 0, NULL) < 0)
		return 3;
	if (pinned(self, PAGE, &reason) != -EDQUOT ||
	    reason != PDIO_REASON_QUOTA)
		return 4;
	return 0;
}

TEST_F(quota, each_user_by_itself)
{
	int64_t a = pinned(self, 0, NULL), b = pinned(self, 0, NULL);
	int status;
	pid_t child;

	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(as_nobody(self));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	/* The objects outlived the child, in an account that isn't ours. */
	EXPECT_EQ(4, mapped(self));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
	EXPECT_EQ(0, pd_destroy(self->w.pd, a));
	EXPECT_EQ(0, pd_destroy(self->w.pd, b));
	EXPECT_EQ(2, mapped(self));
	a = pinned(self, 0, NULL);
	b = pinned(self, 0, NULL);
	EXPECT_LT(0, a);
	EXPECT_LT(0, b);
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
}

/* A buffer is charged to whoever registered it, not to who uses it first. */
TEST_F(quota, charged_to_who_registered)
{
	int64_t a = pd_buffer(self->w.pd, self->half, 0, 0, 0, NULL);
	struct pdio_route route;
	int status;
	pid_t child;

	ASSERT_LT(0, a);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		_exit(pd_route(self->w.pd, a, self->w.file, PDIO_OP_READ,
			       &route) ? 2 : 0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(1, mapped(self));
	EXPECT_LT(0, pinned(self, 0, NULL));
	EXPECT_EQ(-EDQUOT, pinned(self, PAGE, NULL));
}

TEST_HARNESS_MAIN
