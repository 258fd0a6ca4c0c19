// SPDX-License-Identifier: GPL-2.0-only
/*
 * The structures' sizes at run time: for every command, what lies outside of the
 * caller's structure is neither read nor written, all that the kernel writes is
 * defined, and older and newer callers are served as the header promises.
 */
#include <stdio.h>
#include <string.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

#define ROOM	0x20000		/* for structures of any length in here */
#define GUARD	0xa5

union any {
	uint32_t size;
	struct pdio_info info;
	struct pdio_buffer_register buffer;
	struct pdio_file_register file;
	struct pdio_route route;
	struct pdio_rw rw;
	struct pdio_destroy destroy;
	unsigned char bytes[128];
};

FIXTURE(size) {
	struct world w;
	struct pdio_segment segment;
	unsigned char *room;
};

/* A command: its structure, where its out members lie, and a valid call. */
FIXTURE_VARIANT(size) {
	unsigned long cmd;
	size_t size;
	size_t out;		/* first out member; all from here on are */
	bool answers_failure;	/* out members are written then, too */
	bool counts;		/* a request */
};

FIXTURE_VARIANT_ADD(size, info) {
	.cmd = PDIO_INFO,
	.size = sizeof(struct pdio_info),
	.out = offsetof(struct pdio_info, out_features),
};

FIXTURE_VARIANT_ADD(size, buffer_register) {
	.cmd = PDIO_BUFFER_REGISTER,
	.size = sizeof(struct pdio_buffer_register),
	.out = offsetof(struct pdio_buffer_register, out_id),
	.answers_failure = true,
};

FIXTURE_VARIANT_ADD(size, file_register) {
	.cmd = PDIO_FILE_REGISTER,
	.size = sizeof(struct pdio_file_register),
	.out = offsetof(struct pdio_file_register, out_id),
};

FIXTURE_VARIANT_ADD(size, route) {
	.cmd = PDIO_ROUTE,
	.size = sizeof(struct pdio_route),
	.out = offsetof(struct pdio_route, out_route),
	.answers_failure = true,
};

FIXTURE_VARIANT_ADD(size, rw) {
	.cmd = PDIO_RW,
	.size = sizeof(struct pdio_rw),
	.out = offsetof(struct pdio_rw, out_reason),
	.answers_failure = true,
	.counts = true,
};

FIXTURE_VARIANT_ADD(size, destroy) {
	.cmd = PDIO_DESTROY,
	.size = sizeof(struct pdio_destroy),
	.out = sizeof(struct pdio_destroy),
};

FIXTURE_SETUP(size)
{
	if (variant->counts && !test_bed_is(WORLD_DIRECT_BEDS))
		SKIP(return, "bed '%s' has no direct route", test_bed());
	ASSERT_EQ(0, world_open(&self->w));
	self->room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->room != MAP_FAILED);
}

FIXTURE_TEARDOWN(size)
{
	world_close(&self->w);
}

/* What the out members hold before the call must not matter. */
static void poison(const FIXTURE_VARIANT(size) * variant, union any *arg,
		   int byte)
{
	unsigned char reserved[4] = {};

	memset(arg->bytes + variant->out, byte, variant->size - variant->out);
	/* The one in member among them. */
	if (variant->cmd == PDIO_INFO)
		memcpy(&arg->info.__reserved, reserved, sizeof(reserved));
}

/* A structure that the command takes; for DESTROY with an id of its own. */
static void valid(FIXTURE_DATA(size) * self,
		  const FIXTURE_VARIANT(size) * variant, union any *arg)
{
	struct world *w = &self->w;

	memset(arg, 0, sizeof(*arg));
	poison(variant, arg, 0xff);
	arg->size = variant->size;
	switch (variant->cmd) {
	case PDIO_BUFFER_REGISTER:
		arg->buffer.dmabuf_fd = w->dmabuf;
		break;
	case PDIO_FILE_REGISTER:
		arg->file.fd = w->disk;
		break;
	case PDIO_ROUTE:
		arg->route.buffer_id = w->buffer;
		arg->route.file_id = w->file;
		break;
	case PDIO_RW:
		self->segment.buffer_id = w->buffer;
		self->segment.offset = 4096;
		self->segment.length = 8192;
		arg->rw.file_id = w->file;
		arg->rw.file_offset = 4096;
		arg->rw.segments = (uintptr_t)&self->segment;
		arg->rw.nr_segments = 1;
		break;
	case PDIO_DESTROY:
		arg->destroy.id = pd_buffer(w->pd, w->dmabuf, 0, 0, 0, NULL);
		break;
	}
}

