// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Help on the terminal, from the table.
 */
#include <stdio.h>
#include <string.h>
#include "tool.h"

#define WIDTH 78

const struct command_info *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

/* wrap - print @text in lines, the cursor being at @column */
static void wrap(const char *text, int indent, int column)
{
	while (*text) {
		int len = strcspn(text, " ");

		if (column + 1 + len > WIDTH && column > indent) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void paragraphs(const char *const *text)
{
	for (; *text; text++) {
		putchar('\n');
		wrap(*text, 0, 0);
	}
}

static void entry(const char *label, const char *help)
{
	int column = printf("  %-24s", label);

	if (column > 26) {
		printf("\n%*s", 26, "");
		column = 26;
	}
	wrap(help, 26, column);
}

static void options(const char *title, const struct option_info *info)
{
	char label[64];

	if (!info->name)
		return;
	printf("\n%s:\n", title);
	for (; info->name; info++) {
		snprintf(label, sizeof(label), "-%c, --%s%s%s", info->letter,
			 info->name, info->value ? " " : "",
			 info->value ? info->value : "");
		entry(label, info->help);
	}
}

void help_pdio(void)
{
	const struct exit_info *code;
	char label[16];
	size_t i;

	puts("Usage: pdio [OPTIONS] COMMAND [ARGUMENTS]");
	paragraphs(pdio_text);
	puts("\nCommands:");
	for (i = 0; i < COMMAND_COUNT; i++)
		entry(commands[i].name, commands[i].summary);
	options("Options", global_options);
	puts("\nExit status:");
	for (code = exit_codes; code->meaning; code++) {
		snprintf(label, sizeof(label), "%d", code->code);
		entry(label, code->meaning);
	}
	puts("\nSee pdio(8), and pdio help COMMAND.");
}

void help_command(const struct command_info *command)
{
	const struct operand_info *operand = command->operands;
	const struct example_info *example = command->examples;
	bool gpu = false;

	printf("Usage: pdio %s%s", command->name,
	       command->options->name ? " [OPTIONS]" : "");
	for (; operand->name; operand++) {
		printf(operand->optional ? " [%s]" : " %s", operand->name);
		gpu |= operand->kind == OPERAND_GPU;
	}
	putchar('\n');
	paragraphs(command->text);
	operand = command->operands;
	if (operand->name)
		puts("\nArguments:");
	for (; operand->name; operand++)
		entry(operand->name, operand->help);
	if (gpu)
		paragraphs(gpu_text);
	options("Options", command->options);
	options("Options of all commands", global_options);
	if (example->line)
		puts("\nExamples:");
	for (; example->line; example++)
		printf("  %s\n      %s\n", example->what, example->line);
}
