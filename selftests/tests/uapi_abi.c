// SPDX-License-Identifier: GPL-2.0-only
/*
 * The binary interface of /dev/pdio, held against literal numbers: what a
 * program was compiled with stays right. A failure here means that published
 * programs break; the numbers are not to be changed.
 */
#include <string.h>

#include "uapi_world.h"
#include "kselftest_harness.h"

struct member {
	const char *name;
	size_t offset;
	size_t size;
	size_t want_offset;
	size_t want_size;
};

#define MEMBER(_struct, _name, _offset, _size)				\
	{								\
		.name = #_name,						\
		.offset = offsetof(struct _struct, _name),		\
		.size = sizeof(((struct _struct *)0)->_name),		\
		.want_offset = _offset,					\
		.want_size = _size,					\
	}

/* Members are where they were and leave no hole that nobody zeroes. */
static const char *wrong_member(const struct member *m, size_t nr, size_t size)
{
	size_t end = 0;

	for (; nr; nr--, m++) {
		if (m->offset != m->want_offset || m->size != m->want_size ||
		    m->offset != end)
			return m->name;
		end = m->offset + m->size;
	}
	return end == size ? NULL : "the end";
}

#define EXPECT_LAYOUT(_members, _struct, _size) do {			\
	const char *wrong = wrong_member(_members,			\
		sizeof(_members) / sizeof(*(_members)),			\
		sizeof(struct _struct));				\
	EXPECT_TRUE(!wrong)						\
		TH_LOG("wrong: " #_struct ".%s", wrong);		\
	EXPECT_EQ(_size, sizeof(struct _struct));			\
} while (0)

TEST(layout_info)
{
	static const struct member members[] = {
		MEMBER(pdio_info, size, 0, 4),
		MEMBER(pdio_info, flags, 4, 4),
		MEMBER(pdio_info, out_features, 8, 8),
		MEMBER(pdio_info, out_max_segments, 16, 4),
		MEMBER(pdio_info, out_reason, 20, 4),
		MEMBER(pdio_info, out_max_objects, 24, 4),
		MEMBER(pdio_info, __reserved, 28, 4),
		MEMBER(pdio_info, out_ops, 32, 8),
		MEMBER(pdio_info, out_bytes_direct, 40, 8),
		MEMBER(pdio_info, out_bytes_staged, 48, 8),
		MEMBER(pdio_info, out_bytes_cpu, 56, 8),
	};

	EXPECT_LAYOUT(members, pdio_info, 64);
}

TEST(layout_buffer_register)
{
	static const struct member members[] = {
		MEMBER(pdio_buffer_register, size, 0, 4),
		MEMBER(pdio_buffer_register, flags, 4, 4),
		MEMBER(pdio_buffer_register, dmabuf_fd, 8, 4),
		MEMBER(pdio_buffer_register, file_id, 12, 4),
		MEMBER(pdio_buffer_register, offset, 16, 8),
		MEMBER(pdio_buffer_register, length, 24, 8),
		MEMBER(pdio_buffer_register, out_id, 32, 4),
		MEMBER(pdio_buffer_register, out_reason, 36, 4),
		MEMBER(pdio_buffer_register, out_length, 40, 8),
	};

	EXPECT_LAYOUT(members, pdio_buffer_register, 48);
}

TEST(layout_file_register)
{
	static const struct member members[] = {
		MEMBER(pdio_file_register, size, 0, 4),
		MEMBER(pdio_file_register, flags, 4, 4),
		MEMBER(pdio_file_register, fd, 8, 4),
		MEMBER(pdio_file_register, __reserved, 12, 4),
		MEMBER(pdio_file_register, out_id, 16, 4),
		MEMBER(pdio_file_register, out_reason, 20, 4),
		MEMBER(pdio_file_register, out_offset_align, 24, 4),
		MEMBER(pdio_file_register, out_mem_align, 28, 4),
	};

	EXPECT_LAYOUT(members, pdio_file_register, 32);
}

TEST(layout_route)
{
	static const struct member members[] = {
		MEMBER(pdio_route, size, 0, 4),
		MEMBER(pdio_route, flags, 4, 4),
		MEMBER(pdio_route, buffer_id, 8, 4),
		MEMBER(pdio_route, file_id, 12, 4),
		MEMBER(pdio_route, op, 16, 4),
		MEMBER(pdio_route, out_route, 20, 4),
		MEMBER(pdio_route, out_reason, 24, 4),
		MEMBER(pdio_route, out_map_type, 28, 4),
		MEMBER(pdio_route, out_provider_domain, 32, 4),
		MEMBER(pdio_route, out_provider_bdf, 36, 4),
		MEMBER(pdio_route, out_client_domain, 40, 4),
		MEMBER(pdio_route, out_client_bdf, 44, 4),
	};

	EXPECT_LAYOUT(members, pdio_route, 48);
}

