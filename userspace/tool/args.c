// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parsing the command line by the table.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define OPTIONS_MAX 32
/* Values of getopt_long() for options, out of the way of letters. */
#define LONG_BASE 256

/* What getopt_long() wants, and where each option came from. */
struct parser {
	struct option longs[OPTIONS_MAX];
	char shorts[2 * OPTIONS_MAX + 2];
	const struct option_info *info[OPTIONS_MAX];
	int count;
};

static void parser_add(struct parser *parser, const struct option_info *info)
{
	size_t len = strlen(parser->shorts);

	for (; info->name; info++) {
		parser->longs[parser->count] = (struct option){
			.name = info->name,
			.has_arg = info->value ? required_argument :
						 no_argument,
			.val = LONG_BASE + parser->count,
		};
		parser->info[parser->count++] = info;
		if (!info->letter)
			continue;
		parser->shorts[len++] = info->letter;
		if (info->value)
			parser->shorts[len++] = ':';
	}
}

static const struct option_info *parser_find(const struct parser *parser,
					     int value)
{
	int i;

	if (value >= LONG_BASE)
		return parser->info[value - LONG_BASE];
	for (i = 0; i < parser->count; i++) {
		if (parser->info[i]->letter == value)
			return parser->info[i];
	}
	return NULL;
}

/* parse_options - options up to the first operand ('+'), or all of them (':') */
static int parse_options(struct tool *tool, struct parser *parser, int argc,
			 char **argv)
{
	const struct option_info *info;
	int value;

	opterr = 0;
	while ((value = getopt_long(argc, argv, parser->shorts, parser->longs,
				    NULL)) != -1) {
		if (value == ':')
			return tool_usage(tool, "option %s needs a value",
					  argv[optind - 1]);
		info = value == '?' ? NULL : parser_find(parser, value);
		if (!info && optopt > 0 && optopt < LONG_BASE)
			return tool_usage(tool, "unknown option -%c", optopt);
		if (!info)
			return tool_usage(tool, "unknown option %s",
					  argv[optind - 1]);
		tool->set[info->id] = true;
		tool->value[info->id] = optarg;
	}
	return TOOL_OK;
}

static int check_operands(struct tool *tool)
{
	const struct operand_info *info = tool->command->operands;
	int i;

	for (i = 0; info[i].name; i++) {
		if (i >= tool->operands && !info[i].optional)
			return tool_usage(tool, "%s is missing", info[i].name);
	}
	if (tool->operands > i)
		return tool_usage(tool, "too many arguments: %s",
				  tool->operand[i]);
	return TOOL_OK;
}

int tool_parse(struct tool *tool, int argc, char **argv)
{
	struct parser parser = { .shorts = "+:" };
	int ret;

	parser_add(&parser, global_options);
	ret = parse_options(tool, &parser, argc, argv);
	if (ret || optind == argc)
		return ret;
	tool->command = command_find(argv[optind]);
	if (!tool->command)
		return tool_usage(tool, "unknown command %s", argv[optind]);
	argc -= optind;
	argv += optind;
	/* 0 makes glibc forget what it knew of the other vector. */
	optind = 0;
	parser = (struct parser){ .shorts = ":" };
	parser_add(&parser, global_options);
	parser_add(&parser, tool->command->options);
	ret = parse_options(tool, &parser, argc, argv);
	if (ret)
		return ret;
	tool->operands = argc - optind;
	tool->operand = argv + optind;
	if (tool->set[OPT_HELP] || tool->set[OPT_VERSION])
		return TOOL_OK;
	return check_operands(tool);
}

int tool_size(struct tool *tool, enum option_id id, uint64_t *bytes)
{
	static const char suffixes[] = "KMGT";
	const char *text = tool->value[id], *suffix;
	unsigned long long number;
	uint64_t unit = 1;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end) {
		suffix = strchr(suffixes, *end);
		if (!suffix || end[1])
			goto bad;
		unit <<= 10 * (suffix - suffixes + 1);
	}
	if (errno || *text < '0' || *text > '9' ||
	    __builtin_mul_overflow(number, unit, bytes) || *bytes > INT64_MAX)
		goto bad;
	return TOOL_OK;
bad:
	return tool_usage(tool, "%s is not a size", text);
}
