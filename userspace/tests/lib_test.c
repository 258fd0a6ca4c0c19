// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libpdio over the fake kernel: objects, requests, words.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_kernel.h"
#include "libpdio.h"
#include "unit.h"

#define SIZE 65536

/* A context, a file with a pattern, and a buffer over zeros. */
struct fixture {
	struct libpdio_ctx *ctx;
	struct libpdio_file *file;
	struct libpdio_buffer *buffer;
	int file_fd;
	int memory_fd;
};

static unsigned char pattern(size_t i)
{
	return i * 7 + (i >> 8);
}

static int memory(int filled)
{
	unsigned char bytes[SIZE] = { 0 };
	int fd = memfd_create("test", MFD_CLOEXEC);
	size_t i;

	for (i = 0; filled && i < SIZE; i++)
		bytes[i] = pattern(i);
	CHECK_EQ(pwrite(fd, bytes, SIZE, 0), SIZE);
	return fd;
}

static void setup(struct fixture *f)
{
	f->file_fd = memory(1);
	f->memory_fd = memory(0);
	CHECK_EQ(libpdio_open(0, &f->ctx), 0);
	CHECK_EQ(libpdio_file_register(f->ctx, f->file_fd, 0, &f->file), 0);
	CHECK_EQ(libpdio_buffer_register(f->ctx, f->memory_fd, 0, 0, f->file, 0,
					 &f->buffer, NULL), 0);
}

static void teardown(struct fixture *f)
{
	uint64_t objects = fake.objects;

	CHECK_EQ(libpdio_buffer_unregister(f->buffer), 0);
	CHECK_EQ(libpdio_file_unregister(f->file), 0);
	libpdio_close(f->ctx);
	CHECK_EQ(fake.objects, objects - 2);
	close(f->file_fd);
	close(f->memory_fd);
}

/* holds - do @length bytes of memory at @at hold the pattern from @from on? */
static int holds(int fd, size_t at, size_t from, size_t length)
{
	unsigned char byte;
	size_t i;

	for (i = 0; i < length; i++) {
		if (pread(fd, &byte, 1, at + i) != 1 ||
		    byte != pattern(from + i))
			return 0;
	}
	return 1;
}

static void test_open(void)
{
	struct libpdio_info info = { .size = sizeof(info) };
	struct libpdio_ctx *ctx;

	CHECK_EQ(libpdio_open(1, &ctx), -EOPNOTSUPP);
	CHECK_EQ(libpdio_open(0, NULL), -EINVAL);
	CHECK_EQ(libpdio_open(0, &ctx), 0);
	CHECK(fcntl(libpdio_fd(ctx), F_GETFD) & FD_CLOEXEC);
	fake.info_reason = PDIO_REASON_NO_P2PDMA;
	CHECK_EQ(libpdio_info_get(ctx, &info), 0);
	CHECK_EQ(info.reason, PDIO_REASON_NO_P2PDMA);
	CHECK_EQ(info.features, PDIO_FEATURE_DIRECT);
	CHECK_EQ(info.max_segments, 4);
	CHECK_EQ(info.max_objects, 64);
	CHECK_EQ(info.bytes_direct, 11);
	CHECK_EQ(info.bytes_staged, 22);
	CHECK_EQ(info.bytes_cpu, 33);
	libpdio_close(ctx);
	libpdio_close(NULL);
}

static void test_absent(void)
{
	char *root = strdup(getenv("FAKE_ROOT"));
	struct libpdio_ctx *ctx = NULL;

	setenv("FAKE_ROOT", "/nowhere", 1);
	CHECK_EQ(libpdio_open(0, &ctx), -ENOENT);
	CHECK(!ctx);
	setenv("FAKE_ROOT", root, 1);
	free(root);
}

