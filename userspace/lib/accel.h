/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface between the accelerator functions of the library and the back
 * ends, one of which there is for each kind of device.
 */
#ifndef LIBPDIO_ACCEL_H
#define LIBPDIO_ACCEL_H

#include <stdatomic.h>
#include "libpdio.h"

#define ACCEL_PAGE 4096ULL

struct accel_ops;

struct libpdio_accel {
	const struct accel_ops *ops;
	atomic_uint refs;
	void *priv;
};

struct libpdio_mem {
	struct libpdio_accel *accel;
	uint64_t length;
	void *priv;
};

/*
 * struct accel_ops - a back end
 * @scheme: what a spec of this kind begins with, up to the colon
 * @open: sets @accel->priv; @rest is the spec after the colon
 * @close: releases @accel->priv; all memory is free by then
 * @info: fills @info but for its size
 * @alloc: sets @mem->priv; @mem->length is valid
 * @free: releases @mem->priv
 * @export: a new descriptor of a dma-buf of all of @mem
 * @copy_in, @copy_out: the range was tested
 * @extents: as libpdio_accel_extents(); NULL if the back end can't tell
 *
 * All may be called by several threads at once, but for open, close, and free
 * of the same memory. They return 0 (or a descriptor) or a negative errno.
 */
struct accel_ops {
	const char *scheme;
	int (*open)(struct libpdio_accel *accel, const char *rest);
	void (*close)(struct libpdio_accel *accel);
	int (*info)(struct libpdio_accel *accel,
		    struct libpdio_accel_info *info);
	int (*alloc)(struct libpdio_mem *mem);
	void (*free)(struct libpdio_mem *mem);
	int (*export)(struct libpdio_mem *mem);
	int (*copy_in)(struct libpdio_mem *mem, uint64_t offset,
		       const void *src, size_t length);
	int (*copy_out)(struct libpdio_mem *mem, uint64_t offset, void *dst,
			size_t length);
	int (*extents)(struct libpdio_mem *mem, struct libpdio_extent *extents,
		       uint32_t *count);
};

extern const struct accel_ops accel_fake;
extern const struct accel_ops accel_vfio;

#endif /* LIBPDIO_ACCEL_H */