TEST(layout_segment)
{
	static const struct member members[] = {
		MEMBER(pdio_segment, buffer_id, 0, 4),
		MEMBER(pdio_segment, __reserved, 4, 4),
		MEMBER(pdio_segment, offset, 8, 8),
		MEMBER(pdio_segment, length, 16, 8),
	};

	EXPECT_LAYOUT(members, pdio_segment, 24);
}

TEST(layout_rw)
{
	static const struct member members[] = {
		MEMBER(pdio_rw, size, 0, 4),
		MEMBER(pdio_rw, flags, 4, 4),
		MEMBER(pdio_rw, file_id, 8, 4),
		MEMBER(pdio_rw, op, 12, 4),
		MEMBER(pdio_rw, file_offset, 16, 8),
		MEMBER(pdio_rw, segments, 24, 8),
		MEMBER(pdio_rw, nr_segments, 32, 4),
		MEMBER(pdio_rw, out_reason, 36, 4),
		MEMBER(pdio_rw, out_bytes, 40, 8),
		MEMBER(pdio_rw, out_bytes_direct, 48, 8),
		MEMBER(pdio_rw, out_bytes_staged, 56, 8),
		MEMBER(pdio_rw, out_bytes_cpu, 64, 8),
	};

	EXPECT_LAYOUT(members, pdio_rw, 72);
}

TEST(layout_destroy)
{
	static const struct member members[] = {
		MEMBER(pdio_destroy, size, 0, 4),
		MEMBER(pdio_destroy, id, 4, 4),
	};

	EXPECT_LAYOUT(members, pdio_destroy, 8);
}

TEST(numbers_of_commands)
{
	EXPECT_EQ(0xbd80, PDIO_INFO);
	EXPECT_EQ(0xbd81, PDIO_BUFFER_REGISTER);
	EXPECT_EQ(0xbd82, PDIO_FILE_REGISTER);
	EXPECT_EQ(0xbd83, PDIO_ROUTE);
	EXPECT_EQ(0xbd84, PDIO_RW);
	EXPECT_EQ(0xbd85, PDIO_DESTROY);
}

TEST(numbers_of_values)
{
	EXPECT_EQ(0, PDIO_ROUTE_NONE);
	EXPECT_EQ(1, PDIO_ROUTE_DIRECT);
	EXPECT_EQ(2, PDIO_ROUTE_COMMAND);
	EXPECT_EQ(3, PDIO_ROUTE_STAGED);
	EXPECT_EQ(0, PDIO_MAP_UNKNOWN);
	EXPECT_EQ(1, PDIO_MAP_BUS_ADDR);
	EXPECT_EQ(2, PDIO_MAP_HOST_BRIDGE);
	EXPECT_EQ(3, PDIO_MAP_BLOCKED);
	EXPECT_EQ(0, PDIO_OP_READ);
	EXPECT_EQ(1, PDIO_OP_WRITE);
	EXPECT_EQ(1, PDIO_RW_FLAG_REQUIRE_DIRECT);
	EXPECT_EQ(2, PDIO_RW_FLAG_DSYNC);
	EXPECT_EQ(1, PDIO_FEATURE_DIRECT);
	EXPECT_EQ(2, PDIO_FEATURE_STAGED);
	EXPECT_EQ(0xffffffff, PDIO_BDF_NONE);
}

TEST(numbers_of_reasons)
{
	/* In the order of their numbers, from 0 on. */
	static const uint32_t reasons[] = {
		PDIO_REASON_NONE, PDIO_REASON_UNSUPPORTED,
		PDIO_REASON_NO_P2PDMA, PDIO_REASON_NO_PAGES,
		PDIO_REASON_NO_DRIVER, PDIO_REASON_MEMTYPE,
		PDIO_REASON_MERGE_HAZARD, PDIO_REASON_FS_FELL_BACK,
		PDIO_REASON_ZEROED, PDIO_REASON_UNVERIFIED,
		PDIO_REASON_HOST_BRIDGE, PDIO_REASON_ACS_REDIRECT,
		PDIO_REASON_IOMMU, PDIO_REASON_NO_CLIENT,
		PDIO_REASON_QUEUE_NO_P2P, PDIO_REASON_STABLE_WRITES,
		PDIO_REASON_FS_NOT_DIRECT, PDIO_REASON_INLINE,
		PDIO_REASON_COMPRESSED, PDIO_REASON_ENCRYPTED,
		PDIO_REASON_VERITY, PDIO_REASON_TRANSPORT,
		PDIO_REASON_UNALIGNED, PDIO_REASON_EOF_TAIL,
		PDIO_REASON_EXPORTER_RAM, PDIO_REASON_EXPORTER_RAW,
		PDIO_REASON_EXPORTER_REFUSED, PDIO_REASON_REVOKED,
		PDIO_REASON_QUOTA, PDIO_REASON_VERIFY_FAILED,
		PDIO_REASON_POLICY, PDIO_REASON_NO_PROVIDER,
	};
	uint32_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		EXPECT_EQ(i, reasons[i]);
	EXPECT_EQ(32, i);
}

