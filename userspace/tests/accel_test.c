// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accelerator back ends over the fake kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "fake_kernel.h"
#include "libpdio.h"
#include "unit.h"

#define BDF "vfio:0000:01:00.0"
#define BAR_BYTES 0x100000

static void test_spec(void)
{
	static const char *const bad[] = {
		"", "fake", "fake:", "fake:x", "fake:0x", "fake:../0",
		"fake:12345", "cuda:0", "vfio:", "vfio:01:00.0",
		"vfio:0000:01:00.0x", "vfio:0000:01:20.0", "vfio:0000:01:00.8",
		"vfio:0000:01:00.0/../..", "vfio:../../../../",
	};
	struct libpdio_accel *accel = NULL;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(libpdio_accel_open(bad[i], 0, &accel), -EINVAL);
	CHECK_EQ(libpdio_accel_open(NULL, 0, &accel), -EINVAL);
	CHECK_EQ(libpdio_accel_open("fake:0", 1, &accel), -EOPNOTSUPP);
	CHECK_EQ(libpdio_accel_open("fake:7", 0, &accel), -ENOENT);
	CHECK_EQ(libpdio_accel_open("fake:cmb", 0, &accel), -ENOENT);
	CHECK_EQ(libpdio_accel_open("vfio:0000:02:00.0", 0, &accel), -ENOENT);
	CHECK(!accel);
}

static void test_fake(void)
{
	struct libpdio_accel_info info = { .size = sizeof(info) };
	char out[100], in[100] = "peer";
	struct libpdio_accel *accel;
	struct libpdio_mem *mem;
	int fd;

	CHECK_EQ(libpdio_accel_open("fake:0", 0, &accel), 0);
	CHECK_EQ(libpdio_accel_info_get(accel, &info), 0);
	CHECK_EQ(info.bytes_total, 64 << 20);
	CHECK_EQ(info.bdf, 0x0300);
	CHECK_EQ(libpdio_accel_alloc(accel, 0, 0, &mem), -EINVAL);
	CHECK_EQ(libpdio_accel_alloc(accel, 4095, 0, &mem), -EINVAL);
	CHECK_EQ(libpdio_accel_alloc(accel, 1ULL << 40, 0, &mem), -ENOSPC);
	CHECK_EQ(libpdio_accel_alloc(accel, 8192, 0, &mem), 0);
	libpdio_accel_close(accel);

	CHECK_EQ(libpdio_accel_copy_in(mem, 4000, in, sizeof(in)), 0);
	CHECK_EQ(libpdio_accel_copy_out(mem, 4000, out, sizeof(out)), 0);
	CHECK(!memcmp(in, out, sizeof(in)));
	CHECK_EQ(libpdio_accel_copy_in(mem, 8192, in, 0), 0);
	CHECK_EQ(libpdio_accel_copy_in(mem, 8192, in, 1), -ERANGE);
	CHECK_EQ(libpdio_accel_copy_out(mem, 1, out, SIZE_MAX), -ERANGE);

	CHECK_EQ(libpdio_accel_export(mem, 1), -EOPNOTSUPP);
	fd = libpdio_accel_export(mem, 0);
	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(pread(fd, out, 4, 4000), 4);
	CHECK(!memcmp(out, "peer", 4));
	close(fd);
	libpdio_accel_free(mem);
	libpdio_accel_free(NULL);
	CHECK_EQ(fake.allocations, 0);
}

static void test_fake_extents(void)
{
	struct libpdio_extent extents[4];
	struct libpdio_accel *accel;
	struct libpdio_mem *mem;
	uint32_t count = 0;

	fake.scattered = 3;
	CHECK_EQ(libpdio_accel_open("fake:0", 0, &accel), 0);
	CHECK_EQ(libpdio_accel_alloc(accel, 3 * 4096, 0, &mem), 0);
	CHECK_EQ(libpdio_accel_extents(mem, NULL, &count), 0);
	CHECK_EQ(count, 3);
	CHECK_EQ(libpdio_accel_extents(mem, NULL, &count), -EINVAL);
	CHECK_EQ(libpdio_accel_extents(mem, extents, NULL), -EINVAL);
	CHECK_EQ(libpdio_accel_extents(mem, extents, &count), 0);
	CHECK_EQ(extents[0].bar_offset, 3 << 20);
	CHECK_EQ(extents[2].bar_offset, 1 << 20);
	CHECK_EQ(extents[2].length, 4096);
	libpdio_accel_free(mem);
	libpdio_accel_close(accel);
}

