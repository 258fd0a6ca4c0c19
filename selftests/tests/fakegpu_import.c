// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake GPU towards importers: what each behaviour demands, gives, takes
 * away, and what happens when the device goes while an importer still maps. The
 * importer is a test module that lets go when it is told to, late, or never.
 */
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

static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static int call_value(int fd, unsigned long cmd, unsigned long value)
{
	return ioctl(fd, cmd, value) ? -errno : 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int load_importer(void)
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
static int find_client(uint32_t *domain, uint32_t *bdf)
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
static int kernel_reaches(void)
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

static int make(imp_t *t, uint32_t behaviour, uint32_t flags)
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

static int attach(imp_t *t, uint32_t flags, uint32_t hold_ms)
{
	struct importer_attach a = {
		.fd = t->dmabuf, .flags = flags, .domain = t->domain,
		.bdf = t->bdf, .hold_ms = hold_ms,
	};

	return call(t->importer, IMPORTER_IOC_ATTACH, &a);
}

static int map(imp_t *t, struct importer_map *m)
{
	*m = (struct importer_map){ .write = 1 };
	return call(t->importer, IMPORTER_IOC_MAP, m);
}

static struct fakegpu_stat gpu_stat(imp_t *t)
{
	struct fakegpu_stat s = { .handle = t->handle };

	if (call(t->gpu, FAKEGPU_IOC_STAT, &s))
		memset(&s, 0xff, sizeof(s));
	return s;
}

static struct importer_stat importer_stat(imp_t *t)
{
	struct importer_stat s;

	if (call(t->importer, IMPORTER_IOC_STAT, &s))
		memset(&s, 0xff, sizeof(s));
	return s;
}

static int take_away(imp_t *t, uint32_t timeout_ms, struct fakegpu_revoke *r)
{
	*r = (struct fakegpu_revoke){
		.handle = t->handle, .timeout_ms = timeout_ms,
	};
	return call(t->gpu, FAKEGPU_IOC_REVOKE, r);
}

static uint64_t gpu_sum(imp_t *t)
{
	struct fakegpu_sum s = { .handle = t->handle, .length = SIZE };

	return call(t->gpu, FAKEGPU_IOC_SUM, &s) ? 0 : s.sum;
}

TEST_F(imp, static_demands)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, 0, 0));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, IMPORTER_DYNAMIC |
					   IMPORTER_INVALIDATE, 0));
	if (!strcmp(env("PDIO_BED"), "blocked")) {
		EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, GOOD, 0));
		return;
	}
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(0, m.pages);
	EXPECT_EQ(1, gpu_stat(self).attached);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).pinned);
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).attached);
}

TEST_F(imp, static_split)
{
	struct importer_map m;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, FAKEGPU_SPLIT_SG));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(0, m.pages);
	EXPECT_EQ(7 * 4096, m.longest);
	EXPECT_EQ(SIZE / 4096 / 4, m.nents);
}

/* A reset doesn't wait for those that can't be told; they still can't map. */
TEST_F(imp, static_reset)
{
	struct importer_map m;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(0, importer_stat(self).invalidations);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(-ENODEV, attach(self, GOOD, 0));
}

TEST_F(imp, revocable_demands)
{
	ASSERT_EQ(0, make(self, FAKEGPU_REVOCABLE, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, IMPORTER_DYNAMIC |
				      IMPORTER_PEER2PEER, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, IMPORTER_DYNAMIC |
				      IMPORTER_INVALIDATE, 0));
	EXPECT_EQ(0, attach(self, GOOD, 0));
}

static int revocable_mapped(imp_t *t, uint32_t flags, uint32_t hold_ms)
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

TEST_F(imp, revoke_waits)
{
	struct fakegpu_revoke r;
	struct importer_map m;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_SCATTERED, 400));
	start = now_ms();
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_LE(390, now_ms() - start);
	EXPECT_EQ(1, r.attachments);
	EXPECT_LE(390000000ULL, r.drain_ns);
	EXPECT_GE((now_ms() - start + 1) * 1000000ULL, r.drain_ns);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, importer_stat(self).mapped);
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(-ENODEV, map(self, &m));
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(-ENODEV, attach(self, GOOD, 0));
	EXPECT_NE(0, gpu_sum(self));
}

TEST_F(imp, revoke_timeout)
{
	struct fakegpu_revoke r;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, IMPORTER_FOREVER));
	start = now_ms();
	EXPECT_EQ(-ETIMEDOUT, take_away(self, 200, &r));
	EXPECT_LE(190, now_ms() - start);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_UNMAP, 0));
	EXPECT_EQ(0, take_away(self, 200, &r));
	EXPECT_EQ(0, r.attachments);
}

TEST_F(imp, revoke_no_wait)
{
	struct fakegpu_revoke r;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_NO_WAIT, IMPORTER_FOREVER));
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_EQ(1, r.attachments);
	EXPECT_EQ(0, r.drain_ns);
	EXPECT_EQ(1, gpu_stat(self).mapped);
	EXPECT_EQ(1, importer_stat(self).invalidations);
}