FIXTURE(node) {
	int pd;
	struct pdio_info info;	/* would be answered by the right command */
};

FIXTURE_SETUP(node)
{
	self->pd = pd_open();
	ASSERT_LE(0, self->pd);
	memset(&self->info, 0xff, sizeof(self->info));
	self->info.size = sizeof(self->info);
	self->info.flags = 0;
	self->info.__reserved = 0;
}

FIXTURE_TEARDOWN(node)
{
	close(self->pd);
}

TEST_F(node, info)
{
	struct pdio_info again;

	ASSERT_EQ(0, world_call(self->pd, PDIO_INFO, &self->info));
	EXPECT_EQ(64, self->info.size);
	EXPECT_LE(1, self->info.out_max_segments);
	EXPECT_GT(1 << 20, self->info.out_max_segments);
	EXPECT_LE(2, self->info.out_max_objects);
	EXPECT_EQ(0, self->info.out_features &
		  ~(PDIO_FEATURE_DIRECT | PDIO_FEATURE_STAGED));
	/* Either it can, or there is a reason why not. */
	EXPECT_EQ(!self->info.out_reason,
		  !!(self->info.out_features & PDIO_FEATURE_DIRECT));
	EXPECT_EQ(0, self->info.out_ops);
	EXPECT_EQ(0, self->info.out_bytes_direct);
	EXPECT_EQ(0, self->info.out_bytes_staged);
	EXPECT_EQ(0, self->info.out_bytes_cpu);
	ASSERT_EQ(0, pd_info(self->pd, &again));
	EXPECT_EQ(0, memcmp(&again, &self->info, sizeof(again)));
}

TEST_F(node, unknown_number)
{
	unsigned int nr;

	for (nr = 0; nr < 0x100; nr++) {
		if (nr >= 0x80 && nr <= 0x85)
			continue;
		EXPECT_EQ(-ENOTTY, world_call(self->pd, 0xbd00 | nr,
					      &self->info))
			TH_LOG("command 0xbd%02x", nr);
	}
	EXPECT_EQ(~0ULL, self->info.out_ops);
}

TEST_F(node, wrong_type)
{
	unsigned int type, nr;

	for (type = 0; type < 0x100; type++) {
		if (type == 0xbd)
			continue;
		for (nr = 0x80; nr <= 0x85; nr++)
			EXPECT_EQ(-ENOTTY, world_call(self->pd, type << 8 | nr,
						      &self->info))
				TH_LOG("command 0x%02x%02x", type, nr);
	}
	EXPECT_EQ(~0ULL, self->info.out_ops);
}

TEST_F(node, encoded_direction)
{
	unsigned int dir, nr;

	for (dir = 1; dir <= 3; dir++) {
		for (nr = 0x80; nr <= 0x85; nr++) {
			unsigned long cmd = _IOC(dir, 0xbd, nr, 0);

			EXPECT_EQ(-ENOTTY, world_call(self->pd, cmd,
						      &self->info))
				TH_LOG("command 0x%08lx", cmd);
			cmd = _IOC(dir, 0xbd, nr, 64);
			EXPECT_EQ(-ENOTTY, world_call(self->pd, cmd,
						      &self->info))
				TH_LOG("command 0x%08lx", cmd);
		}
	}
	EXPECT_EQ(~0ULL, self->info.out_ops);
}

/* The size belongs into the structure, not into the number. */
TEST_F(node, encoded_size)
{
	unsigned int bit, nr;

	for (bit = 0; bit < _IOC_SIZEBITS; bit++) {
		for (nr = 0x80; nr <= 0x85; nr++) {
			unsigned long cmd = _IOC(0, 0xbd, nr, 1U << bit);

			EXPECT_EQ(-ENOTTY, world_call(self->pd, cmd,
						      &self->info))
				TH_LOG("command 0x%08lx", cmd);
		}
	}
	EXPECT_EQ(-ENOTTY, world_call(self->pd, _IOC(0, 0xbd, 0x80, 64),
				      &self->info));
	EXPECT_EQ(~0ULL, self->info.out_ops);
}

/* The number is looked at before the pointer. */
TEST_F(node, unknown_without_structure)
{
	EXPECT_EQ(-ENOTTY, world_call(self->pd, 0xbd7f, NULL));
	EXPECT_EQ(-ENOTTY, world_call(self->pd, 0xbd86, NULL));
	EXPECT_EQ(-EFAULT, world_call(self->pd, PDIO_INFO, NULL));
}

TEST_HARNESS_MAIN