/* Did the command do what it is for? Of @arg as it came back. */
static bool served(FIXTURE_DATA(size) * self,
		   const FIXTURE_VARIANT(size) * variant, const union any *arg)
{
	switch (variant->cmd) {
	case PDIO_INFO:
		return arg->info.out_max_segments > 0 &&
		       arg->info.out_max_segments < 0xffffffff;
	case PDIO_BUFFER_REGISTER:
		return arg->buffer.out_length == WORLD_BYTES &&
		       !pd_destroy(self->w.pd, arg->buffer.out_id);
	case PDIO_FILE_REGISTER:
		return !pd_destroy(self->w.pd, arg->file.out_id);
	case PDIO_ROUTE:
		return arg->route.out_route <= PDIO_ROUTE_STAGED;
	case PDIO_RW:
		return arg->rw.out_bytes == 8192 &&
		       arg->rw.out_bytes_direct + arg->rw.out_bytes_staged +
		       arg->rw.out_bytes_cpu == 8192;
	default:
		return pd_destroy(self->w.pd, arg->destroy.id) == -ENOENT;
	}
}

/* Nobody was served: the state is as it was, and the id is still there. */
static bool refused(FIXTURE_DATA(size) * self,
		    const FIXTURE_VARIANT(size) * variant, const union any *arg,
		    struct world_state *before)
{
	if (variant->cmd == PDIO_DESTROY &&
	    pd_destroy(self->w.pd, arg->destroy.id))
		return false;
	return !world_changed(&self->w, before, 0);
}

/* Puts a structure at @at, followed by zeros, @size bytes in all. */
static void place(unsigned char *at, const union any *arg, size_t known,
		  uint32_t size)
{
	memcpy(at, arg, size < known ? size : known);
	if (size > known)
		memset(at + known, 0, size - known);
	if (size >= sizeof(size))
		memcpy(at, &size, sizeof(size));
}

TEST_F(size, at_end_of_page)
{
	unsigned char *at = world_page_end(variant->size);
	union any arg;

	ASSERT_TRUE(!!at);
	valid(self, variant, &arg);
	memcpy(at, &arg, variant->size);
	EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, at));
	memcpy(&arg, at, variant->size);
	EXPECT_TRUE(served(self, variant, &arg));
}

TEST_F(size, unaligned)
{
	unsigned char *at;
	union any arg;
	int shift;

	for (shift = 1; shift < 8; shift++) {
		at = (unsigned char *)world_page_end(variant->size + 8) + shift;
		valid(self, variant, &arg);
		memcpy(at, &arg, variant->size);
		EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, at));
		memcpy(&arg, at, variant->size);
		EXPECT_TRUE(served(self, variant, &arg));
	}
}

/* Each byte of it in turn is the last one that can be accessed. */
TEST_F(size, cut_off)
{
	struct world_state before;
	unsigned char *at;
	union any arg;
	size_t cut;

	for (cut = 0; cut < variant->size; cut++) {
		valid(self, variant, &arg);
		ASSERT_EQ(0, world_look(&self->w, &before));
		at = world_page_end(cut);
		memcpy(at, &arg, cut);
		EXPECT_EQ(-EFAULT, world_call(self->w.pd, variant->cmd, at))
			TH_LOG("cut after %zu bytes", cut);
		EXPECT_TRUE(refused(self, variant, &arg, &before));
		/* Then every fourth is enough. */
		cut += cut > 8 ? 3 : 0;
	}
}

