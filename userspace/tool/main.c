// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pdio: the command-line tool. Parses, finds the command, runs it.
 */
#include <signal.h>
#include "tool.h"

static int help_main(struct tool *tool)
{
	const struct command_info *command;

	if (!tool->operands) {
		help_pdio();
		return TOOL_OK;
	}
	command = command_find(tool->operand[0]);
	if (!command)
		return tool_usage(tool, "unknown command %s", tool->operand[0]);
	help_command(command);
	return TOOL_OK;
}

static int (*const mains[COMMAND_COUNT])(struct tool *tool) = {
	[COMMAND_COPY] = copy_main,
	[COMMAND_ROUTE] = route_main,
	[COMMAND_VERSION] = version_main,
	[COMMAND_HELP] = help_main,
};

static int run(struct tool *tool)
{
	if (tool->set[OPT_HELP] || (!tool->command && !tool->set[OPT_VERSION])) {
		if (tool->command)
			help_command(tool->command);
		else
			help_pdio();
		return TOOL_OK;
	}
	if (tool->set[OPT_VERSION])
		tool->command = &commands[COMMAND_VERSION];
	tool->json = tool->command != &commands[COMMAND_HELP] &&
		     (tool->set[OPT_JSON] || tool->set[OPT_PRETTY]);
	if (tool->json) {
		tool->out = json_object_new_object();
		put_u64(tool->out, "version", 1);
		put_text(tool->out, "command", tool->command->name);
	}
	return mains[tool->command - commands](tool);
}

int main(int argc, char **argv)
{
	struct tool tool = { 0 };
	int code;

	/* A reader that has gone is an error to report, not a way to die. */
	signal(SIGPIPE, SIG_IGN);
	code = tool_parse(&tool, argc, argv);
	if (code == TOOL_OK)
		code = run(&tool);
	return tool_finish(&tool, code);
}
