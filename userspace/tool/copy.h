/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of pdio copy, shared by its three rooms: copy.c sets it up, move.c
 * moves the bytes, report.c tells.
 */
#ifndef PDIO_COPY_H
#define PDIO_COPY_H

#include <sys/stat.h>
#include "tool.h"

/* One direction: file to GPU memory, or back. */
struct step {
	uint32_t op;			/* PDIO_OP_* */
	const char *path;
	int fd;				/* -1: no such step */
	struct stat stat;
	uint64_t offset;		/* first byte in the file */
	bool planned;			/* @plan is valid */
	bool ran;			/* the rest is */
	struct libpdio_route plan;
	struct libpdio_result result;
	uint64_t bounced;		/* bytes moved by --bounce */
	double seconds;
};

struct copy {
	struct tool *tool;
	const char *gpu;		/* operand */
	struct step read;
	struct step write;
	uint64_t length;
	struct libpdio_accel *accel;
	struct libpdio_mem *mem;
	struct libpdio_ctx *ctx;	/* NULL under --bounce */
	struct libpdio_buffer *buffer;	/* NULL under --bounce */
};

/* step_name - "read" or "write" */
const char *step_name(const struct step *step);

/* move_watch_signals - from now on, SIGINT ends a step instead of the program */
void move_watch_signals(void);

/* move_direct, move_bounce - run a step; an exit code, after a message */
int move_direct(struct copy *copy, struct step *step);
int move_bounce(struct copy *copy, struct step *step);

/* report_progress - a line on a terminal, at most twice a second */
void report_progress(const struct copy *copy, const struct step *step,
		     uint64_t bytes, double seconds);

/* report_step - print a step that ran, or add it to the JSON output */
void report_step(struct copy *copy, struct step *step);

/* report_memory - add where the data lies in GPU memory to the JSON @out */
void report_memory(struct copy *copy, struct json_object *out);

/* step_json - a step that ran */
struct json_object *step_json(const struct step *step);

/* exec_run - run --exec's command with the report as its standard input */
int exec_run(struct copy *copy);

#endif /* PDIO_COPY_H */
