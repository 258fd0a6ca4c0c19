// SPDX-License-Identifier: GPL-2.0-only
/*
 * One wrong member a case, with the errno that the header promises for it, and
 * with proof that the call changed nothing. Here: all commands but RW.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

FIXTURE(negative) {
	struct world w;
	struct world_state before;
};

FIXTURE_SETUP(negative)
{
	ASSERT_EQ(0, world_open(&self->w));
	ASSERT_EQ(0, world_look(&self->w, &self->before));
}

FIXTURE_TEARDOWN(negative)
{
	world_close(&self->w);
}

#define APPEND (O_RDWR | O_APPEND)

#define EXPECT_UNCHANGED() do {						\
	const char *what = world_changed(&self->w, &self->before, 0);	\
	EXPECT_TRUE(!what) TH_LOG("changed: %s", what);		\
} while (0)

/*
 * A case: a structure @arg that would be served, spoiled by the statements that
 * come last, gives -@_error.
 */
#define CASE(_valid, _cmd, _name, _error, ...)				\
static void spoil_##_name(struct world *w, typeof(_valid(NULL)) * arg)	\
{									\
	__VA_ARGS__;							\
}									\
									\
TEST_F(negative, _name)							\
{									\
	typeof(_valid(NULL)) arg = _valid(&self->w);			\
									\
	spoil_##_name(&self->w, &arg);					\
	EXPECT_EQ(-(_error), world_call(self->w.pd, _cmd, &arg));	\
	EXPECT_UNCHANGED();						\
}

static int open_path(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC, 0600);
}

static int closed_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int pipe_end(void)
{
	int ends[2];

	return pipe(ends) ? -1 : ends[0];
}

/* ---- INFO ---------------------------------------------------------------- */

static struct pdio_info valid_info(struct world *w)
{
	return (struct pdio_info) { .size = sizeof(struct pdio_info) };
}