static void test_sizes(void)
{
	struct {
		struct libpdio_info info;
		uint64_t newer[2];
	} big;
	struct libpdio_ctx *ctx;

	CHECK_EQ(libpdio_open(0, &ctx), 0);
	memset(&big, 0xff, sizeof(big));
	big.info.size = sizeof(big.info) - 1;
	CHECK_EQ(libpdio_info_get(ctx, &big.info), -EINVAL);
	CHECK_EQ(big.info.ops, UINT64_MAX);
	CHECK_EQ(libpdio_info_get(ctx, NULL), -EINVAL);

	big.info.size = sizeof(big.info) + 8;
	CHECK_EQ(libpdio_info_get(ctx, &big.info), 0);
	CHECK_EQ(big.info.size, sizeof(big.info) + 8);
	CHECK_EQ(big.newer[0], 0);
	CHECK_EQ(big.newer[1], UINT64_MAX);
	libpdio_close(ctx);
}

static void test_file(void)
{
	struct libpdio_file *file = NULL;
	struct fixture f;
	int fd;

	setup(&f);
	CHECK_EQ(libpdio_file_reason(f.file), PDIO_REASON_NONE);
	CHECK_EQ(libpdio_file_offset_align(f.file), 512);
	CHECK_EQ(libpdio_file_mem_align(f.file), 4);
	CHECK_EQ(libpdio_file_register(f.ctx, -1, 0, &file), -EBADF);
	CHECK_EQ(libpdio_file_register(f.ctx, f.file_fd, 2, &file),
		 -EOPNOTSUPP);
	CHECK_EQ(libpdio_file_register(NULL, f.file_fd, 0, &file), -EINVAL);
	fd = open("/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_EQ(libpdio_file_register(f.ctx, fd, 0, &file), -EINVAL);
	close(fd);
	CHECK(!file);
	fake.file_reason = PDIO_REASON_FS_NOT_DIRECT;
	CHECK_EQ(libpdio_file_register(f.ctx, f.file_fd, 0, &file), 0);
	CHECK_EQ(libpdio_file_reason(file), PDIO_REASON_FS_NOT_DIRECT);
	CHECK_EQ(libpdio_file_offset_align(file), 0);
	CHECK_EQ(libpdio_file_unregister(file), 0);
	CHECK_EQ(libpdio_file_unregister(NULL), 0);
	teardown(&f);
}

static void test_buffer(void)
{
	struct libpdio_buffer *buffer = NULL;
	struct fixture f, other;
	uint32_t reason = 77;

	setup(&f);
	setup(&other);
	CHECK_EQ(libpdio_buffer_length(f.buffer), SIZE);
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 1, 0, NULL, 0,
					 &buffer, &reason), -EINVAL);
	CHECK_EQ(reason, PDIO_REASON_NONE);
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 4096, SIZE, NULL,
					 0, &buffer, NULL), -ERANGE);
	CHECK_EQ(libpdio_buffer_register(f.ctx, -1, 0, 0, NULL, 0, &buffer,
					 NULL), -EBADF);
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 0, 0, other.file,
					 0, &buffer, NULL), -EINVAL);
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 0, 0, NULL, 1,
					 &buffer, NULL), -EOPNOTSUPP);
	fake.register_errno = EDQUOT;
	fake.fail_reason = PDIO_REASON_QUOTA;
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 0, 0, NULL, 0,
					 &buffer, &reason), -EDQUOT);
	CHECK_EQ(reason, PDIO_REASON_QUOTA);
	CHECK(!buffer);
	fake.register_errno = 0;
	fake.reason = PDIO_REASON_HOST_BRIDGE;
	CHECK_EQ(libpdio_buffer_register(f.ctx, f.memory_fd, 4096, 8192, f.file,
					 0, &buffer, &reason), 0);
	CHECK_EQ(reason, PDIO_REASON_HOST_BRIDGE);
	CHECK_EQ(libpdio_buffer_length(buffer), 8192);
	CHECK_EQ(libpdio_buffer_unregister(buffer), 0);
	teardown(&other);
	teardown(&f);
}