TEST_F(imp, revoke_waits_for_fences)
{
	struct fakegpu_revoke r;
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 0));
	start = now_ms();
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_FENCE, 500));
	ASSERT_EQ(0, take_away(self, 0, &r));
	EXPECT_LE(490, now_ms() - start);
}

TEST_F(imp, revocable_reset)
{
	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 300));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, gpu_stat(self).mapped);
	EXPECT_EQ(0, gpu_sum(self));
}

TEST_F(imp, reset_timeout)
{
	NEEDS_REVOCABLE();
	ASSERT_EQ(0, write_file(TIMEOUT_MS, "200"));
	ASSERT_EQ(0, revocable_mapped(self, 0, IMPORTER_FOREVER));
	EXPECT_EQ(-ETIMEDOUT, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(1, gpu_stat(self).mapped);
}

TEST_F(imp, movable_pinned_stays)
{
	struct importer_map m;
	uint32_t told;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(1, gpu_stat(self).pinned);
	EXPECT_EQ(!kernel_reaches(), gpu_stat(self).in_ram);
	EXPECT_EQ(kernel_reaches(), importer_stat(self).peer2peer);
	told = importer_stat(self).invalidations;
	EXPECT_EQ(-EBUSY, call_value(self->gpu, FAKEGPU_IOC_MOVE,
				     self->handle));
	EXPECT_EQ(told, importer_stat(self).invalidations);
}

TEST_F(imp, movable_moves)
{
	struct importer_map one, two;
	uint64_t sum, start;

	if (!kernel_reaches())
		SKIP(return, "memory is in RAM on this bed");
	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	sum = gpu_sum(self);
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &one));
	EXPECT_EQ(0, gpu_stat(self).in_ram);
	start = now_ms();
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_FENCE, 400));
	ASSERT_EQ(0, call_value(self->gpu, FAKEGPU_IOC_MOVE, self->handle));
	EXPECT_LE(390, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(1, gpu_stat(self).moves);
	EXPECT_EQ(sum, gpu_sum(self));

	while (importer_stat(self).mapped == 1)
		usleep(1000);
	ASSERT_EQ(0, map(self, &two));
	EXPECT_EQ(SIZE, two.bytes);
	if (strcmp(env("PDIO_BED"), "iommu") &&
	    strcmp(env("PDIO_BED"), "misroute")) {
		EXPECT_NE(one.first, two.first);
	}
}

TEST_F(imp, movable_ram_for_static_importer)
{
	struct importer_map m;
	uint64_t sum;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_SCATTERED));
	sum = gpu_sum(self);
	ASSERT_EQ(0, attach(self, 0, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	EXPECT_EQ(1, gpu_stat(self).in_ram);
	EXPECT_EQ(1, gpu_stat(self).moves);
	EXPECT_EQ(sum, gpu_sum(self));
	ASSERT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
	EXPECT_EQ(0, gpu_stat(self).pinned);

	/* Back when somebody maps who can reach it. */
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(!kernel_reaches(), gpu_stat(self).in_ram);
	EXPECT_EQ(sum, gpu_sum(self));
}

TEST_F(imp, movable_refuses_pin)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_REFUSE_PIN));
	EXPECT_EQ(-EBUSY, attach(self, GOOD | IMPORTER_PIN, 0));
	if (!strcmp(env("PDIO_BED"), "nopages"))
		SKIP(return, "this kernel pins all importers");
	ASSERT_EQ(0, attach(self, GOOD, 0));
	EXPECT_EQ(0, map(self, &m));
}

static uint64_t bar_start(imp_t *t)
{
	unsigned long long start = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource",
		 t->address);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*x %*x %*x %*x %*x %*x %llx", &start) != 1)
		start = 0;
	fclose(f);
	return start;
}

TEST_F(imp, liar)
{
	struct fakegpu_extent x;
	struct fakegpu_extents e = { .array = (uintptr_t)&x, .count = 1 };
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_LIAR, 0));
	EXPECT_EQ(-EOPNOTSUPP, attach(self, 0, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	e.handle = self->handle;
	ASSERT_EQ(0, call(self->gpu, FAKEGPU_IOC_EXTENTS, &e));
	ASSERT_NE(0, bar_start(self));
	EXPECT_EQ(bar_start(self) + x.bar_offset, m.first);
	EXPECT_EQ(0, m.pages);
}

TEST_F(imp, ram)
{
	struct importer_map m;
	uint64_t word;

	ASSERT_EQ(0, make(self, FAKEGPU_RAM, 0));
	ASSERT_EQ(0, attach(self, 0, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	ASSERT_EQ(0, call(self->importer, IMPORTER_IOC_VMAP, &word));
	EXPECT_EQ(fakegpu_word(21, 0), word);
}

TEST_F(imp, no_vmap_of_device_memory)
{
	uint64_t word;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	EXPECT_NE(0, call(self->importer, IMPORTER_IOC_VMAP, &word));
}

static void expect_dead(struct __test_metadata *_metadata, imp_t *t)
{
	struct fakegpu_alloc a = { .size = 4096 };
	struct fakegpu_export e = { .handle = t->handle };
	struct fakegpu_info info;
	struct importer_map m;

	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_INFO, &info));
	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_ALLOC, &a));
	EXPECT_EQ(-ENODEV, call(t->gpu, FAKEGPU_IOC_EXPORT, &e));
	EXPECT_EQ(-ENODEV, call_value(t->gpu, FAKEGPU_IOC_RESET, 0));
	EXPECT_EQ(-ENODEV, call_value(t->gpu, FAKEGPU_IOC_FREE, t->handle));
	EXPECT_EQ(SIZE, lseek(t->dmabuf, 0, SEEK_END));
	EXPECT_EQ(-ENODEV, map(t, &m));
}

