// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pdio copy: file to GPU memory, and on to another file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "copy.h"

#define PAGE 4096ULL

static int copy_operands(struct copy *copy)
{
	struct tool *tool = copy->tool;

	copy->read.path = tool->operand[0];
	copy->gpu = tool->operand[1];
	if (gpu_spec(copy->read.path))
		return tool_usage(tool,
				  "%s can't be the source: memory of a GPU belongs to the process that allocated it",
				  copy->read.path);
	if (!gpu_spec(copy->gpu))
		return tool_usage(tool, "%s names no GPU", copy->gpu);
	if (tool->operands > 2) {
		copy->write.path = tool->operand[2];
		if (gpu_spec(copy->write.path))
			return tool_usage(tool, "%s can't be the destination",
					  copy->write.path);
	}
	if (tool->set[OPT_BOUNCE] && tool->set[OPT_REQUIRE_DIRECT])
		return tool_usage(tool,
				  "--bounce and --require-direct exclude each other");
	if (tool->set[OPT_OFFSET])
		return tool_size(tool, OPT_OFFSET, &copy->read.offset);
	return TOOL_OK;
}

/*
 * step_open - open a step's file
 *
 * The bounce asks for direct I/O, so that it does not measure the page cache,
 * and does without where the file has none.
 */
static int step_open(struct copy *copy, struct step *step, int flags)
{
	int direct = copy->tool->set[OPT_BOUNCE] ? O_DIRECT : 0;

	if (copy->tool->set[OPT_BOUNCE] && copy->tool->set[OPT_DSYNC] &&
	    step->op == PDIO_OP_WRITE)
		flags |= O_DSYNC;
	step->fd = open(step->path, flags | direct | O_CLOEXEC, 0666);
	if (step->fd < 0 && errno == EINVAL && direct)
		step->fd = open(step->path, flags | O_CLOEXEC, 0666);
	if (step->fd < 0 || fstat(step->fd, &step->stat))
		return tool_fail(copy->tool, -errno, PDIO_REASON_NONE,
				 "open %s", step->path);
	return TOOL_OK;
}

/* copy_length - all that the source has, or what --length says */
static int copy_length(struct copy *copy)
{
	off_t end = lseek(copy->read.fd, 0, SEEK_END);
	uint64_t available = 0;
	int ret;

	if (end < 0)
		return tool_fail(copy->tool, -errno, PDIO_REASON_NONE,
				 "size of %s", copy->read.path);
	if ((uint64_t)end > copy->read.offset)
		available = end - copy->read.offset;
	copy->length = available;
	if (!copy->tool->set[OPT_LENGTH])
		return TOOL_OK;
	ret = tool_size(copy->tool, OPT_LENGTH, &copy->length);
	if (!ret && copy->length > available)
		return tool_fail(copy->tool, -ENODATA, PDIO_REASON_NONE,
				 "%s has %llu bytes from offset %llu on",
				 copy->read.path, (unsigned long long)available,
				 (unsigned long long)copy->read.offset);
	return ret;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int copy_source(struct copy *copy)
{
	int ret;

	ret = step_open(copy, &copy->read, O_RDONLY);
	return ret ? ret : copy_length(copy);
}

/* copy_destination - last of all: nothing is created if the rest fails */
static int copy_destination(struct copy *copy)
{
	int ret;

	if (!copy->write.path)
		return TOOL_OK;
	ret = step_open(copy, &copy->write, O_WRONLY | O_CREAT);
	if (!ret && same_file(&copy->read.stat, &copy->write.stat))
		return tool_usage(copy->tool, "%s and %s are the same file",
				  copy->read.path, copy->write.path);
	return ret;
}

static int copy_memory(struct copy *copy)
{
	uint64_t pages = (copy->length + PAGE - 1) / PAGE;
	int ret;

	ret = gpu_open(copy->tool, copy->gpu, &copy->accel);
	if (ret)
		return ret;
	ret = libpdio_accel_alloc(copy->accel, (pages ? pages : 1) * PAGE, 0,
				  &copy->mem);
	if (ret)
		return tool_fail(copy->tool, ret, PDIO_REASON_NONE,
				 "allocate %llu bytes of %s",
				 (unsigned long long)copy->length, copy->gpu);
	if (copy->tool->set[OPT_BOUNCE])
		return TOOL_OK;
	ret = ctx_open(copy->tool, &copy->ctx);
	if (ret)
		return ret;
	return gpu_buffer(copy->tool, copy->ctx, copy->mem, copy->gpu,
			  &copy->buffer);
}

static int step_run(struct copy *copy, struct step *step)
{
	int ret;

	if (copy->tool->set[OPT_BOUNCE])
		ret = move_bounce(copy, step);
	else
		ret = move_direct(copy, step);
	report_step(copy, step);
	return ret;
}

static int copy_run(struct copy *copy)
{
	int ret;

	move_watch_signals();
	if (copy->tool->json)
		report_memory(copy, copy->tool->out);
	ret = step_run(copy, &copy->read);
	if (!ret && copy->tool->set[OPT_EXEC])
		ret = exec_run(copy);
	if (ret || !copy->write.path)
		return ret;
	if (S_ISREG(copy->write.stat.st_mode) &&
	    ftruncate(copy->write.fd, 0))
		return tool_fail(copy->tool, -errno, PDIO_REASON_NONE,
				 "truncate %s", copy->write.path);
	return step_run(copy, &copy->write);
}

static void copy_close(struct copy *copy)
{
	libpdio_buffer_unregister(copy->buffer);
	libpdio_accel_free(copy->mem);
	libpdio_accel_close(copy->accel);
	libpdio_close(copy->ctx);
	if (copy->read.fd >= 0)
		close(copy->read.fd);
	if (copy->write.fd >= 0)
		close(copy->write.fd);
}

int copy_main(struct tool *tool)
{
	struct copy copy = {
		.tool = tool,
		.read = { .op = PDIO_OP_READ, .fd = -1 },
		.write = { .op = PDIO_OP_WRITE, .fd = -1 },
	};
	int ret;

	ret = copy_operands(&copy);
	if (!ret)
		ret = copy_source(&copy);
	if (!ret)
		ret = copy_memory(&copy);
	if (!ret)
		ret = copy_destination(&copy);
	if (!ret)
		ret = copy_run(&copy);
	copy_close(&copy);
	return ret;
}
