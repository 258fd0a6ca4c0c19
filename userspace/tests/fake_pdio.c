// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fake kernel's /dev/pdio. A dma-buf is any file here: requests copy
 * between it and the other file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/pdio.h>
#include "fake_kernel.h"

#define OBJECTS 64
#define FIRST_ID 100

struct object {
	int fd;			/* 0: no object */
	bool buffer;
	uint64_t offset;
	uint64_t length;
};

static struct object objects[OBJECTS];
static uint32_t used;
static uint64_t moved_in_all;

void fake_reset(void)
{
	uint32_t i;

	for (i = 0; i < used; i++) {
		if (objects[i].fd)
			close(objects[i].fd);
		objects[i].fd = 0;
	}
	used = 0;
	moved_in_all = 0;
	memset(&fake, 0, sizeof(fake));
	fake.max_segments = 4;
	fake.route = PDIO_ROUTE_DIRECT;
}

static struct object *object_find(uint32_t id, bool buffer)
{
	struct object *object = &objects[(id - FIRST_ID) % OBJECTS];

	if (id < FIRST_ID || id - FIRST_ID >= used || !object->fd ||
	    object->buffer != buffer)
		return NULL;
	return object;
}

/* object_new - ids are never used twice, as in the kernel */
static int object_new(int fd, bool buffer, uint64_t offset, uint64_t length,
		      uint32_t *id)
{
	struct object *object;

	if (used == OBJECTS)
		return -ENOMEM;
	fd = dup(fd);
	if (fd < 0)
		return -EBADF;
	object = &objects[used];
	*object = (struct object){ fd, buffer, offset, length };
	*id = FIRST_ID + used++;
	fake.objects++;
	return 0;
}

static int fake_info(struct pdio_info *cmd)
{
	cmd->out_features = PDIO_FEATURE_DIRECT;
	cmd->out_max_segments = fake.max_segments;
	cmd->out_max_objects = OBJECTS;
	cmd->out_reason = fake.info_reason;
	cmd->out_ops = fake.requests;
	cmd->out_bytes_direct = 11;
	cmd->out_bytes_staged = 22;
	cmd->out_bytes_cpu = 33;
	return 0;
}

static int fake_buffer(struct pdio_buffer_register *cmd)
{
	struct stat stat;
	int ret;

	if (fake.register_errno) {
		cmd->out_reason = fake.fail_reason;
		return -(int)fake.register_errno;
	}
	if (cmd->offset % 4096 || cmd->length % 4096)
		return -EINVAL;
	if (cmd->file_id && !object_find(cmd->file_id, false))
		return -ENOENT;
	if (fstat(cmd->dmabuf_fd, &stat))
		return -EBADF;
	if (!cmd->length)
		cmd->length = stat.st_size - cmd->offset;
	if (cmd->offset + cmd->length > (uint64_t)stat.st_size)
		return -ERANGE;
	ret = object_new(cmd->dmabuf_fd, true, cmd->offset, cmd->length,
			 &cmd->out_id);
	cmd->out_length = cmd->length;
	cmd->out_reason = cmd->file_id ? fake.reason : PDIO_REASON_NONE;
	return ret;
}

static int fake_file(struct pdio_file_register *cmd)
{
	int flags = fcntl(cmd->fd, F_GETFL);

	if (flags < 0)
		return -EBADF;
	if (flags & O_APPEND)
		return -EINVAL;
	cmd->out_reason = fake.file_reason;
	cmd->out_offset_align = fake.file_reason ? 0 : 512;
	cmd->out_mem_align = fake.file_reason ? 0 : 4;
	return object_new(cmd->fd, false, 0, 0, &cmd->out_id);
}

static int fake_route(struct pdio_route *cmd)
{
	struct object *file = object_find(cmd->file_id, false);
	int bad;

	if (!file || !object_find(cmd->buffer_id, true))
		return -ENOENT;
	bad = cmd->op == PDIO_OP_READ ? O_WRONLY : O_RDONLY;
	if ((fcntl(file->fd, F_GETFL) & O_ACCMODE) == bad)
		return -EBADF;
	cmd->out_route = fake.route;
	cmd->out_reason = fake.reason;
	cmd->out_map_type = fake.route == PDIO_ROUTE_DIRECT ?
			    PDIO_MAP_BUS_ADDR : PDIO_MAP_BLOCKED;
	cmd->out_provider_domain = 0;
	cmd->out_provider_bdf = 0x0300;
	cmd->out_client_domain = 1;
	cmd->out_client_bdf = 0x8411;
	return 0;
}

