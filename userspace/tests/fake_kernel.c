// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The entry points of the fake kernel (ld --wrap), and its settings.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/ioctl.h>
#include <linux/pdio.h>
#include <linux/vfio.h>
#include "fake_kernel.h"
#include "fake_wrap.h"

struct fake_kernel fake;

static const struct {
	const char *name;
	size_t offset;
} settings[] = {
#define SETTING(member) { #member, offsetof(struct fake_kernel, member) }
	SETTING(route),
	SETTING(reason),
	SETTING(file_reason),
	SETTING(info_reason),
	SETTING(short_bytes),
	SETTING(fail_after),
	SETTING(fail_errno),
	SETTING(fail_reason),
	SETTING(register_errno),
	SETTING(interrupt),
	SETTING(scattered),
};

static void setting(const char *text)
{
	size_t len = strcspn(text, "="), i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (strlen(settings[i].name) != len ||
		    strncmp(settings[i].name, text, len) || text[len] != '=')
			continue;
		*(uint64_t *)((char *)&fake + settings[i].offset) =
			strtoull(text + len + 1, NULL, 0);
		return;
	}
	fprintf(stderr, "FAKE_PDIO: what is %s?\n", text);
	abort();
}

__attribute__((constructor))
static void fake_init(void)
{
	const char *env = getenv("FAKE_PDIO");
	char *copy, *word, *save;

	fake_reset();
	if (!env)
		return;
	copy = strdup(env);
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		setting(word);
	free(copy);
}

const char *fake_path(const char *path, char *room)
{
	static const char *const ours[] = {
		"/dev/pdio", "/dev/fakegpu", "/dev/vfio", "/dev/iommu",
		"/sys/bus/pci",
	};
	const char *root = getenv("FAKE_ROOT");
	size_t i;

	for (i = 0; root && i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (strncmp(path, ours[i], strlen(ours[i])))
			continue;
		snprintf(room, PATH_MAX, "%s%s", root, path);
		return room;
	}
	return path;
}

int __wrap_open64(const char *path, int flags, ...)
{
	char room[PATH_MAX];
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return __real_open64(fake_path(path, room), flags, mode);
}

ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	char room[PATH_MAX];

	return __real_readlink(fake_path(path, room), to, size);
}

DIR *__wrap_opendir(const char *path)
{
	char room[PATH_MAX];

	return __real_opendir(fake_path(path, room));
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	switch (_IOC_TYPE(cmd)) {
	case PDIO_TYPE:
		ret = fake_pdio_ioctl(fd, cmd, arg);
		break;
	case 'G':
		ret = fake_gpu_ioctl(fd, cmd, arg);
		break;
	case VFIO_TYPE:
		ret = fake_vfio_ioctl(fd, cmd, arg);
		break;
	default:
		return __real_ioctl(fd, cmd, arg);
	}
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}
