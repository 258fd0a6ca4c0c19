// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generator, run at build time: prints a man page or a completion script from
 * the table.
 *
 *   generate man VERSION		pdio.8
 *   generate man VERSION COMMAND	pdio-COMMAND.8
 *   generate bash | zsh
 *   generate commands			names, one a line
 */
#include <stdio.h>
#include <string.h>
#include "table.h"

/* Of what is generated; in two parts, for tools that look for such lines. */
#define LICENCE "SPDX-License" "-Identifier: GPL-2.0-or-later"

/* roff - print @text so that roff takes none of it for itself */
static void roff(const char *text)
{
	const char *start = text;

	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else if (text == start && (*text == '.' || *text == '\''))
			printf("\\&%c", *text);
		else
			putchar(*text);
	}
	putchar('\n');
}

static void upper(const char *text)
{
	for (; *text; text++)
		putchar(*text >= 'a' && *text <= 'z' ? *text - 32 : *text);
}

static void man_title(const char *version, const char *command,
		      const char *summary)
{
	printf(".\\\" %s\n", LICENCE);
	fputs(".TH PDIO", stdout);
	if (command) {
		putchar('-');
		upper(command);
	}
	printf(" 8 \"\" \"pdio %s\" \"System Administration\"\n", version);
	printf(".SH NAME\npdio%s%s \\- %s\n", command ? "\\-" : "",
	       command ? command : "", summary);
}

/* man_paragraphs - @text, the first paragraph right after a heading or not */
static void man_paragraphs(const char *const *text, int after_heading)
{
	for (; *text; text++) {
		if (!after_heading)
			puts(".PP");
		after_heading = 0;
		roff(*text);
	}
}

static void man_options(const struct option_info *option)
{
	for (; option->name; option++) {
		printf(".TP\n\\fB\\-%c\\fR, \\fB\\-\\-", option->letter);
		for (const char *c = option->name; *c; c++)
			printf(*c == '-' ? "\\-" : "%c", *c);
		fputs("\\fR", stdout);
		if (option->value)
			printf(" \\fI%s\\fR", option->value);
		putchar('\n');
		roff(option->help);
	}
}

static void man_exit(void)
{
	const struct exit_info *code;

	puts(".SH EXIT STATUS");
	for (code = exit_codes; code->meaning; code++) {
		printf(".TP\n.B %d\n", code->code);
		roff(code->meaning);
	}
}

static void man_pdio(const char *version)
{
	int i;

	man_title(version, NULL,
		  "peer\\-direct I/O between storage and GPU memory");
	puts(".SH SYNOPSIS\n.B pdio\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]");
	puts(".SH DESCRIPTION");
	man_paragraphs(pdio_text, 1);
	puts(".SH COMMANDS");
	for (i = 0; i < COMMAND_COUNT; i++) {
		printf(".TP\n.BR pdio\\-%s (8)\n", commands[i].name);
		roff(commands[i].summary);
	}
	puts(".SH OPTIONS");
	man_options(global_options);
	man_exit();
	puts(".SH FILES\n.TP\n.I /dev/pdio\nThe node of the module; who may open it may use it.");
	puts(".SH SEE ALSO\n.BR libpdio (3)");
}

static void man_command(const char *version, const struct command_info *command)
{
	const struct operand_info *operand;
	const struct example_info *example;
	int gpu = 0;

	man_title(version, command->name, command->summary);
	printf(".SH SYNOPSIS\n.B pdio %s\n[\\fIOPTIONS\\fR]", command->name);
	for (operand = command->operands; operand->name; operand++)
		printf(operand->optional ? " [\\fI%s\\fR]" : " \\fI%s\\fR",
		       operand->name);
	puts("\n.SH DESCRIPTION");
	man_paragraphs(command->text, 1);
	if (command->operands->name)
		puts(".SH ARGUMENTS");
	for (operand = command->operands; operand->name; operand++) {
		printf(".TP\n.I %s\n", operand->name);
		roff(operand->help);
		gpu |= operand->kind == OPERAND_GPU;
	}
	if (gpu)
		man_paragraphs(gpu_text, 0);
	puts(".SH OPTIONS");
	man_options(command->options);
	man_options(global_options);
	man_exit();
	if (command->examples->line)
		puts(".SH EXAMPLES");
	for (example = command->examples; example->line; example++) {
		if (example != command->examples)
			puts(".PP");
		roff(example->what);
		puts(".PP\n.EX");
		fputs("    ", stdout);
		roff(example->line);
		puts(".EE");
	}
	puts(".SH SEE ALSO\n.BR pdio (8)");
}

