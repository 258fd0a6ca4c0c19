/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one table of what pdio's command line knows. Parser, help, man pages and
 * completions all come from it.
 */
#ifndef PDIO_TABLE_H
#define PDIO_TABLE_H

enum option_id {
	OPT_JSON,
	OPT_PRETTY,
	OPT_BYTES,
	OPT_HELP,
	OPT_VERSION,
	OPT_REQUIRE_DIRECT,
	OPT_DSYNC,
	OPT_BOUNCE,
	OPT_EXEC,
	OPT_OFFSET,
	OPT_LENGTH,
	OPT_COUNT
};

/* An option; the last of a list has no name. */
struct option_info {
	enum option_id id;
	const char *name;	/* without the dashes */
	char letter;		/* or 0 */
	const char *value;	/* what the help calls its value, or NULL */
	const char *help;	/* one sentence, no full stop */
};

/* How a shell completes an operand. */
enum operand_kind {
	OPERAND_FILE,
	OPERAND_GPU,
	OPERAND_COMMAND
};

/* An operand; the last of a list has no name. */
struct operand_info {
	const char *name;
	enum operand_kind kind;
	int optional;
	const char *help;
};

enum command_id {
	COMMAND_COPY,
	COMMAND_ROUTE,
	COMMAND_VERSION,
	COMMAND_HELP,
	COMMAND_COUNT
};

/* An example: what is done, and the line. The last has no line. */
struct example_info {
	const char *what;
	const char *line;
};

struct command_info {
	const char *name;
	const char *summary;		/* one line, no full stop */
	const char *const *text;	/* paragraphs, NULL-terminated */
	const struct operand_info *operands;
	const struct option_info *options;
	const struct example_info *examples;
};

struct exit_info {
	int code;
	const char *meaning;
};

extern const struct option_info global_options[];
extern const struct command_info commands[COMMAND_COUNT];
extern const char *const pdio_text[];		/* pdio(8)'s description */
extern const char *const gpu_text[];		/* how a GPU is named */
extern const struct exit_info exit_codes[];	/* the last has no meaning */

#endif /* PDIO_TABLE_H */