static void test_release_order(void)
{
	struct fixture f;
	int fd;

	setup(&f);
	fd = libpdio_fd(f.ctx);
	libpdio_close(f.ctx);
	CHECK(fcntl(fd, F_GETFD) >= 0);
	CHECK_EQ(libpdio_file_unregister(f.file), 0);
	CHECK(fcntl(fd, F_GETFD) >= 0);
	CHECK_EQ(libpdio_buffer_unregister(f.buffer), 0);
	CHECK_EQ(fcntl(fd, F_GETFD), -1);
	CHECK_EQ(fake.destroyed, 2);
	close(f.file_fd);
	close(f.memory_fd);
}

static void test_fork(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;
	int status;
	pid_t pid;

	setup(&f);
	pid = fork();
	if (!pid) {
		int ok = !libpdio_pread(f.file, f.buffer, 0, 512, 0, 0,
					&result) && result.bytes == 512;

		libpdio_buffer_unregister(f.buffer);
		libpdio_file_unregister(f.file);
		libpdio_close(f.ctx);
		close(f.file_fd);
		close(f.memory_fd);
		_exit(!(ok && !fake.destroyed));
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(holds(f.memory_fd, 0, 0, 512));
	teardown(&f);
	CHECK_EQ(fake.destroyed, 2);
}

static void test_route(void)
{
	struct libpdio_route route = { .size = sizeof(route) };
	struct fixture f, other;

	setup(&f);
	setup(&other);
	CHECK_EQ(libpdio_route_get(f.file, f.buffer, PDIO_OP_READ, &route), 0);
	CHECK_EQ(route.route, PDIO_ROUTE_DIRECT);
	CHECK_EQ(route.map_type, PDIO_MAP_BUS_ADDR);
	CHECK_EQ(route.provider_bdf, 0x0300);
	CHECK_EQ(route.client_domain, 1);
	CHECK_EQ(route.client_bdf, 0x8411);
	CHECK_EQ(libpdio_route_get(f.file, other.buffer, PDIO_OP_READ, &route),
		 -EINVAL);
	CHECK_EQ(route.route, PDIO_ROUTE_NONE);
	CHECK_EQ(route.provider_bdf, PDIO_BDF_NONE);
	route.size = 4;
	CHECK_EQ(libpdio_route_get(f.file, f.buffer, PDIO_OP_READ, &route),
		 -EINVAL);
	teardown(&other);
	teardown(&f);
}

static void test_read(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 4096, 8192, 512,
			       LIBPDIO_REQUIRE_DIRECT, &result), 0);
	CHECK_EQ(result.bytes, 8192);
	CHECK_EQ(result.bytes_direct, 8192);
	CHECK_EQ(result.error, 0);
	CHECK_EQ(fake.last_flags, PDIO_RW_FLAG_REQUIRE_DIRECT);
	CHECK(holds(f.memory_fd, 4096, 512, 8192));
	CHECK(!holds(f.memory_fd, 0, 0, 4096));
	teardown(&f);
}

static void test_write(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	unsigned char zero[512] = { 0 }, got[512];
	struct fixture f;

	setup(&f);
	CHECK_EQ(libpdio_pwrite(f.file, f.buffer, 0, 512, 1024, LIBPDIO_DSYNC,
				&result), 0);
	CHECK_EQ(result.bytes, 512);
	CHECK_EQ(fake.last_flags, PDIO_RW_FLAG_DSYNC);
	CHECK_EQ(pread(f.file_fd, got, 512, 1024), 512);
	CHECK(!memcmp(got, zero, 512));
	CHECK(holds(f.file_fd, 0, 0, 1024));
	CHECK(holds(f.file_fd, 1536, 1536, 1024));
	teardown(&f);
}

static void test_short(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	fake.short_bytes = 1000;
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, SIZE, 0, 0, &result), 0);
	CHECK_EQ(result.bytes, SIZE);
	CHECK_EQ(result.bytes_direct, SIZE);
	CHECK_EQ(fake.requests, (SIZE + 999) / 1000);
	CHECK(holds(f.memory_fd, 0, 0, SIZE));
	teardown(&f);
}