/* The first published size is the least; size itself is readable, no more. */
TEST_F(size, too_small)
{
	struct world_state before;
	unsigned char *at;
	uint32_t size;
	union any arg;

	for (size = 0; size < variant->size; size++) {
		valid(self, variant, &arg);
		ASSERT_EQ(0, world_look(&self->w, &before));
		at = world_page_end(size < 4 ? 4 : size);
		memcpy(at, &arg, size);
		memcpy(at, &size, sizeof(size));
		EXPECT_EQ(-EINVAL, world_call(self->w.pd, variant->cmd, at))
			TH_LOG("size %u", size);
		EXPECT_TRUE(refused(self, variant, &arg, &before));
		size += size > 8 && size < variant->size - 5 ? 3 : 0;
	}
}

TEST_F(size, grown_zero)
{
	static const uint32_t more[] = { 1, 8, 64, 2048 };
	unsigned char *at = self->room + 1024;
	union any arg;
	uint32_t size;
	size_t i, byte;

	for (i = 0; i < sizeof(more) / sizeof(*more); i++) {
		size = variant->size + more[i];
		valid(self, variant, &arg);
		memset(self->room, GUARD, ROOM);
		place(at, &arg, variant->size, size);
		EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, at))
			TH_LOG("%u more bytes", more[i]);
		memcpy(&arg, at, variant->size);
		EXPECT_TRUE(served(self, variant, &arg));
		EXPECT_EQ(size, arg.size);
		for (byte = variant->size; byte < size && !at[byte]; byte++)
			;
		EXPECT_EQ(size, byte) TH_LOG("the tail was written to");
		for (; at + byte < self->room + ROOM && at[byte] == GUARD;
		     byte++)
			;
		EXPECT_EQ(ROOM - 1024, byte) TH_LOG("written past the size");
		for (byte = 0; byte < 1024 && self->room[byte] == GUARD; byte++)
			;
		EXPECT_EQ(1024, byte) TH_LOG("written before the structure");
	}
}

TEST_F(size, grown_not_zero)
{
	static const struct {
		uint32_t more;
		uint32_t at;
	} cases[] = {
		{ 1, 0 }, { 8, 0 }, { 8, 3 }, { 8, 7 }, { 64, 63 },
		{ 4096, 0 }, { 4096, 4095 }, { 65536, 65535 },
	};
	unsigned char *at = self->room + 1024;
	struct world_state before;
	union any arg;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		valid(self, variant, &arg);
		ASSERT_EQ(0, world_look(&self->w, &before));
		place(at, &arg, variant->size, variant->size + cases[i].more);
		at[variant->size + cases[i].at] = 1;
		EXPECT_EQ(-E2BIG, world_call(self->w.pd, variant->cmd, at))
			TH_LOG("byte %u of %u more", cases[i].at,
			       cases[i].more);
		EXPECT_EQ(0, memcmp(at + 4, arg.bytes + 4, variant->size - 4));
		EXPECT_TRUE(refused(self, variant, &arg, &before));
	}
}

/* Longer than a page is no structure, whatever is in it. */
TEST_F(size, grown_past_a_page)
{
	unsigned char *at = self->room + 1024;
	struct world_state before;
	union any arg;

	valid(self, variant, &arg);
	ASSERT_EQ(0, world_look(&self->w, &before));
	place(at, &arg, variant->size, 4097);
	EXPECT_EQ(-E2BIG, world_call(self->w.pd, variant->cmd, at));
	EXPECT_TRUE(refused(self, variant, &arg, &before));
}

/* A size that promises more than there is. */
TEST_F(size, grown_past_memory)
{
	static const uint32_t sizes[] = { 8192, 0x7fffffff, 0xffffffff };
	struct world_state before;
	unsigned char *at;
	union any arg;
	uint32_t size;
	size_t i;

	for (i = 0; i <= sizeof(sizes) / sizeof(*sizes); i++) {
		valid(self, variant, &arg);
		ASSERT_EQ(0, world_look(&self->w, &before));
		at = world_page_end(variant->size);
		size = i ? sizes[i - 1] : variant->size + 1;
		memcpy(at, &arg, variant->size);
		memcpy(at, &size, sizeof(size));
		EXPECT_EQ(i ? -E2BIG : -EFAULT,
			  world_call(self->w.pd, variant->cmd, at))
			TH_LOG("size %u", size);
		EXPECT_TRUE(refused(self, variant, &arg, &before));
	}
}

