// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pdio copy --exec: a command that looks at the data while it lies in GPU
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "copy.h"

extern char **environ;

/* spawn - start @command with @input as its standard input; 0 or -errno */
static int spawn(const char *command, int input, pid_t *pid)
{
	char *argv[] = { "sh", "-c", (char *)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int ret;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	ret = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -ret;
}

/* feed - write all of @text; a command need not read it */
static void feed(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t ret;

	while (left) {
		ret = write(fd, text, left);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return;
		text += ret;
		left -= ret;
	}
}

/* exec_feed - write the report so far to @fd */
static void exec_feed(struct copy *copy, int fd)
{
	struct json_object *out = json_object_new_object();
	struct json_object *steps = json_object_new_array();
	const char *text;

	put_u64(out, "version", 1);
	put_text(out, "command", copy->tool->command->name);
	report_memory(copy, out);
	json_object_array_add(steps, step_json(&copy->read));
	json_object_object_add(out, "steps", steps);
	text = json_object_to_json_string_ext(out,
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	feed(fd, text);
	feed(fd, "\n");
	json_object_put(out);
}

int exec_run(struct copy *copy)
{
	const char *command = copy->tool->value[OPT_EXEC];
	int pipes[2], ret, status = 0;
	pid_t pid;

	/* What was said so far comes before what the command says. */
	fflush(stdout);
	if (pipe2(pipes, O_CLOEXEC))
		return tool_fail(copy->tool, -errno, PDIO_REASON_NONE, "pipe");
	ret = spawn(command, pipes[0], &pid);
	close(pipes[0]);
	if (!ret)
		exec_feed(copy, pipes[1]);
	close(pipes[1]);
	if (ret)
		return tool_fail(copy->tool, ret, PDIO_REASON_NONE, "run %s",
				 command);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return TOOL_OK;
	return tool_fail(copy->tool, -ECANCELED, PDIO_REASON_NONE,
			 "--exec: exit status %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) :
					     128 + WTERMSIG(status));
}
