// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What pdio copy tells: steps, progress, and where the data lies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "copy.h"

/* route_taken - the route by the bytes that moved, not by what was planned */
static const char *route_taken(const struct step *step)
{
	const struct libpdio_result *result = &step->result;

	if (step->bounced)
		return "bounce";
	if (!result->bytes)
		return "none";
	if (result->bytes == result->bytes_direct)
		return "direct";
	if (result->bytes == result->bytes_staged)
		return "staged";
	if (result->bytes == result->bytes_cpu)
		return "cpu";
	return "mixed";
}

static uint64_t step_bytes(const struct step *step)
{
	return step->bounced ? step->bounced : step->result.bytes;
}

struct json_object *step_json(const struct step *step)
{
	struct json_object *out = json_object_new_object();
	char seconds[32];

	put_text(out, "op", step_name(step));
	put_text(out, "file", step->path);
	put_u64(out, "offset", step->offset);
	put_u64(out, "bytes", step_bytes(step));
	put_u64(out, "bytes_direct", step->result.bytes_direct);
	put_u64(out, "bytes_staged", step->result.bytes_staged);
	put_u64(out, "bytes_cpu", step->result.bytes_cpu);
	put_u64(out, "bytes_bounced", step->bounced);
	put_text(out, "route", route_taken(step));
	put_reason(out, step->result.reason);
	snprintf(seconds, sizeof(seconds), "%.6f", step->seconds);
	json_object_object_add(out, "seconds",
			       json_object_new_double_s(step->seconds,
							seconds));
	if (step->planned)
		json_object_object_add(out, "plan", plan_json(&step->plan));
	return out;
}

static void step_text(const struct copy *copy, const struct step *step)
{
	const struct libpdio_result *result = &step->result;
	char text[4][SIZE_TEXT];
	double rate = 0;

	if (step->seconds > 0)
		rate = step_bytes(step) / step->seconds;
	printf("%-5s  %s %s %s\n", step_name(step), step->path,
	       step->op == PDIO_OP_READ ? "->" : "<-", copy->gpu);
	printf("       %s in %.3f s, %s/s, route=%s",
	       size_text(copy->tool, step_bytes(step), text[0]), step->seconds,
	       size_text(copy->tool, rate, text[1]), route_taken(step));
	if (!step->bounced)
		printf(", direct %s, staged %s, cpu %s",
		       size_text(copy->tool, result->bytes_direct, text[0]),
		       size_text(copy->tool, result->bytes_staged, text[1]),
		       size_text(copy->tool, result->bytes_cpu, text[2]));
	putchar('\n');
	if (result->reason)
		printf("       %s (PDIO_REASON_%s)\n",
		       libpdio_reason_str(result->reason),
		       libpdio_reason_name(result->reason));
}

void report_step(struct copy *copy, struct step *step)
{
	struct json_object *steps;

	if (!step->ran)
		return;
	if (!copy->tool->json) {
		if (step_bytes(step) || !copy->length)
			step_text(copy, step);
		return;
	}
	if (!json_object_object_get_ex(copy->tool->out, "steps", &steps)) {
		steps = json_object_new_array();
		json_object_object_add(copy->tool->out, "steps", steps);
	}
	json_object_array_add(steps, step_json(step));
}

void report_progress(const struct copy *copy, const struct step *step,
		     uint64_t bytes, double seconds)
{
	static double next = 0.5;
	static const struct step *last;
	char text[2][SIZE_TEXT];

	if (copy->tool->json || !isatty(STDERR_FILENO))
		return;
	if (last != step) {
		last = step;
		next = 0.5;
	}
	if (seconds >= next) {
		next = seconds + 0.5;
		fprintf(stderr, "\r%s %s of %s\033[K", step_name(step),
			size_text(copy->tool, bytes, text[0]),
			size_text(copy->tool, copy->length, text[1]));
	}
	if (bytes == copy->length && next > 0.5)
		fputs("\r\033[K", stderr);
}

void report_memory(struct copy *copy, struct json_object *out)
{
	struct libpdio_extent *extents;
	struct json_object *list, *item;
	uint64_t left = copy->length;
	uint32_t count = 0, i;

	put_text(out, "gpu", gpu_spec(copy->gpu));
	put_u64(out, "length", copy->length);
	if (libpdio_accel_extents(copy->mem, NULL, &count))
		return;
	extents = calloc(count, sizeof(*extents));
	if (!extents)
		return;
	if (!libpdio_accel_extents(copy->mem, extents, &count)) {
		list = json_object_new_array();
		/* The memory is whole pages; only where data lies is told. */
		for (i = 0; i < count && left; i++) {
			if (extents[i].length > left)
				extents[i].length = left;
			left -= extents[i].length;
			item = json_object_new_object();
			put_u64(item, "bar_offset", extents[i].bar_offset);
			put_u64(item, "length", extents[i].length);
			json_object_array_add(list, item);
		}
		json_object_object_add(out, "extents", list);
	}
	free(extents);
}