static void test_end_of_file(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 8192, SIZE - 1000, 0,
			       &result), 0);
	CHECK_EQ(result.bytes, 1000);
	CHECK_EQ(result.error, 0);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 8192, SIZE, 0, &result), 0);
	CHECK_EQ(result.bytes, 0);
	teardown(&f);
}

static void test_error_after_bytes(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	fake.short_bytes = 4096;
	fake.fail_after = 8192;
	fake.fail_errno = ENODEV;
	fake.fail_reason = PDIO_REASON_REVOKED;
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, SIZE, 0, 0, &result), 0);
	CHECK_EQ(result.bytes, 8192);
	CHECK_EQ(result.error, -ENODEV);
	CHECK_EQ(result.error_reason, PDIO_REASON_REVOKED);
	CHECK_EQ(result.reason, PDIO_REASON_NONE);
	teardown(&f);
}

static void test_refused(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	fake.route = PDIO_ROUTE_STAGED;
	fake.reason = PDIO_REASON_HOST_BRIDGE;
	memset((char *)&result + 4, 0xff, sizeof(result) - 4);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 4096, 0,
			       LIBPDIO_REQUIRE_DIRECT, &result), -EXDEV);
	CHECK_EQ(result.bytes, 0);
	CHECK_EQ(result.error, -EXDEV);
	CHECK_EQ(result.error_reason, PDIO_REASON_HOST_BRIDGE);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 4097, 0, 0, &result), 0);
	CHECK_EQ(result.reason, PDIO_REASON_HOST_BRIDGE);
	CHECK_EQ(result.bytes_staged, 4096);
	CHECK_EQ(result.bytes_cpu, 1);
	teardown(&f);
}

static void test_arguments(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct libpdio_segment segments[2];
	struct fixture f, other;

	setup(&f);
	setup(&other);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 512, 0, 0, NULL), -EINVAL);
	CHECK_EQ(libpdio_pread(f.file, NULL, 0, 512, 0, 0, &result), -EINVAL);
	CHECK_EQ(libpdio_pread(NULL, f.buffer, 0, 512, 0, 0, &result), -EINVAL);
	CHECK_EQ(libpdio_pread(f.file, other.buffer, 0, 512, 0, 0, &result),
		 -EINVAL);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 512, 0, 1U << 31, &result),
		 -EOPNOTSUPP);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 512, INT64_MAX, 0, &result),
		 -EOVERFLOW);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, UINT64_MAX, 0, 0, &result),
		 -EOVERFLOW);
	segments[0] = (struct libpdio_segment){ f.buffer, 0, UINT64_MAX };
	segments[1] = (struct libpdio_segment){ f.buffer, 0, 512 };
	CHECK_EQ(libpdio_preadv(f.file, segments, 2, 0, 0, &result),
		 -EOVERFLOW);
	CHECK_EQ(libpdio_preadv(f.file, NULL, 1, 0, 0, &result), -EINVAL);
	CHECK_EQ(fake.requests, 0);
	CHECK_EQ(libpdio_preadv(f.file, NULL, 0, 0, 0, &result), 0);
	CHECK_EQ(fake.requests, 0);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, SIZE, 512, 0, 0, &result),
		 -ERANGE);
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 0, 0, 0, &result), 0);
	CHECK_EQ(fake.requests, 2);
	teardown(&other);
	teardown(&f);
}

/* Twenty pieces, one in three empty, backwards in memory. */
static void test_vector(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct libpdio_segment segments[20];
	uint64_t at = 0;
	struct fixture f;
	int i;

	setup(&f);
	for (i = 0; i < 20; i++) {
		segments[i].buffer = f.buffer;
		segments[i].offset = SIZE - 2048 * (i + 1);
		segments[i].length = i % 3 ? 700 + i : 0;
	}
	fake.short_bytes = 1111;
	CHECK_EQ(libpdio_preadv(f.file, segments, 20, 100, 0, &result), 0);
	for (i = 0; i < 20; i++) {
		CHECK(holds(f.memory_fd, segments[i].offset, 100 + at,
			    segments[i].length));
		at += segments[i].length;
	}
	CHECK_EQ(result.bytes, at);
	CHECK(fake.last_segments <= 4);
	fake.short_bytes = 0;
	CHECK_EQ(libpdio_pwritev(f.file, segments, 20, 100, 0, &result), 0);
	CHECK_EQ(result.bytes, at);
	CHECK(holds(f.file_fd, 0, 0, SIZE));
	teardown(&f);
}