/* What differs from call to call, whatever is right. */
static void normalise(const FIXTURE_VARIANT(size) * variant, union any *arg)
{
	if (variant->cmd == PDIO_BUFFER_REGISTER)
		arg->buffer.out_id = 0;
	else if (variant->cmd == PDIO_FILE_REGISTER)
		arg->file.out_id = 0;
	else if (variant->cmd == PDIO_DESTROY)
		arg->destroy.id = 0;
}

/* Every bit of the answer is the kernel's: it doesn't show what was there. */
TEST_F(size, answer_is_whole)
{
	union any zeros, ones, ask;

	valid(self, variant, &zeros);
	poison(variant, &zeros, 0);
	ask = zeros;
	EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, &zeros));
	EXPECT_TRUE(served(self, variant, &zeros));
	EXPECT_EQ(0, memcmp(&ask, &zeros, variant->out))
		TH_LOG("an in member was changed");

	valid(self, variant, &ones);
	EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, &ones));
	EXPECT_TRUE(served(self, variant, &ones));

	normalise(variant, &zeros);
	normalise(variant, &ones);
	EXPECT_EQ(0, memcmp(&zeros, &ones, sizeof(zeros)));
}

/* Failed: written where the header says so, and not a byte elsewhere. */
TEST_F(size, answer_of_failure)
{
	union any zeros, ones, ask;
	int error = variant->cmd == PDIO_DESTROY ? -ENOENT : -EOPNOTSUPP;

	valid(self, variant, &ones);
	/* Unknown flags, or an unknown id in their place. */
	ones.info.flags = 0x80000000;
	zeros = ones;
	poison(variant, &zeros, 0);
	ask = ones;
	EXPECT_EQ(error, world_call(self->w.pd, variant->cmd, &ones));
	EXPECT_EQ(error, world_call(self->w.pd, variant->cmd, &zeros));
	EXPECT_EQ(0, memcmp(&ask, &ones, variant->out));
	if (!variant->answers_failure)
		zeros = ask;
	EXPECT_EQ(0, memcmp(&zeros, &ones, sizeof(ones)));
	/* Above all, no id of an object that doesn't exist. */
	if (variant->cmd == PDIO_BUFFER_REGISTER)
		EXPECT_EQ(0, ones.buffer.out_id);
}

/* The answer can't be delivered: nothing happened that it would tell of. */
TEST_F(size, read_only)
{
	struct world_state before;
	union any arg;
	void *at;

	valid(self, variant, &arg);
	ASSERT_EQ(0, world_look(&self->w, &before));
	at = world_read_only(&arg, variant->size);
	ASSERT_TRUE(!!at);
	if (variant->cmd == PDIO_DESTROY) {
		EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, at))
			TH_LOG("DESTROY has nothing to write");
		return;
	}
	EXPECT_EQ(-EFAULT, world_call(self->w.pd, variant->cmd, at));
	EXPECT_TRUE(refused(self, variant, &arg, &before));
}

/* Only the last bytes of the structure can't be written. */
TEST_F(size, read_only_tail)
{
	size_t page = sysconf(_SC_PAGESIZE), tail;
	struct world_state before;
	unsigned char *map, *at;
	union any arg;

	for (tail = 4; tail == 4 || tail <= variant->size - variant->out;
	     tail += 8) {
		valid(self, variant, &arg);
		ASSERT_EQ(0, world_look(&self->w, &before));
		map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_TRUE(map != MAP_FAILED);
		at = map + page - variant->size + tail;
		memcpy(at, &arg, variant->size);
		ASSERT_EQ(0, mprotect(map + page, page, PROT_READ));
		if (variant->cmd == PDIO_DESTROY) {
			EXPECT_EQ(0, world_call(self->w.pd, variant->cmd, at));
			break;
		}
		EXPECT_EQ(-EFAULT, world_call(self->w.pd, variant->cmd, at));
		EXPECT_TRUE(refused(self, variant, &arg, &before));
		ASSERT_EQ(0, munmap(map, 2 * page));
	}
}

TEST_HARNESS_MAIN
