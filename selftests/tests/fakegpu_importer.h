/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the fake GPU towards importers share: an allocation, the
 * importer's test module, and what both say of it.
 */
#ifndef _PDIO_FAKEGPU_IMPORTER_H
#define _PDIO_FAKEGPU_IMPORTER_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../modules/fakegpu.h"
#include "../modules/importer.h"
#include "kselftest_harness.h"

#define MIB		(1ULL << 20)
#define SIZE		(1 * MIB)
#define KERNEL_ENOTSUPP	524
#define DRIVER		"/sys/bus/pci/drivers/fakegpu/"
#define TIMEOUT_MS	"/sys/module/fakegpu/parameters/revoke_timeout_ms"

/* A good dynamic importer, as pdio is one. */
#define GOOD	(IMPORTER_DYNAMIC | IMPORTER_PEER2PEER | IMPORTER_INVALIDATE)

static inline int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static inline int call_value(int fd, unsigned long cmd, unsigned long value)
{
	return ioctl(fd, cmd, value) ? -errno : 0;
}

static inline uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static inline int load_importer(void)
{
	int fd, ret;

	if (!access("/dev/importer", F_OK))
		return 0;
	fd = open("/pdio-modules/importer.ko", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* domain and bdf of the function behind the first NVMe controller */
static inline int find_client(uint32_t *domain, uint32_t *bdf)
{
	unsigned int dom, bus, dev, fn;
	char path[256];
	const char *name;
	ssize_t n;

	n = readlink("/sys/class/nvme/nvme0/device", path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	name = strrchr(path, '/') + 1;
	if (sscanf(name, "%x:%x:%x.%x", &dom, &bus, &dev, &fn) != 4)
		return -EINVAL;
	*domain = dom;
	*bdf = bus << 8 | dev << 3 | fn;
	return 0;
}

static const char *env(const char *name)
{
	return getenv(name) ?: "";
}

/* Without struct pages for peers the kernel says no to every pair. */
static inline int kernel_reaches(void)
{
	return strcmp(env("PDIO_BED"), "blocked") &&
	       strcmp(env("PDIO_BED"), "nopages");
}

FIXTURE(imp) {
	int gpu, importer, dmabuf;
	uint32_t handle, domain, bdf;
	char address[16];
};

FIXTURE_SETUP(imp)
{
	struct fakegpu_info info;

	self->dmabuf = -1;
	self->gpu = open("/dev/fakegpu0", O_RDWR | O_CLOEXEC);
	if (self->gpu < 0)
		SKIP(return, "no fake GPU: %s", strerror(errno));
	ASSERT_EQ(0, load_importer());
	self->importer = open("/dev/importer", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->importer);
	ASSERT_EQ(0, find_client(&self->domain, &self->bdf));
	ASSERT_EQ(0, call(self->gpu, FAKEGPU_IOC_INFO, &info));
	snprintf(self->address, sizeof(self->address), "%04x:%02x:%02x.%x",
		 info.domain, info.bdf >> 8 & 0xff, info.bdf >> 3 & 0x1f,
		 info.bdf & 7);
}

FIXTURE_TEARDOWN(imp)
{
	close(self->importer);
	if (self->dmabuf >= 0)
		close(self->dmabuf);
	close(self->gpu);
	EXPECT_EQ(0, write_file(TIMEOUT_MS, "60000"));
	if (access("/dev/fakegpu0", F_OK)) {
		EXPECT_EQ(0, write_file(DRIVER "bind", self->address));
	}
}

typedef FIXTURE_DATA(imp) imp_t;

static inline int make(imp_t *t, uint32_t behaviour, uint32_t flags)
{
	struct fakegpu_alloc a = {
		.size = SIZE, .behaviour = behaviour, .flags = flags, .seed = 1,
	};
	struct fakegpu_export e = { .open_flags = O_RDWR | O_CLOEXEC };
	struct fakegpu_fill f = { .length = SIZE, .seed = 21 };
	int ret;

	ret = call(t->gpu, FAKEGPU_IOC_ALLOC, &a);
	if (ret)
		return ret;
	t->handle = a.handle;
	f.handle = a.handle;
	e.handle = a.handle;
	ret = call(t->gpu, FAKEGPU_IOC_FILL, &f);
	if (!ret)
		ret = call(t->gpu, FAKEGPU_IOC_EXPORT, &e);
	if (!ret)
		t->dmabuf = e.fd;
	return ret;
}

static inline int attach(imp_t *t, uint32_t flags, uint32_t hold_ms)
{
	struct importer_attach a = {
		.fd = t->dmabuf, .flags = flags, .domain = t->domain,
		.bdf = t->bdf, .hold_ms = hold_ms,
	};

	return call(t->importer, IMPORTER_IOC_ATTACH, &a);
}

static inline int map(imp_t *t, struct importer_map *m)
{
	*m = (struct importer_map){ .write = 1 };
	return call(t->importer, IMPORTER_IOC_MAP, m);
}

static inline struct fakegpu_stat gpu_stat(imp_t *t)
{
	struct fakegpu_stat s = { .handle = t->handle };

	if (call(t->gpu, FAKEGPU_IOC_STAT, &s))
		memset(&s, 0xff, sizeof(s));
	return s;
}

static inline struct importer_stat importer_stat(imp_t *t)
{
	struct importer_stat s;

	if (call(t->importer, IMPORTER_IOC_STAT, &s))
		memset(&s, 0xff, sizeof(s));
	return s;
}

static inline int take_away(imp_t *t, uint32_t timeout_ms, struct fakegpu_revoke *r)
{
	*r = (struct fakegpu_revoke){
		.handle = t->handle, .timeout_ms = timeout_ms,
	};
	return call(t->gpu, FAKEGPU_IOC_REVOKE, r);
}

static inline uint64_t gpu_sum(imp_t *t)
{
	struct fakegpu_sum s = { .handle = t->handle, .length = SIZE };

	return call(t->gpu, FAKEGPU_IOC_SUM, &s) ? 0 : s.sum;
}

static inline int revocable_mapped(imp_t *t, uint32_t flags, uint32_t hold_ms)
{
	struct importer_map m;
	int ret;

	ret = make(t, FAKEGPU_REVOCABLE, flags);
	if (!ret)
		ret = attach(t, GOOD | IMPORTER_PIN, hold_ms);
	if (!ret)
		ret = map(t, &m);
	if (!ret && (m.bytes != SIZE || m.pages))
		ret = -EIO;
	return ret;
}

/* vfio-pci's mapping helper refuses where the kernel sees no way. */
#define NEEDS_REVOCABLE()						\
	do {								\
		if (!strcmp(env("PDIO_BED"), "blocked"))		\
			SKIP(return, "no mapping on bed blocked");	\
	} while (0)

#endif /* _PDIO_FAKEGPU_IMPORTER_H */
