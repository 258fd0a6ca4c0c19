// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two ways of pdio copy: through the module, and the classic bounce through
 * host memory that it is compared with. Both go in parts, so that an interrupt
 * is heeded and progress is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "copy.h"

#define PART (32ULL << 20)
#define BOUNCE_PART (4ULL << 20)
/* Fits the logical blocks of every disk there is. */
#define BOUNCE_ALIGN 4096

static volatile sig_atomic_t interrupted;

static void on_signal(int signo)
{
	(void)signo;
	interrupted = 1;
}

void move_watch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

const char *step_name(const struct step *step)
{
	return step->op == PDIO_OP_READ ? "read" : "write";
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* part_done - after each part: progress, and whether to stop */
static bool part_done(struct copy *copy, struct step *step, uint64_t bytes,
		      double start)
{
	step->seconds = now() - start;
	report_progress(copy, step, bytes, step->seconds);
	return interrupted;
}

/*
 * step_fail - an error, after @bytes
 *
 * A module that can serve direct requests only says UNSUPPORTED of all others;
 * what stands in the way of those is the reason of the route.
 */
static int step_fail(struct copy *copy, struct step *step, int err,
		     uint32_t reason, uint64_t bytes)
{
	if (reason == PDIO_REASON_UNSUPPORTED && step->planned &&
	    step->plan.reason)
		reason = step->plan.reason;
	if (!bytes)
		return tool_fail(copy->tool, err, reason, "%s %s",
				 step_name(step), step->path);
	return tool_fail(copy->tool, err, reason, "%s %s after %llu bytes",
			 step_name(step), step->path,
			 (unsigned long long)bytes);
}

/* step_end - what to say of a step that moved @bytes and met no error */
static int step_end(struct copy *copy, struct step *step, uint64_t bytes)
{
	if (bytes == copy->length)
		return TOOL_OK;
	if (interrupted)
		return tool_fail(copy->tool, -EINTR, PDIO_REASON_NONE,
				 "%s %s: stopped after %llu bytes",
				 step_name(step), step->path,
				 (unsigned long long)bytes);
	return tool_fail(copy->tool, -ENODATA, PDIO_REASON_NONE,
			 "%s %s: ended after %llu bytes of %llu",
			 step_name(step), step->path, (unsigned long long)bytes,
			 (unsigned long long)copy->length);
}

/* add_result - add one part to the step's sum */
static void add_result(struct libpdio_result *sum,
		       const struct libpdio_result *part)
{
	if (sum->reason == PDIO_REASON_NONE)
		sum->reason = part->reason;
	sum->bytes += part->bytes;
	sum->bytes_direct += part->bytes_direct;
	sum->bytes_staged += part->bytes_staged;
	sum->bytes_cpu += part->bytes_cpu;
}

static int move_parts(struct copy *copy, struct step *step,
		      struct libpdio_file *file)
{
	__typeof__(libpdio_pread) *move = libpdio_pread;
	uint32_t flags = 0;
	uint64_t done = 0;
	double start = now();

	if (copy->tool->set[OPT_REQUIRE_DIRECT])
		flags |= LIBPDIO_REQUIRE_DIRECT;
	if (copy->tool->set[OPT_DSYNC] && step->op == PDIO_OP_WRITE)
		flags |= LIBPDIO_DSYNC;
	if (step->op == PDIO_OP_WRITE)
		move = libpdio_pwrite;
	step->ran = true;
	while (done < copy->length) {
		struct libpdio_result part = { .size = sizeof(part) };
		uint64_t length = copy->length - done;

		if (length > PART)
			length = PART;
		move(file, copy->buffer, done, length, step->offset + done,
		     flags, &part);
		add_result(&step->result, &part);
		done += part.bytes;
		if (part.error)
			return step_fail(copy, step, part.error,
					 part.error_reason, done);
		if (part_done(copy, step, done, start) || part.bytes < length)
			break;
	}
	return step_end(copy, step, done);
}

int move_direct(struct copy *copy, struct step *step)
{
	struct libpdio_file *file;
	int ret;

	ret = libpdio_file_register(copy->ctx, step->fd, 0, &file);
	if (ret)
		return tool_fail(copy->tool, ret, PDIO_REASON_NONE,
				 "register %s", step->path);
	step->plan.size = sizeof(step->plan);
	ret = libpdio_route_get(file, copy->buffer, step->op, &step->plan);
	if (ret) {
		ret = tool_fail(copy->tool, ret, step->plan.reason,
				"%s %s: route", step_name(step), step->path);
	} else {
		step->planned = true;
		ret = move_parts(copy, step, file);
	}
	libpdio_file_unregister(file);
	return ret;
}

/* file_read - as much of a part as there is; bytes, or a negative errno */
static ssize_t file_read(int fd, char *host, size_t length, uint64_t offset)
{
	size_t room = (length + BOUNCE_ALIGN - 1) / BOUNCE_ALIGN * BOUNCE_ALIGN;
	size_t done = 0;
	ssize_t ret;

	/* Whole blocks are asked for: direct I/O takes nothing less. */
	while (done < length) {
		ret = pread(fd, host + done, room - done, offset + done);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return -errno;
		if (!ret)
			break;
		done += ret;
		/* A partial block means the end, and can't be gone on from. */
		if (done % BOUNCE_ALIGN)
			break;
	}
	return done < length ? done : length;
}

/* file_write - all of a part; the last, partial block not by direct I/O */
static ssize_t file_write(int fd, const char *host, size_t length,
			  uint64_t offset)
{
	size_t done = 0, want;
	ssize_t ret;

	while (done < length) {
		want = length - done;
		if (want >= BOUNCE_ALIGN)
			want -= want % BOUNCE_ALIGN;
		else if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT))
			return -errno;
		ret = pwrite(fd, host + done, want, offset + done);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return -errno;
		if (!ret)
			break;
		done += ret;
	}
	return done;
}

/* bounce_part - one part by way of @host; bytes, or a negative errno */
static ssize_t bounce_part(struct copy *copy, struct step *step, char *host,
			   uint64_t done, size_t length)
{
	ssize_t moved;
	int ret;

	if (step->op == PDIO_OP_WRITE) {
		ret = libpdio_accel_copy_out(copy->mem, done, host, length);
		if (ret)
			return ret;
		return file_write(step->fd, host, length, step->offset + done);
	}
	moved = file_read(step->fd, host, length, step->offset + done);
	if (moved <= 0)
		return moved;
	ret = libpdio_accel_copy_in(copy->mem, done, host, moved);
	return ret ? ret : moved;
}

int move_bounce(struct copy *copy, struct step *step)
{
	double start = now();
	ssize_t moved = 0;
	size_t length;
	char *host;

	if (posix_memalign((void **)&host, BOUNCE_ALIGN, BOUNCE_PART))
		return tool_fail(copy->tool, -ENOMEM, PDIO_REASON_NONE,
				 "allocate host memory");
	step->ran = true;
	while (step->bounced < copy->length) {
		length = BOUNCE_PART;
		if (length > copy->length - step->bounced)
			length = copy->length - step->bounced;
		moved = bounce_part(copy, step, host, step->bounced, length);
		if (moved < 0)
			break;
		step->bounced += moved;
		if (part_done(copy, step, step->bounced, start) ||
		    (size_t)moved < length)
			break;
	}
	free(host);
	if (moved < 0)
		return step_fail(copy, step, moved, PDIO_REASON_NONE,
				 step->bounced);
	return step_end(copy, step, step->bounced);
}