/* copy_bytes - short at the end of the file that is read */
static int64_t copy_bytes(int from, uint64_t from_at, int to, uint64_t to_at,
			  uint64_t length)
{
	uint64_t done = 0;
	char part[4096];
	ssize_t got;

	while (done < length) {
		got = sizeof(part);
		if ((uint64_t)got > length - done)
			got = length - done;
		got = pread(from, part, got, from_at + done);
		if (got < 0)
			return -errno;
		if (!got)
			break;
		if (pwrite(to, part, got, to_at + done) != got)
			return -errno;
		done += got;
	}
	return done;
}

static int64_t rw_segment(struct pdio_rw *cmd, struct object *file,
			  struct pdio_segment *segment)
{
	struct object *buffer = object_find(segment->buffer_id, true);
	uint64_t at = cmd->file_offset + cmd->out_bytes;
	uint64_t room = fake.short_bytes ? fake.short_bytes - cmd->out_bytes :
					   UINT64_MAX;
	uint64_t length = segment->length;

	if (!buffer)
		return -ENOENT;
	if (segment->offset > buffer->length ||
	    length > buffer->length - segment->offset)
		return -ERANGE;
	if (length > room)
		length = room;
	if (cmd->op == PDIO_OP_READ)
		return copy_bytes(file->fd, at, buffer->fd,
				  buffer->offset + segment->offset, length);
	return copy_bytes(buffer->fd, buffer->offset + segment->offset,
			  file->fd, at, length);
}

/* rw_scripted - the error that the test asked for, once it is due */
static int rw_scripted(struct pdio_rw *cmd)
{
	int err = fake.fail_errno;

	if (!err || moved_in_all < fake.fail_after)
		return 0;
	fake.fail_errno = 0;
	cmd->out_reason = fake.fail_reason;
	return -err;
}

static int rw_account(struct pdio_rw *cmd)
{
	moved_in_all += cmd->out_bytes;
	cmd->out_reason = fake.reason;
	cmd->out_bytes += fake.excess_bytes;
	switch (fake.route) {
	case PDIO_ROUTE_DIRECT:
		cmd->out_bytes_direct = cmd->out_bytes;
		break;
	case PDIO_ROUTE_STAGED:
		/* An odd byte is called cpu: then the sum is mixed. */
		cmd->out_bytes_cpu = cmd->out_bytes & 1;
		cmd->out_bytes_staged = cmd->out_bytes - cmd->out_bytes_cpu;
		break;
	default:
		cmd->out_bytes_cpu = cmd->out_bytes;
	}
	return 0;
}

static int fake_rw(struct pdio_rw *cmd)
{
	struct pdio_segment *segments = (void *)(uintptr_t)cmd->segments;
	struct object *file = object_find(cmd->file_id, false);
	int64_t got;
	uint32_t i;
	int ret;

	fake.requests++;
	fake.last_flags = cmd->flags;
	fake.last_segments = cmd->nr_segments;
	if (fake.interrupt)
		raise(SIGINT);
	if (!file)
		return -ENOENT;
	if (!cmd->nr_segments || cmd->nr_segments > fake.max_segments)
		return -EINVAL;
	ret = rw_scripted(cmd);
	if (ret)
		return ret;
	if ((cmd->flags & PDIO_RW_FLAG_REQUIRE_DIRECT) &&
	    fake.route != PDIO_ROUTE_DIRECT) {
		cmd->out_reason = fake.reason;
		return -EXDEV;
	}
	for (i = 0; i < cmd->nr_segments; i++) {
		got = rw_segment(cmd, file, &segments[i]);
		if (got < 0)
			return got;
		cmd->out_bytes += got;
		if ((uint64_t)got < segments[i].length)
			break;
	}
	return rw_account(cmd);
}

static int fake_destroy(struct pdio_destroy *cmd)
{
	struct object *object = object_find(cmd->id, false);

	if (!object)
		object = object_find(cmd->id, true);
	if (!object)
		return -ENOENT;
	close(object->fd);
	object->fd = 0;
	fake.objects--;
	fake.destroyed++;
	return 0;
}

int fake_pdio_ioctl(int fd, unsigned long cmd, void *arg)
{
	(void)fd;
	switch (cmd) {
	case PDIO_INFO:
		return fake_info(arg);
	case PDIO_BUFFER_REGISTER:
		return fake_buffer(arg);
	case PDIO_FILE_REGISTER:
		return fake_file(arg);
	case PDIO_ROUTE:
		return fake_route(arg);
	case PDIO_RW:
		return fake_rw(arg);
	case PDIO_DESTROY:
		return fake_destroy(arg);
	default:
		return -ENOTTY;
	}
}
