// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asking how a buffer and a file are served, without I/O.
 */
#include <errno.h>
#include "internal.h"

int libpdio_route_get(struct libpdio_file *file, struct libpdio_buffer *buffer,
		      uint32_t op, struct libpdio_route *route)
{
	struct libpdio_route out = {
		.provider_bdf = PDIO_BDF_NONE,
		.client_bdf = PDIO_BDF_NONE,
	};
	struct pdio_route cmd = { .size = sizeof(cmd), .op = op };
	int ret;

	if (!sized_ok(route, ROUTE_V1_SIZE))
		return -EINVAL;
	sized_put(route, &out, sizeof(out));
	if (!file || !buffer || file->ctx != buffer->ctx)
		return -EINVAL;
	cmd.buffer_id = buffer->id;
	cmd.file_id = file->id;
	ret = sys_ioctl(file->ctx->fd, PDIO_ROUTE, &cmd);
	out.reason = cmd.out_reason;
	if (!ret) {
		out.route = cmd.out_route;
		out.map_type = cmd.out_map_type;
		out.provider_domain = cmd.out_provider_domain;
		out.provider_bdf = cmd.out_provider_bdf;
		out.client_domain = cmd.out_client_domain;
		out.client_bdf = cmd.out_client_bdf;
	}
	sized_put(route, &out, sizeof(out));
	return ret;
}