TEST_F(imp, unbind_waits)
{
	uint64_t start;

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, 0, 500));
	start = now_ms();
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_LE(490, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).invalidations);
	EXPECT_EQ(0, importer_stat(self).mapped);
	EXPECT_NE(0, access("/dev/fakegpu0", F_OK));
	expect_dead(_metadata, self);

	/* The new device has nothing to do with the old one's files. */
	ASSERT_EQ(0, write_file(DRIVER "bind", self->address));
	EXPECT_EQ(0, access("/dev/fakegpu0", F_OK));
	expect_dead(_metadata, self);
}

TEST_F(imp, unbind_movable)
{
	struct importer_map m;

	ASSERT_EQ(0, make(self, FAKEGPU_MOVABLE, FAKEGPU_SCATTERED));
	ASSERT_EQ(0, attach(self, GOOD | IMPORTER_PIN, 100));
	ASSERT_EQ(0, map(self, &m));
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_EQ(0, importer_stat(self).mapped);
	expect_dead(_metadata, self);
}

/* Nobody lets go: the device goes all the same, and the log names them. */
TEST_F(imp, unbind_timeout)
{
	struct importer_map m;
	uint64_t start;

	if (!strcmp(env("PDIO_BED"), "blocked"))
		SKIP(return, "static exporter refuses on bed blocked");
	ASSERT_EQ(0, write_file(TIMEOUT_MS, "300"));
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, FAKEGPU_SCATTERED));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	start = now_ms();
	ASSERT_EQ(0, write_file(DRIVER "unbind", self->address));
	EXPECT_LE(290, now_ms() - start);
	EXPECT_EQ(1, importer_stat(self).mapped);
	close(self->gpu);
	self->gpu = -1;
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_UNMAP, 0));
	EXPECT_EQ(0, call_value(self->importer, IMPORTER_IOC_DETACH, 0));
}

/* Hot-remove of the function, and back. */
TEST_F(imp, remove_and_rescan)
{
	char path[96];

	NEEDS_REVOCABLE();
	ASSERT_EQ(0, revocable_mapped(self, FAKEGPU_SCATTERED, 100));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove",
		 self->address);
	ASSERT_EQ(0, write_file(path, "1"));
	EXPECT_EQ(0, importer_stat(self).mapped);
	expect_dead(_metadata, self);
	ASSERT_EQ(0, write_file("/sys/bus/pci/rescan", "1"));
	EXPECT_EQ(0, access("/dev/fakegpu0", F_OK));
}

TEST_F(imp, cmb)
{
	struct fakegpu_alloc a = { .size = SIZE };
	struct fakegpu_extent x;
	struct fakegpu_extents e = { .array = (uintptr_t)&x, .count = 1 };
	struct importer_map m;

	if (access("/dev/fakegpu-cmb", F_OK))
		SKIP(return, "no NVMe drive with a CMB on this bed");
	close(self->gpu);
	self->gpu = open("/dev/fakegpu-cmb", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->gpu);
	ASSERT_EQ(0, make(self, FAKEGPU_STATIC, 0));
	e.handle = self->handle;
	ASSERT_EQ(0, call(self->gpu, FAKEGPU_IOC_EXTENTS, &e));
	EXPECT_EQ(1, e.count);
	EXPECT_EQ(SIZE, x.length);
	EXPECT_NE(0, gpu_sum(self));
	EXPECT_EQ(-KERNEL_ENOTSUPP, attach(self, 0, 0));
	ASSERT_EQ(0, attach(self, GOOD, 0));
	ASSERT_EQ(0, map(self, &m));
	EXPECT_EQ(SIZE, m.bytes);
	a.behaviour = FAKEGPU_MOVABLE;
	EXPECT_EQ(-EOPNOTSUPP, call(self->gpu, FAKEGPU_IOC_ALLOC, &a));
	EXPECT_EQ(-EOPNOTSUPP, call_value(self->gpu, FAKEGPU_IOC_RESET, 0));
}

TEST_HARNESS_MAIN
