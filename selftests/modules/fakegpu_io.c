// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the "device" does to its memory: clear, fill, sum, and its copy engine.
 * The CPU does it in 64-bit accesses, which is as fast as emulated hardware
 * gets; the string instructions behind memcpy_toio() are slower there. System
 * RAM is worked on by the same code.
 */
#include <linux/io.h>

#include "fakegpu_priv.h"

#define FNV_OFFSET	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

/**
 * fakegpu_io_zero - clear memory
 * @ctx: unused
 * @mem: what to clear, 8-byte aligned
 * @pos: unused
 * @len: bytes, a multiple of 8
 */
void fakegpu_io_zero(void *ctx, void __iomem *mem, size_t pos, size_t len)
{
	for (; len; mem += 8, len -= 8)
		__raw_writeq(0, mem);
}

/**
 * fakegpu_io_fill - write the pattern of fakegpu_word()
 * @ctx: pointer to the seed (u32)
 * @mem: where to, 8-byte aligned
 * @pos: offset of @mem in the allocation, a multiple of 8
 * @len: bytes, a multiple of 8
 */
void fakegpu_io_fill(void *ctx, void __iomem *mem, size_t pos, size_t len)
{
	u32 seed = *(u32 *)ctx;
	u64 index = pos / 8;

	for (; len; mem += 8, len -= 8)
		__raw_writeq((__force u64)fakegpu_word(seed, index++), mem);
}

static u64 fnv_add(u64 sum, u64 bytes, unsigned int n)
{
	for (; n; n--, bytes >>= 8)
		sum = (sum ^ (bytes & 0xff)) * FNV_PRIME;
	return sum;
}

/**
 * fakegpu_sum_start - begin a checksum
 * @sum: where it will be
 */
void fakegpu_sum_start(u64 *sum)
{
	*sum = FNV_OFFSET;
}

/**
 * fakegpu_io_sum - add bytes to a checksum, 64-bit FNV-1a
 * @ctx: pointer to the sum (u64)
 * @mem: what to sum
 * @pos: unused
 * @len: bytes
 */
void fakegpu_io_sum(void *ctx, void __iomem *mem, size_t pos, size_t len)
{
	u64 sum = *(u64 *)ctx;

	for (; len && !IS_ALIGNED((unsigned long)mem, 8); mem++, len--)
		sum = fnv_add(sum, __raw_readb(mem), 1);
	for (; len >= 8; mem += 8, len -= 8)
		sum = fnv_add(sum, le64_to_cpu((__force __le64)__raw_readq(mem)),
			      8);
	for (; len; mem++, len--)
		sum = fnv_add(sum, __raw_readb(mem), 1);
	*(u64 *)ctx = sum;
}

/**
 * fakegpu_io_read - copy from device memory
 * @ctx: pointer to the pointer of where to; moved on
 * @mem: where from
 * @pos: unused
 * @len: bytes
 */
void fakegpu_io_read(void *ctx, void __iomem *mem, size_t pos, size_t len)
{
	u8 *to = *(u8 **)ctx;

	for (; len && !IS_ALIGNED((unsigned long)mem, 8); mem++, len--)
		*to++ = __raw_readb(mem);
	for (; len >= 8; mem += 8, to += 8, len -= 8)
		put_unaligned(__raw_readq(mem), (u64 *)to);
	for (; len; mem++, len--)
		*to++ = __raw_readb(mem);
	*(u8 **)ctx = to;
}

/**
 * fakegpu_io_write - copy to device memory
 * @ctx: pointer to the pointer of where from; moved on
 * @mem: where to
 * @pos: unused
 * @len: bytes
 */
void fakegpu_io_write(void *ctx, void __iomem *mem, size_t pos, size_t len)
{
	const u8 *from = *(const u8 **)ctx;

	for (; len && !IS_ALIGNED((unsigned long)mem, 8); mem++, len--)
		__raw_writeb(*from++, mem);
	for (; len >= 8; mem += 8, from += 8, len -= 8)
		__raw_writeq(get_unaligned((const u64 *)from), mem);
	for (; len; mem++, len--)
		__raw_writeb(*from++, mem);
	*(const u8 **)ctx = from;
}