static void vfio_memory(struct libpdio_accel *accel)
{
	struct libpdio_extent extent;
	char in[10] = "through", out[10];
	struct libpdio_mem *a, *b, *c;
	uint32_t count = 1;
	int fd;

	CHECK_EQ(libpdio_accel_alloc(accel, 8192, 0, &a), 0);
	CHECK_EQ(libpdio_accel_alloc(accel, 4096, 0, &b), 0);
	CHECK_EQ(libpdio_accel_extents(b, &extent, &count), 0);
	CHECK_EQ(extent.bar_offset, 8192);
	CHECK_EQ(libpdio_accel_copy_in(b, 5, in, sizeof(in)), 0);
	CHECK_EQ(libpdio_accel_copy_out(b, 5, out, sizeof(out)), 0);
	CHECK(!memcmp(in, out, sizeof(in)));
	fd = libpdio_accel_export(b, 0);
	CHECK(fd >= 0);
	CHECK_EQ(fake.dmabuf_region, 2);
	CHECK_EQ(fake.dmabuf_offset, 8192);
	CHECK_EQ(fake.dmabuf_length, 4096);
	/* The node is a file whose BAR 2 begins at 1 MiB. */
	CHECK_EQ(pread(fd, out, sizeof(out), BAR_BYTES + 8192 + 5), 10);
	CHECK(!memcmp(in, out, sizeof(in)));
	CHECK_EQ(pread(fd, out, 2, 4), 2);
	CHECK_EQ(out[0], 2);
	close(fd);

	/* The hole that a leaves is given out again, if what is asked fits. */
	libpdio_accel_free(a);
	CHECK_EQ(libpdio_accel_alloc(accel, 12288, 0, &a), 0);
	CHECK_EQ(libpdio_accel_extents(a, &extent, &count), 0);
	CHECK_EQ(extent.bar_offset, 12288);
	CHECK_EQ(libpdio_accel_alloc(accel, 4096, 0, &c), 0);
	CHECK_EQ(libpdio_accel_extents(c, &extent, &count), 0);
	CHECK_EQ(extent.bar_offset, 0);
	libpdio_accel_free(b);
	libpdio_accel_free(c);
	CHECK_EQ(libpdio_accel_alloc(accel, BAR_BYTES, 0, &b), -ENOSPC);
	libpdio_accel_free(a);
	CHECK_EQ(libpdio_accel_alloc(accel, BAR_BYTES, 0, &b), 0);
	libpdio_accel_free(b);
}

static void test_vfio_iommufd(void)
{
	struct libpdio_accel_info info = { .size = sizeof(info) };
	struct libpdio_accel *accel;
	struct libpdio_mem *mem;

	CHECK_EQ(libpdio_accel_open(BDF, 0, &accel), 0);
	CHECK_EQ(fake.bound_iommufd, 1);
	vfio_memory(accel);
	CHECK_EQ(libpdio_accel_info_get(accel, &info), 0);
	CHECK_EQ(info.bytes_total, BAR_BYTES);
	CHECK_EQ(info.bytes_free, BAR_BYTES);
	CHECK_EQ(info.bdf, 0x0100);
	fake.vfio_no_dmabuf = 1;
	CHECK_EQ(libpdio_accel_alloc(accel, 4096, 0, &mem), 0);
	CHECK_EQ(libpdio_accel_export(mem, 0), -EOPNOTSUPP);
	libpdio_accel_free(mem);
	libpdio_accel_close(accel);
}

/* move - rename within FAKE_ROOT, to take a node away and to bring it back */
static void move(const char *from, const char *to)
{
	char a[PATH_MAX], b[PATH_MAX];

	CHECK_EQ(rename(fake_path(from, a), fake_path(to, b)), 0);
}

static void test_vfio_group(void)
{
	struct libpdio_accel *accel = NULL;

	move("/dev/iommu", "/dev/iommu.away");
	CHECK_EQ(libpdio_accel_open(BDF, 0, &accel), 0);
	CHECK_EQ(fake.bound_iommufd, 0);
	CHECK_EQ(fake.noiommu, 0);
	vfio_memory(accel);
	libpdio_accel_close(accel);
	accel = NULL;
	fake.vfio_not_viable = 1;
	CHECK_EQ(libpdio_accel_open(BDF, 0, &accel), -EPERM);
	move("/dev/vfio/7", "/dev/vfio/7.away");
	CHECK_EQ(libpdio_accel_open(BDF, 0, &accel), -ENOENT);
	CHECK(!accel);
	move("/dev/vfio/7.away", "/dev/vfio/7");
	move("/dev/iommu.away", "/dev/iommu");
}

static void test_vfio_noiommu(void)
{
	struct libpdio_accel *accel;

	move("/dev/iommu", "/dev/iommu.away");
	move("/sys/bus/pci/groups/7/noname", "/sys/bus/pci/groups/7/name");
	CHECK_EQ(libpdio_accel_open(BDF, 0, &accel), 0);
	CHECK_EQ(fake.noiommu, 1);
	libpdio_accel_close(accel);
	move("/sys/bus/pci/groups/7/name", "/sys/bus/pci/groups/7/noname");
	move("/dev/iommu.away", "/dev/iommu");
}

int main(void)
{
	static const struct unit_test tests[] = {
		{ "accel_spec", test_spec },
		{ "accel_fake", test_fake },
		{ "accel_fake_extents", test_fake_extents },
		{ "accel_vfio_by_iommufd", test_vfio_iommufd },
		{ "accel_vfio_by_group", test_vfio_group },
		{ "accel_vfio_without_iommu", test_vfio_noiommu },
	};

	return unit_main(tests, sizeof(tests) / sizeof(tests[0]));
}
