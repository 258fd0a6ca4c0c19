// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks, file systems and checksums for the tests; see testlib.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

#define CHUNK MIB(1)

uint64_t sum_host(const void *data, size_t length)
{
	const unsigned char *byte = data;
	uint64_t sum = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < length; i++)
		sum = (sum ^ byte[i]) * 0x100000001b3ULL;
	return sum;
}

void fill_host(void *data, size_t length, uint32_t seed, uint64_t offset)
{
	uint64_t *word = data;
	size_t i;

	for (i = 0; i < length / 8; i++)
		word[i] = fakegpu_word(seed, offset / 8 + i);
}

int run_command(const char *format, ...)
{
	char command[1024];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first word that a command prints, which has to be a SHA-256. */
static int sum_from(const char *command, char hex[65])
{
	FILE *pipe = popen(command, "r");
	int got;

	if (!pipe)
		return -errno;
	got = fscanf(pipe, "%64[0-9a-f]", hex);
	if (pclose(pipe) || got != 1 || strlen(hex) != 64)
		return -EIO;
	return 0;
}

int host_sum(int index, const struct fakegpu_extent *extents, int nr,
	     char hex[65])
{
	char path[] = "/tmp/extents-XXXXXX", command[128];
	int fd = mkstemp(path), i, ret;
	FILE *list;

	if (fd < 0)
		return -errno;
	list = fdopen(fd, "w");
	for (i = 0; i < nr; i++)
		fprintf(list, "%llu %llu\n",
			(unsigned long long)extents[i].bar_offset,
			(unsigned long long)extents[i].length);
	fclose(list);
	snprintf(command, sizeof(command), "hostsum %d -l %s", index, path);
	ret = sum_from(command, hex);
	unlink(path);
	return ret;
}

static int pattern_pipe(const char *command, uint32_t seed, uint64_t length)
{
	FILE *pipe = popen(command, "w");
	void *chunk = malloc(CHUNK);
	uint64_t done, part;

	for (done = 0; pipe && chunk && done < length; done += part) {
		part = length - done < CHUNK ? length - done : CHUNK;
		fill_host(chunk, part, seed, done);
		if (fwrite(chunk, part, 1, pipe) != 1)
			break;
	}
	free(chunk);
	return !pipe || pclose(pipe) || done < length ? -EIO : 0;
}

int pattern_sum(uint32_t seed, uint64_t length, char hex[65])
{
	char path[64], command[256];

	snprintf(path, sizeof(path), "/tmp/pattern-%u-%llu", seed,
		 (unsigned long long)length);
	if (access(path, F_OK)) {
		snprintf(command, sizeof(command),
			 "sha256sum >%s.new && mv %s.new %s", path, path, path);
		if (pattern_pipe(command, seed, length))
			return -EIO;
	}
	snprintf(command, sizeof(command), "cat %s", path);
	return sum_from(command, hex);
}

int disk_fill(const char *path, uint64_t offset, uint64_t length, uint32_t seed)
{
	uint64_t done, part;
	void *chunk;
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (posix_memalign(&chunk, 4096, CHUNK)) {
		close(fd);
		return -ENOMEM;
	}
	for (done = 0; done < length && !ret; done += part) {
		part = length - done < CHUNK ? length - done : CHUNK;
		fill_host(chunk, part, seed, done);
		if (pwrite(fd, chunk, part, offset + done) != (ssize_t)part)
			ret = -EIO;
	}
	free(chunk);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

void *disk_read(const char *path, uint64_t offset, uint64_t length)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	uint64_t done = 0;
	void *data;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (posix_memalign(&data, 4096, length)) {
		close(fd);
		return NULL;
	}
	while (done < length) {
		got = pread(fd, (char *)data + done, length - done,
			    offset + done);
		if (got <= 0)
			break;
		done += got;
	}
	close(fd);
	if (done == length)
		return data;
	free(data);
	return NULL;
}

int disk_check(const char *path, uint64_t offset, uint64_t length,
	       uint32_t seed)
{
	uint64_t done, part, *want;
	int ret = 0;
	void *have;

	want = malloc(CHUNK);
	if (!want)
		return -ENOMEM;
	for (done = 0; done < length && !ret; done += part) {
		part = length - done < CHUNK ? length - done : CHUNK;
		have = disk_read(path, offset + done, part);
		fill_host(want, part, seed, done);
		if (!have)
			ret = -EIO;
		else if (memcmp(have, want, part))
			ret = -EBADMSG;
		free(have);
	}
	free(want);
	return ret;
}

int disk_merges(const char *disk, uint64_t *reads, uint64_t *writes)
{
	unsigned long long r, w;
	char path[128];
	FILE *stat;
	int got;

	snprintf(path, sizeof(path), "/sys/class/block/%s/stat",
		 strrchr(disk, '/') ? strrchr(disk, '/') + 1 : disk);
	stat = fopen(path, "r");
	if (!stat)
		return -errno;
	got = fscanf(stat, "%*u %llu %*u %*u %*u %llu", &r, &w);
	fclose(stat);
	if (got != 2)
		return -EIO;
	*reads = r;
	*writes = w;
	return 0;
}

int fs_make(const char *type, const char *mount_point)
{
	const char *force = strcmp(type, "ext4") ? "-f" : "-F";

	if (run_command("mkdir -p %s && wipefs -qa %s && mkfs.%s -q %s %s && mount -t %s %s %s",
			mount_point, test_disk(), type, force, test_disk(),
			type, test_disk(), mount_point))
		return -EIO;
	return 0;
}

int fs_unmake(const char *mount_point)
{
	return run_command("umount %s", mount_point) ? -EBUSY : 0;
}
