/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ld --wrap makes of a function: callers get __wrap_, __real_ is libc's.
 */
#ifndef FAKE_WRAP_H
#define FAKE_WRAP_H

#include <dirent.h>
#include <sys/types.h>

int __real_open64(const char *path, int flags, ...);
ssize_t __real_readlink(const char *path, char *to, size_t size);
DIR *__real_opendir(const char *path);
int __real_ioctl(int fd, unsigned long cmd, ...);

int __wrap_open64(const char *path, int flags, ...);
ssize_t __wrap_readlink(const char *path, char *to, size_t size);
DIR *__wrap_opendir(const char *path);
int __wrap_ioctl(int fd, unsigned long cmd, ...);

#endif /* FAKE_WRAP_H */