#define INFO(_name, _error, ...)					\
	CASE(valid_info, PDIO_INFO, info_##_name, _error, __VA_ARGS__)

INFO(valid, 0)
INFO(flag_low, EOPNOTSUPP, arg->flags = 1)
INFO(flag_high, EOPNOTSUPP, arg->flags = 0x80000000)
INFO(reserved, EINVAL, arg->__reserved = 1)

/* ---- BUFFER_REGISTER ----------------------------------------------------- */

static struct pdio_buffer_register valid_buffer(struct world *w)
{
	return (struct pdio_buffer_register) {
		.size = sizeof(struct pdio_buffer_register),
		.dmabuf_fd = w->dmabuf,
	};
}

#define BUFFER(_name, _error, ...)					\
	CASE(valid_buffer, PDIO_BUFFER_REGISTER, buffer_##_name, _error, \
	     __VA_ARGS__)

BUFFER(flag_low, EOPNOTSUPP, arg->flags = 1)
BUFFER(flag_high, EOPNOTSUPP, arg->flags = 0x80000000)
BUFFER(fd_minus_one, EBADF, arg->dmabuf_fd = -1)
BUFFER(fd_lowest, EBADF, arg->dmabuf_fd = INT32_MIN)
BUFFER(fd_highest, EBADF, arg->dmabuf_fd = INT32_MAX)
BUFFER(fd_closed, EBADF, arg->dmabuf_fd = closed_fd())
BUFFER(fd_path, EBADF, arg->dmabuf_fd = open_path("/etc/passwd", O_PATH))
BUFFER(fd_file, EINVAL, arg->dmabuf_fd = open_path("/etc/passwd", O_RDONLY))
BUFFER(fd_disk, EINVAL, arg->dmabuf_fd = w->disk)
BUFFER(fd_gpu, EINVAL, arg->dmabuf_fd = w->gpu)
BUFFER(fd_self, EINVAL, arg->dmabuf_fd = w->pd)
BUFFER(fd_pipe, EINVAL, arg->dmabuf_fd = pipe_end())
BUFFER(offset_byte, EINVAL, arg->offset = 1)
BUFFER(offset_block, EINVAL, arg->offset = 512)
BUFFER(offset_odd, EINVAL, arg->offset = 4095)
BUFFER(length_byte, EINVAL, arg->length = 1)
BUFFER(length_block, EINVAL, arg->length = 4096 + 512)
BUFFER(length_odd, EINVAL, arg->length = WORLD_BYTES - 1)
BUFFER(offset_at_end, ERANGE, arg->offset = WORLD_BYTES)
BUFFER(offset_past_end, ERANGE, arg->offset = WORLD_BYTES + 4096)
BUFFER(offset_highest, ERANGE, arg->offset = UINT64_MAX & ~4095ULL)
BUFFER(length_past_end, ERANGE, arg->length = WORLD_BYTES + 4096)
BUFFER(length_highest, ERANGE, arg->length = UINT64_MAX & ~4095ULL)
BUFFER(range_past_end, ERANGE, arg->offset = 4096; arg->length = WORLD_BYTES)
BUFFER(range_above_4g, ERANGE, arg->offset = 1ULL << 32; arg->length = 4096)
BUFFER(length_above_4g, ERANGE, arg->length = (1ULL << 32) + 4096)
BUFFER(range_overflow, EOVERFLOW, arg->offset = UINT64_MAX & ~4095ULL; arg->length = 8192)
BUFFER(range_wraps_to_0, EOVERFLOW, arg->offset = UINT64_MAX & ~4095ULL; arg->length = 4096)
BUFFER(file_unknown, ENOENT, arg->file_id = w->file + 1000)
BUFFER(file_highest, ENOENT, arg->file_id = UINT32_MAX)
BUFFER(file_is_buffer, ENOENT, arg->file_id = w->buffer)

TEST_F(negative, buffer_file_destroyed)
{
	struct pdio_buffer_register arg = valid_buffer(&self->w);
	int64_t file = pd_file(self->w.pd, self->w.disk, NULL);

	ASSERT_LT(0, file);
	ASSERT_EQ(0, pd_destroy(self->w.pd, file));
	arg.file_id = file;
	EXPECT_EQ(-ENOENT, world_call(self->w.pd, PDIO_BUFFER_REGISTER, &arg));
	EXPECT_UNCHANGED();
}

/* Flags come before everything else: a newer caller learns what is missing. */
BUFFER(flag_before_fd, EOPNOTSUPP, arg->flags = 2; arg->dmabuf_fd = -1)

/* ---- FILE_REGISTER ------------------------------------------------------- */

static struct pdio_file_register valid_file(struct world *w)
{
	return (struct pdio_file_register) {
		.size = sizeof(struct pdio_file_register),
		.fd = w->disk,
	};
}

#define FILE_(_name, _error, ...)					\
	CASE(valid_file, PDIO_FILE_REGISTER, file_##_name, _error, __VA_ARGS__)

FILE_(flag_low, EOPNOTSUPP, arg->flags = 1)
FILE_(flag_high, EOPNOTSUPP, arg->flags = 0x80000000)
FILE_(reserved, EINVAL, arg->__reserved = 1)
FILE_(reserved_high, EINVAL, arg->__reserved = 0x80000000)
FILE_(fd_minus_one, EBADF, arg->fd = -1)
FILE_(fd_highest, EBADF, arg->fd = INT32_MAX)
FILE_(fd_closed, EBADF, arg->fd = closed_fd())
FILE_(fd_path, EBADF, arg->fd = open_path(test_disk(), O_PATH))
FILE_(fd_directory, EINVAL, arg->fd = open_path("/", O_RDONLY | O_DIRECTORY))
FILE_(fd_pipe, EINVAL, arg->fd = pipe_end())
FILE_(fd_socket, EINVAL, arg->fd = socket(AF_UNIX, SOCK_STREAM, 0))
FILE_(fd_null, EINVAL, arg->fd = open_path("/dev/null", O_RDWR))
FILE_(fd_gpu, EINVAL, arg->fd = w->gpu)
FILE_(fd_dmabuf, EINVAL, arg->fd = w->dmabuf)
FILE_(fd_self, EINVAL, arg->fd = w->pd)
FILE_(append_disk, EINVAL, arg->fd = open_path(test_disk(), APPEND))
FILE_(append_file, EINVAL, arg->fd = open_path("/tmp", O_TMPFILE | APPEND))
FILE_(append_set_later, EINVAL, fcntl(w->disk, F_SETFL, O_APPEND))

/* ---- ROUTE --------------------------------------------------------------- */

static struct pdio_route valid_route(struct world *w)
{
	return (struct pdio_route) {
		.size = sizeof(struct pdio_route),
		.buffer_id = w->buffer,
		.file_id = w->file,
		.op = PDIO_OP_WRITE,
	};
}

#define ROUTE(_name, _error, ...)					\
	CASE(valid_route, PDIO_ROUTE, route_##_name, _error, __VA_ARGS__)

ROUTE(valid, 0)
ROUTE(flag_low, EOPNOTSUPP, arg->flags = 1)
ROUTE(flag_high, EOPNOTSUPP, arg->flags = 0x80000000)
ROUTE(op_next, EOPNOTSUPP, arg->op = 2)
ROUTE(op_highest, EOPNOTSUPP, arg->op = UINT32_MAX)
ROUTE(buffer_zero, ENOENT, arg->buffer_id = 0)
ROUTE(buffer_unknown, ENOENT, arg->buffer_id += 1000)
ROUTE(buffer_highest, ENOENT, arg->buffer_id = UINT32_MAX)
ROUTE(buffer_is_file, ENOENT, arg->buffer_id = w->file)
ROUTE(file_zero, ENOENT, arg->file_id = 0)
ROUTE(file_unknown, ENOENT, arg->file_id += 1000)
ROUTE(file_highest, ENOENT, arg->file_id = UINT32_MAX)
ROUTE(file_is_buffer, ENOENT, arg->file_id = w->buffer)

TEST_F(negative, route_destroyed)
{
	struct pdio_route arg = valid_route(&self->w);

	arg.buffer_id = world_ended_id(&self->w);
	EXPECT_EQ(-ENOENT, world_call(self->w.pd, PDIO_ROUTE, &arg));
	EXPECT_UNCHANGED();
}

/* What the kernel says of a route that it can't look at is "none". */
TEST_F(negative, route_answer)
{
	struct pdio_route arg = valid_route(&self->w);

	memset(&arg.out_route, 0xff, sizeof(arg) -
	       offsetof(struct pdio_route, out_route));
	arg.file_id = 0;
	EXPECT_EQ(-ENOENT, world_call(self->w.pd, PDIO_ROUTE, &arg));
	EXPECT_EQ(PDIO_ROUTE_NONE, arg.out_route);
	EXPECT_EQ(PDIO_REASON_NONE, arg.out_reason);
	EXPECT_EQ(PDIO_MAP_UNKNOWN, arg.out_map_type);
	EXPECT_EQ(PDIO_BDF_NONE, arg.out_provider_bdf);
	EXPECT_EQ(PDIO_BDF_NONE, arg.out_client_bdf);
}

/* A dma-buf opened read-only may be read by the disk, never written by it. */
TEST_F(negative, route_read_only_dmabuf)
{
	int fd = gpu_export(self->w.gpu, self->w.handle, O_RDONLY | O_CLOEXEC);
	struct pdio_route route;
	int64_t buffer;

	ASSERT_LE(0, fd);
	buffer = pd_buffer(self->w.pd, fd, 0, 0, 0, NULL);
	ASSERT_LT(0, buffer);
	EXPECT_EQ(-EBADF, pd_route(self->w.pd, buffer, self->w.file,
				   PDIO_OP_READ, &route));
	EXPECT_EQ(PDIO_ROUTE_NONE, route.out_route);
	EXPECT_EQ(0, pd_route(self->w.pd, buffer, self->w.file, PDIO_OP_WRITE,
			      &route));
	if (test_bed_is(WORLD_DIRECT_BEDS))
		EXPECT_EQ(PDIO_ROUTE_DIRECT, route.out_route);
	EXPECT_EQ(0, pd_destroy(self->w.pd, buffer));
	EXPECT_UNCHANGED();
	close(fd);
}

/* ---- DESTROY ------------------------------------------------------------- */

static struct pdio_destroy valid_destroy(struct world *w)
{
	return (struct pdio_destroy) { .size = sizeof(struct pdio_destroy) };
}

#define DESTROY(_name, _error, ...)					\
	CASE(valid_destroy, PDIO_DESTROY, destroy_##_name, _error, __VA_ARGS__)

DESTROY(zero, ENOENT, arg->id = 0)
DESTROY(unknown, ENOENT, arg->id = w->buffer + 1000)
DESTROY(above_31_bits, ENOENT, arg->id = w->buffer | 0x80000000)
DESTROY(highest, ENOENT, arg->id = UINT32_MAX)
DESTROY(twice, ENOENT, arg->id = world_ended_id(w))

TEST_F(negative, destroy_of_another)
{
	int other = pd_open();

	ASSERT_LE(0, other);
	EXPECT_EQ(-ENOENT, pd_destroy(other, self->w.buffer));
	EXPECT_EQ(-ENOENT, pd_destroy(other, self->w.file));
	EXPECT_UNCHANGED();
	close(other);
}

TEST_HARNESS_MAIN
