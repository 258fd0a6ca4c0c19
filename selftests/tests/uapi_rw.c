// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests with one thing wrong each: the errno and the reason that the header
 * promises, before anything moves. And requests that look odd but are right.
 */
#include <stdio.h>
#include <string.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

#define PAGE 4096

FIXTURE(rw) {
	struct world w;
	struct world_state before;
	struct pdio_segment segment[2];
	struct pdio_rw rw;
};

/* Both directions, and with them both ends of which something may be wrong. */
FIXTURE_VARIANT(rw) {
	uint32_t op;
};

FIXTURE_VARIANT_ADD(rw, read) {
	.op = PDIO_OP_READ,
};

FIXTURE_VARIANT_ADD(rw, write) {
	.op = PDIO_OP_WRITE,
};

FIXTURE_SETUP(rw)
{
	if (!test_bed_is(WORLD_DIRECT_BEDS))
		SKIP(return, "bed '%s' has no direct route", test_bed());
	ASSERT_EQ(0, world_open(&self->w));
	ASSERT_EQ(0, world_look(&self->w, &self->before));
	self->segment[0].buffer_id = self->w.buffer;
	self->segment[0].length = PAGE;
	self->segment[1].buffer_id = self->w.buffer;
	self->segment[1].offset = PAGE;
	self->segment[1].length = PAGE;
	self->rw.size = sizeof(self->rw);
	self->rw.op = variant->op;
	self->rw.file_id = self->w.file;
	self->rw.file_offset = 2 * PAGE;
	self->rw.segments = (uintptr_t)self->segment;
	self->rw.nr_segments = 2;
}

FIXTURE_TEARDOWN(rw)
{
	world_close(&self->w);
}

static int call(FIXTURE_DATA(rw) * self)
{
	memset(&self->rw.out_reason, 0xff,
	       sizeof(self->rw) - offsetof(struct pdio_rw, out_reason));
	return world_call(self->w.pd, PDIO_RW, &self->rw);
}

/* The answer to @_requests of which nothing was moved; what didn't change. */
#define EXPECT_NOTHING_OF(_requests, _reason) do {			\
	const char *what = world_changed(&self->w, &self->before,	\
					 _requests);			\
	EXPECT_TRUE(!what) TH_LOG("changed: %s", what);			\
	EXPECT_EQ(_reason, self->rw.out_reason);			\
	EXPECT_EQ(0, self->rw.out_bytes);				\
	EXPECT_EQ(0, self->rw.out_bytes_direct);			\
	EXPECT_EQ(0, self->rw.out_bytes_staged);			\
	EXPECT_EQ(0, self->rw.out_bytes_cpu);				\
} while (0)

#define EXPECT_NOTHING(_reason) EXPECT_NOTHING_OF(1, _reason)

/*
 * A case: the request in @rw with the segments @s, spoiled by the statements that
 * come last, fails with -@_error and @_reason.
 */
#define REFUSED(_name, _error, _reason, ...)				\
static void spoil_##_name(FIXTURE_DATA(rw) * self, struct world *w,	\
			  struct pdio_rw *rw, struct pdio_segment *s)	\
{									\
	__VA_ARGS__;							\
}									\
									\
TEST_F(rw, _name)							\
{									\
	spoil_##_name(self, &self->w, &self->rw, self->segment);	\
	EXPECT_EQ(-(_error), call(self));				\
	EXPECT_NOTHING(PDIO_REASON_##_reason);				\
}

/* Not direct: refused, with the reason for those who asked for nothing else. */
#define ALIGNED(_name, ...)						\
static void spoil_##_name(FIXTURE_DATA(rw) * self, struct world *w,	\
			  struct pdio_rw *rw, struct pdio_segment *s)	\
{									\
	__VA_ARGS__;							\
}									\
									\