/* A whole call's worth of empty pieces must not look like the end. */
static void test_empty_pieces(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct libpdio_segment segments[6];
	struct fixture f;
	int i;

	setup(&f);
	for (i = 0; i < 6; i++)
		segments[i] = (struct libpdio_segment){ f.buffer, 0, 0 };
	CHECK_EQ(libpdio_preadv(f.file, segments, 6, 0, 0, &result), 0);
	CHECK_EQ(result.bytes, 0);
	segments[5].length = 512;
	CHECK_EQ(libpdio_preadv(f.file, segments, 6, 0, 0, &result), 0);
	CHECK_EQ(result.bytes, 512);
	CHECK(holds(f.memory_fd, 0, 0, 512));
	teardown(&f);
}

static void test_lying_kernel(void)
{
	struct libpdio_result result = { .size = sizeof(result) };
	struct fixture f;

	setup(&f);
	fake.excess_bytes = 1;
	CHECK_EQ(libpdio_pread(f.file, f.buffer, 0, 512, 0, 0, &result),
		 -EPROTO);
	CHECK_EQ(result.bytes, 0);
	teardown(&f);
}

static void test_words(void)
{
	uint32_t i, j;

	for (i = 0; i <= PDIO_REASON_NO_PROVIDER; i++) {
		const char *text = libpdio_reason_str(i);

		CHECK(libpdio_reason_name(i) && *libpdio_reason_name(i));
		CHECK(text && strlen(text) > 10);
		CHECK(text[strlen(text) - 1] == '.');
		for (j = 0; j < i; j++) {
			CHECK(strcmp(libpdio_reason_name(i),
				     libpdio_reason_name(j)));
			CHECK(strcmp(text, libpdio_reason_str(j)));
		}
	}
	CHECK_STR(libpdio_reason_name(PDIO_REASON_HOST_BRIDGE), "HOST_BRIDGE");
	CHECK_STR(libpdio_reason_name(UINT32_MAX), "UNKNOWN");
	CHECK(strstr(libpdio_reason_str(UINT32_MAX), "doesn't know"));
	CHECK_STR(libpdio_route_name(PDIO_ROUTE_STAGED), "staged");
	CHECK_STR(libpdio_route_name(9), "unknown");
	CHECK_STR(libpdio_map_name(PDIO_MAP_HOST_BRIDGE), "host-bridge");
	CHECK_STR(libpdio_map_name(9), "unknown");
	CHECK(*libpdio_version() >= '0' && *libpdio_version() <= '9');
}

int main(void)
{
	static const struct unit_test tests[] = {
		{ "open_and_info", test_open },
		{ "module_absent", test_absent },
		{ "older_and_newer_structures", test_sizes },
		{ "file", test_file },
		{ "buffer", test_buffer },
		{ "release_in_any_order", test_release_order },
		{ "fork", test_fork },
		{ "route", test_route },
		{ "read", test_read },
		{ "write", test_write },
		{ "short_results_go_on", test_short },
		{ "end_of_file", test_end_of_file },
		{ "error_after_bytes", test_error_after_bytes },
		{ "require_direct_refused", test_refused },
		{ "bad_arguments", test_arguments },
		{ "vector_split", test_vector },
		{ "vector_of_empty_pieces", test_empty_pieces },
		{ "kernel_reports_too_much", test_lying_kernel },
		{ "words", test_words },
	};

	return unit_main(tests, sizeof(tests) / sizeof(tests[0]));
}
