/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands share: parsed arguments, output, and the exit codes.
 */
#ifndef PDIO_TOOL_H
#define PDIO_TOOL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include "libpdio.h"
#include "table.h"

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
	TOOL_UNSUPPORTED = 3,
	TOOL_ABSENT = 4,
};

/* One run of the tool. */
struct tool {
	const struct command_info *command;	/* NULL before it is known */
	bool set[OPT_COUNT];
	const char *value[OPT_COUNT];
	int operands;
	char **operand;
	bool json;
	struct json_object *out;		/* top-level object under -j */
};

/* args.c */

/*
 * tool_parse - parse the command line into @tool
 *
 * Returns TOOL_OK, or TOOL_USAGE after a message.
 */
int tool_parse(struct tool *tool, int argc, char **argv);

/* tool_size - the size that option @id holds; TOOL_OK, or TOOL_USAGE */
int tool_size(struct tool *tool, enum option_id id, uint64_t *bytes);

/* help.c */

void help_pdio(void);
void help_command(const struct command_info *command);
const struct command_info *command_find(const char *name);

/* output.c */

/* tool_usage - complain about the command line; returns TOOL_USAGE */
__attribute__((format(printf, 2, 3)))
int tool_usage(const struct tool *tool, const char *format, ...);

/*
 * tool_fail - report that something failed
 * @err: a negative errno
 * @reason: PDIO_REASON_*, PDIO_REASON_NONE if there is none
 * @format: what failed: "read /mnt/file"
 *
 * Prints a line on standard error, adds it to the JSON output, and returns the
 * exit code that fits.
 */
__attribute__((format(printf, 4, 5)))
int tool_fail(struct tool *tool, int err, uint32_t reason,
	      const char *format, ...);

/* tool_fail_absent - as tool_fail(), but ENOENT means that a device is absent */
__attribute__((format(printf, 3, 4)))
int tool_fail_absent(struct tool *tool, int err, const char *format, ...);

/* tool_finish - write the JSON output; returns @code, or TOOL_FAILED */
int tool_finish(struct tool *tool, int code);

/* size_text - @bytes as people read it, or exactly under --bytes */
#define SIZE_TEXT 32
const char *size_text(const struct tool *tool, uint64_t bytes,
		      char text[SIZE_TEXT]);

/* pci_text - "0000:01:00.0", or "-" for PDIO_BDF_NONE */
#define PCI_TEXT 24
const char *pci_text(uint32_t domain, uint32_t bdf, char text[PCI_TEXT]);

/* Members of JSON objects. */
void put_u64(struct json_object *to, const char *name, uint64_t value);
void put_text(struct json_object *to, const char *name, const char *value);
void put_bool(struct json_object *to, const char *name, bool value);
void put_reason(struct json_object *to, uint32_t reason);

/* endpoint.c */

/* gpu_spec - the library's spec in "gpu:SPEC", or NULL if it is a file */
const char *gpu_spec(const char *operand);

/* ctx_open, gpu_open - open the module, a GPU; TOOL_OK, or another code */
int ctx_open(struct tool *tool, struct libpdio_ctx **ctx);
int gpu_open(struct tool *tool, const char *operand,
	     struct libpdio_accel **accel);

/*
 * gpu_buffer - register all of @mem
 *
 * TOOL_OK, or another code after a message.
 */
int gpu_buffer(struct tool *tool, struct libpdio_ctx *ctx,
	       struct libpdio_mem *mem, const char *operand,
	       struct libpdio_buffer **buffer);

/* plan_json - a route as a JSON object */
struct json_object *plan_json(const struct libpdio_route *route);

/* One function a command; they return an exit code. */
int copy_main(struct tool *tool);
int route_main(struct tool *tool);
int version_main(struct tool *tool);

#endif /* PDIO_TOOL_H */