static void option_words(const struct option_info *option)
{
	for (; option->name; option++)
		printf(" -%c --%s", option->letter, option->name);
}

static const char *bash_kind(enum operand_kind kind)
{
	switch (kind) {
	case OPERAND_GPU:
		return "_pdio_gpus";
	case OPERAND_COMMAND:
		return "_pdio_commands";
	default:
		return "_pdio_files";
	}
}

/* The colon is no word break for readline here: names of GPUs have some. */
static const char bash_head[] =
	"# " LICENCE "\n"
	"# bash completion for pdio, generated from the tool's command table\n\n"
	"_pdio_files() {\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"}\n\n"
	"_pdio_gpus() {\n"
	"\tlocal node dev words=()\n"
	"\tfor node in /dev/fakegpu[0-9]*; do\n"
	"\t\t[ ! -e \"$node\" ] || words+=(\"gpu:fake:${node#/dev/fakegpu}\")\n"
	"\tdone\n"
	"\t[ ! -e /dev/fakegpu-cmb ] || words+=(gpu:fake:cmb)\n"
	"\tfor dev in /sys/bus/pci/drivers/vfio-pci/*:*; do\n"
	"\t\t[ ! -e \"$dev\" ] || words+=(\"gpu:vfio:${dev##*/}\")\n"
	"\tdone\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"${words[*]}\" -- \"$1\")\n"
	"\tif [[ $COMP_WORDBREAKS == *:* && $1 == *:* ]]; then\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"${1%\"${1##*:}\"}\"}\")\n"
	"\tfi\n"
	"}\n\n";

static const char bash_body[] =
	"_pdio() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} cur words word command='' n=0 skip=''\n"
	"\tread -ra words <<<\"$line\"\n"
	"\tcur=''\n"
	"\tif [[ $line != *[[:space:]] ]]; then\n"
	"\t\tcur=${words[-1]}\n"
	"\t\tunset 'words[-1]'\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\tfor word in \"${words[@]:1}\"; do\n"
	"\t\tif [ -n \"$skip\" ]; then\n"
	"\t\t\tskip=''\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tcase $command:$word in\n";

static void bash_operands(const struct command_info *command)
{
	const struct operand_info *operand = command->operands;
	int n;

	for (n = 0; operand->name; operand++, n++)
		printf("\t%s:%d)\n\t\t%s \"$cur\"\n\t\t;;\n", command->name, n,
		       bash_kind(operand->kind));
}

static void bash_complete(void)
{
	int i;

	fputs(bash_head, stdout);
	fputs("_pdio_commands() {\n\tmapfile -t COMPREPLY < <(compgen -W '",
	      stdout);
	for (i = 0; i < COMMAND_COUNT; i++)
		printf("%s%s", i ? " " : "", commands[i].name);
	fputs("' -- \"$1\")\n}\n\n", stdout);
	fputs(bash_body, stdout);
	for (i = 0; i < COMMAND_COUNT; i++) {
		const struct option_info *option = commands[i].options;

		for (; option->name; option++) {
			if (option->value)
				printf("\t\t%s:-%c | %s:--%s)\n\t\t\tskip=1\n\t\t\t;;\n",
				       commands[i].name, option->letter,
				       commands[i].name, option->name);
		}
	}
	puts("\t\t*:-*) ;;\n\t\t:*)\n\t\t\tcommand=$word\n\t\t\t;;\n"
	     "\t\t*)\n\t\t\tn=$((n + 1))\n\t\t\t;;\n\t\tesac\n\tdone\n"
	     "\t[ -z \"$skip\" ] || return 0\n"
	     "\tif [[ $cur == -* ]]; then");
	fputs("\t\tword='", stdout);
	option_words(global_options);
	puts("'\n\t\tcase $command in");
	for (i = 0; i < COMMAND_COUNT; i++) {
		if (!commands[i].options->name)
			continue;
		printf("\t\t%s) word+='", commands[i].name);
		option_words(commands[i].options);
		puts("' ;;");
	}
	puts("\t\tesac\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$word\" -- \"$cur\")\n"
	     "\t\treturn 0\n\tfi\n\tcase $command:$n in\n"
	     "\t:*)\n\t\t_pdio_commands \"$cur\"\n\t\t;;");
	for (i = 0; i < COMMAND_COUNT; i++)
		bash_operands(&commands[i]);
	puts("\tesac\n}\ncomplete -F _pdio pdio");
}

/* zsh_text - print @text inside single quotes and brackets of _arguments */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_options(const struct option_info *option)
{
	for (; option->name; option++) {
		printf("\t\t'(-%c --%s)'{-%c,--%s}'[", option->letter,
		       option->name, option->letter, option->name);
		zsh_text(option->help);
		putchar(']');
		if (option->value)
			printf(":%s:", option->value);
		puts("' \\");
	}
}

static void zsh_operands(const struct operand_info *operand)
{
	static const char *const actions[] = {
		[OPERAND_FILE] = "_files",
		[OPERAND_GPU] = "_pdio_gpus",
		[OPERAND_COMMAND] = "_pdio_commands",
	};

	for (; operand->name; operand++) {
		printf("\t\t'%s%s:%s'", operand->optional ? "::" : ":",
		       operand->name, actions[operand->kind]);
		puts(operand[1].name ? " \\" : "");
	}
}

static void zsh_complete(void)
{
	int i;

	puts("#compdef pdio\n# " LICENCE "\n"
	     "# zsh completion for pdio, generated from the tool's command table\n");
	puts("_pdio_gpus() {\n\tlocal -a gpus\n\tlocal node\n"
	     "\tfor node in /dev/fakegpu[0-9]*(N); do\n"
	     "\t\tgpus+=(gpu:fake:${node#/dev/fakegpu})\n\tdone\n"
	     "\t[[ ! -e /dev/fakegpu-cmb ]] || gpus+=(gpu:fake:cmb)\n"
	     "\tfor node in /sys/bus/pci/drivers/vfio-pci/*:*(N:t); do\n"
	     "\t\tgpus+=(gpu:vfio:$node)\n\tdone\n"
	     "\tcompadd -a gpus\n}\n");
	puts("_pdio_commands() {\n\tlocal -a list\n\tlist=(");
	for (i = 0; i < COMMAND_COUNT; i++) {
		printf("\t\t'%s:", commands[i].name);
		zsh_text(commands[i].summary);
		puts("'");
	}
	puts("\t)\n\t_describe command list\n}\n");
	puts("_pdio() {\n\tlocal curcontext=$curcontext state line\n"
	     "\ttypeset -A opt_args\n"
	     "\t_arguments -C \\");
	zsh_options(global_options);
	puts("\t\t'1:command:_pdio_commands' '*::argument:->arguments' && return\n"
	     "\t[[ $state == arguments ]] || return\n\tcase $line[1] in");
	for (i = 0; i < COMMAND_COUNT; i++) {
		printf("\t%s)\n\t\t_arguments \\\n", commands[i].name);
		zsh_options(global_options);
		zsh_options(commands[i].options);
		if (commands[i].operands->name)
			zsh_operands(commands[i].operands);
		else
			puts("\t\t'*:'");
		puts("\t\t;;");
	}
	puts("\tesac\n}\n\n_pdio \"$@\"");
}

int main(int argc, char **argv)
{
	int i;

	if (argc == 2 && !strcmp(argv[1], "bash")) {
		bash_complete();
	} else if (argc == 2 && !strcmp(argv[1], "zsh")) {
		zsh_complete();
	} else if (argc == 2 && !strcmp(argv[1], "commands")) {
		for (i = 0; i < COMMAND_COUNT; i++)
			puts(commands[i].name);
	} else if (argc == 3 && !strcmp(argv[1], "man")) {
		man_pdio(argv[2]);
	} else if (argc == 4 && !strcmp(argv[1], "man")) {
		for (i = 0; i < COMMAND_COUNT; i++) {
			if (!strcmp(commands[i].name, argv[3]))
				break;
		}
		if (i == COMMAND_COUNT)
			return 1;
		man_command(argv[2], &commands[i]);
	} else {
		fputs("usage: generate man VERSION [COMMAND] | bash | zsh | commands\n",
		      stderr);
		return 2;
	}
	return fflush(stdout) || ferror(stdout);
}