TEST_F(rw, unaligned_##_name)						\
{									\
	spoil_##_name(self, &self->w, &self->rw, self->segment);	\
	EXPECT_EQ(-EOPNOTSUPP, call(self));				\
	EXPECT_NOTHING_OF(1, PDIO_REASON_UNSUPPORTED);			\
	self->rw.flags = PDIO_RW_FLAG_REQUIRE_DIRECT;			\
	EXPECT_EQ(-EXDEV, call(self));					\
	EXPECT_NOTHING_OF(2, PDIO_REASON_UNALIGNED);			\
}

static struct pdio_segment *many_segments(uint32_t nr, uint32_t buffer)
{
	struct pdio_segment *s = calloc(nr, sizeof(*s));

	while (nr)
		s[--nr].buffer_id = buffer;
	return s;
}

static struct pdio_segment *cut_segments(const struct pdio_segment *from,
					 size_t bytes)
{
	void *at = world_page_end(bytes);

	memcpy(at, from, bytes);
	return at;
}

static void set_segments(struct pdio_rw *rw, const struct pdio_segment *s)
{
	rw->segments = (uintptr_t)s;
}

/* ---- members of the structure -------------------------------------------- */

REFUSED(flag_next, EOPNOTSUPP, NONE, rw->flags = 1U << 2)
REFUSED(flag_high, EOPNOTSUPP, NONE, rw->flags = 1U << 31)
REFUSED(flag_with_known, EOPNOTSUPP, NONE,
	rw->flags = PDIO_RW_FLAG_REQUIRE_DIRECT | 1U << 30)
REFUSED(op_next, EOPNOTSUPP, NONE, rw->op = 2)
REFUSED(op_highest, EOPNOTSUPP, NONE, rw->op = UINT32_MAX)
REFUSED(file_zero, ENOENT, NONE, rw->file_id = 0)
REFUSED(file_unknown, ENOENT, NONE, rw->file_id += 1000)
REFUSED(file_highest, ENOENT, NONE, rw->file_id = UINT32_MAX)
REFUSED(file_is_buffer, ENOENT, NONE, rw->file_id = w->buffer)
REFUSED(file_destroyed, ENOENT, NONE,
	rw->file_id = pd_file(w->pd, w->disk, NULL);
	pd_destroy(w->pd, rw->file_id);
	world_look(w, &self->before))
REFUSED(segments_none, EINVAL, NONE, rw->nr_segments = 0)
REFUSED(segments_too_many, EINVAL, NONE,
	rw->nr_segments = self->before.info.out_max_segments + 1;
	set_segments(rw, many_segments(rw->nr_segments, w->buffer)))
REFUSED(segments_far_too_many, EINVAL, NONE, rw->nr_segments = UINT32_MAX)
REFUSED(offset_over_int64, EOVERFLOW, NONE, rw->file_offset = 1ULL << 63)
REFUSED(offset_highest, EOVERFLOW, NONE, rw->file_offset = UINT64_MAX & ~4095ULL)
REFUSED(offset_and_length, EOVERFLOW, NONE,
	rw->file_offset = INT64_MAX & ~4095ULL)
REFUSED(offset_last_byte, EOVERFLOW, NONE, rw->file_offset = INT64_MAX)

/* ---- the array of segments ----------------------------------------------- */

REFUSED(pointer_null, EFAULT, NONE, rw->segments = 0)
REFUSED(pointer_first_byte, EFAULT, NONE, rw->segments = 1)
REFUSED(pointer_kernel, EFAULT, NONE, rw->segments = 0xffff888000000000ULL)
REFUSED(pointer_non_canonical, EFAULT, NONE, rw->segments = 1ULL << 56)
REFUSED(pointer_highest, EFAULT, NONE, rw->segments = UINT64_MAX - 8)
REFUSED(pointer_unmapped, EFAULT, NONE,
	set_segments(rw, world_page_end(0)))
REFUSED(array_cut_in_first, EFAULT, NONE,
	set_segments(rw, cut_segments(s, sizeof(*s) - 1)))
REFUSED(array_cut_after_first, EFAULT, NONE,
	set_segments(rw, cut_segments(s, sizeof(*s))))
REFUSED(array_cut_in_second, EFAULT, NONE,
	set_segments(rw, cut_segments(s, 2 * sizeof(*s) - 1)))

/* ---- a segment ----------------------------------------------------------- */

REFUSED(segment_reserved, EINVAL, NONE, s[0].__reserved = 1)
REFUSED(segment_reserved_last, EINVAL, NONE, s[1].__reserved = 1U << 31)
REFUSED(buffer_zero, ENOENT, NONE, s[0].buffer_id = 0)
REFUSED(buffer_unknown, ENOENT, NONE, s[0].buffer_id += 1000)
REFUSED(buffer_highest, ENOENT, NONE, s[1].buffer_id = UINT32_MAX)
REFUSED(buffer_is_file, ENOENT, NONE, s[1].buffer_id = w->file)
REFUSED(buffer_destroyed, ENOENT, NONE, s[1].buffer_id = world_ended_id(w))
REFUSED(buffer_unknown_of_none, ENOENT, NONE,
	s[1].buffer_id = UINT32_MAX; s[1].length = 0)
REFUSED(range_at_end, ERANGE, NONE, s[1].offset = WORLD_BYTES)
REFUSED(range_past_end, ERANGE, NONE, s[1].offset = WORLD_BYTES + PAGE)
REFUSED(range_crosses_end, ERANGE, NONE,
	s[0].offset = WORLD_BYTES - PAGE; s[0].length = 2 * PAGE)
REFUSED(range_crosses_end_by_byte, ERANGE, NONE,
	s[0].offset = WORLD_BYTES - PAGE; s[0].length = PAGE + 1)
REFUSED(range_too_long, ERANGE, NONE, s[0].length = WORLD_BYTES + PAGE)
REFUSED(range_above_4g, ERANGE, NONE, s[0].offset = 1ULL << 32)
REFUSED(length_above_4g, ERANGE, NONE, s[0].length = (1ULL << 32) + PAGE)
REFUSED(range_empty_past_end, ERANGE, NONE,
	s[1].offset = WORLD_BYTES + 1; s[1].length = 0)
REFUSED(range_overflows, EOVERFLOW, NONE, s[0].offset = UINT64_MAX & ~4095ULL)
REFUSED(length_over_int64, EOVERFLOW, NONE, s[0].length = 1ULL << 63)
REFUSED(length_highest, EOVERFLOW, NONE, s[0].length = UINT64_MAX)
REFUSED(lengths_overflow, EOVERFLOW, NONE, s[1].length = UINT64_MAX - PAGE + 1)

/* ---- alignment ----------------------------------------------------------- */

ALIGNED(file_offset, rw->file_offset++)
ALIGNED(file_offset_half_block, rw->file_offset += 256)
ALIGNED(length, s[1].length--)
ALIGNED(length_of_first, s[0].length -= 256)
ALIGNED(length_byte, s[0].length = 1)
ALIGNED(buffer_offset, s[1].offset++)

/* ---- who may do what ----------------------------------------------------- */

static void reopen(struct world *w, struct pdio_rw *rw, int flags)
{
	int fd = open(test_disk(), flags | O_CLOEXEC);

	rw->file_id = pd_file(w->pd, fd, NULL);
	close(fd);
}

/* Opened for the other direction only; the id outlives the descriptor. */
REFUSED(wrong_mode, EBADF, NONE,
	reopen(w, rw, rw->op == PDIO_OP_READ ? O_WRONLY : O_RDONLY);
	world_look(w, &self->before))

TEST_F(rw, right_mode)
{
	reopen(&self->w, &self->rw,
	       self->rw.op == PDIO_OP_READ ? O_RDONLY : O_WRONLY);
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(2 * PAGE, self->rw.out_bytes);
	EXPECT_EQ(2 * PAGE, self->rw.out_bytes_direct);
}

TEST_F(rw, read_only_dmabuf)
{
	int fd = gpu_export(self->w.gpu, self->w.handle, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	self->segment[1].buffer_id = pd_buffer(self->w.pd, fd, 0, 0, 0, NULL);
	close(fd);
	ASSERT_EQ(0, world_look(&self->w, &self->before));
	if (self->rw.op == PDIO_OP_READ) {
		EXPECT_EQ(-EBADF, call(self));
		EXPECT_NOTHING(PDIO_REASON_NONE);
	} else {
		EXPECT_EQ(0, call(self));
		EXPECT_EQ(2 * PAGE, self->rw.out_bytes_direct);
	}
}

/* Set after the file was registered: as little allowed as before that. */
REFUSED(append_set_later, EINVAL, NONE, fcntl(w->disk, F_SETFL, O_APPEND))

/* Ids of one description are nothing to another one. */
TEST_F(rw, other_description)
{
	int other = pd_open();

	ASSERT_LE(0, other);
	EXPECT_EQ(-ENOENT, world_call(other, PDIO_RW, &self->rw));
	EXPECT_NOTHING(PDIO_REASON_NONE);
	/* With a file of its own, the buffer is still someone else's. */
	self->rw.file_id = pd_file(other, self->w.disk, NULL);
	EXPECT_EQ(-ENOENT, world_call(other, PDIO_RW, &self->rw));
	EXPECT_NOTHING(PDIO_REASON_NONE);
	close(other);
}

/* ---- odd, and right ------------------------------------------------------ */

TEST_F(rw, most_segments)
{
	uint32_t nr = self->before.info.out_max_segments;
	struct pdio_segment *s = many_segments(nr, self->w.buffer);

	s[nr - 1].length = PAGE;
	set_segments(&self->rw, s);
	self->rw.nr_segments = nr;
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(PAGE, self->rw.out_bytes_direct);
	free(s);
}

TEST_F(rw, nothing_to_move)
{
	self->segment[0].length = 0;
	self->segment[1].length = 0;
	/* Not even alignment matters then; the end of the buffer is inside. */
	self->segment[0].offset = WORLD_BYTES;
	self->segment[1].offset = 1;
	self->rw.file_offset = 1;
	self->rw.flags = PDIO_RW_FLAG_REQUIRE_DIRECT;
	EXPECT_EQ(0, call(self));
	EXPECT_NOTHING(PDIO_REASON_NONE);
}

TEST_F(rw, empty_between)
{
	struct pdio_segment s[3] = {
		self->segment[0], self->segment[1], self->segment[1],
	};

	s[1].length = 0;
	s[1].offset = 7;
	set_segments(&self->rw, s);
	self->rw.nr_segments = 3;
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(2 * PAGE, self->rw.out_bytes_direct);
}

/* At the end of the disk, or after it: reading ends, writing has no room. */
TEST_F(rw, end_of_disk)
{
	off_t end = lseek(self->w.disk, 0, SEEK_END);
	int error = self->rw.op == PDIO_OP_READ ? 0 : -ENOSPC;

	ASSERT_LT(0, end);
	self->rw.file_offset = end;
	EXPECT_EQ(error, call(self));
	EXPECT_NOTHING(PDIO_REASON_NONE);
	self->rw.file_offset = end + PAGE;
	EXPECT_EQ(error, call(self));
	self->rw.file_offset = 1ULL << 62;
	EXPECT_EQ(error, call(self));
	self->rw.file_offset = end - PAGE;
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(PAGE, self->rw.out_bytes);
	EXPECT_EQ(PAGE, self->rw.out_bytes_direct);
}

/* The bytes of a valid request, to show that the cases above could move some. */
TEST_F(rw, valid)
{
	struct pdio_info info;
	uint64_t sum;
	void *disk;

	self->rw.flags = PDIO_RW_FLAG_REQUIRE_DIRECT | PDIO_RW_FLAG_DSYNC;
	EXPECT_EQ(0, call(self));
	EXPECT_EQ(PDIO_REASON_NONE, self->rw.out_reason);
	EXPECT_EQ(2 * PAGE, self->rw.out_bytes);
	EXPECT_EQ(2 * PAGE, self->rw.out_bytes_direct);
	EXPECT_EQ(0, self->rw.out_bytes_staged);
	EXPECT_EQ(0, self->rw.out_bytes_cpu);
	ASSERT_EQ(0, pd_info(self->w.pd, &info));
	EXPECT_EQ(self->before.info.out_ops + 1, info.out_ops);
	EXPECT_EQ(self->before.info.out_bytes_direct + 2 * PAGE,
		  info.out_bytes_direct);
	disk = disk_read(test_disk(), 2 * PAGE, 2 * PAGE);
	ASSERT_TRUE(!!disk);
	ASSERT_EQ(0, gpu_sum(self->w.gpu, self->w.handle, 0, 2 * PAGE, &sum));
	EXPECT_EQ(sum_host(disk, 2 * PAGE), sum);
	free(disk);
}

TEST_HARNESS_MAIN
