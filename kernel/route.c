// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes: how a (buffer, file) pair is served, and why not otherwise.
 *
 * Asked from the cheapest fact to the dearest: what the kernel can do, what the
 * file and its queue can do now, and last what the two devices can do together,
 * for which the buffer has to be attached.
 */
#include "compat.h"
#include "pdio.h"

/**
 * pdio_route_kernel_reason - can this kernel do the direct route at all?
 *
 * Context: any.
 * Return: PDIO_REASON_NONE if it can, else why not.
 */
u32 pdio_route_kernel_reason(void)
{
	return PDIO_HAVE_DIRECT ? PDIO_REASON_NONE : PDIO_REASON_NO_P2PDMA;
}

/**
 * pdio_route_get - the route between a buffer and a file
 * @buffer: the buffer, kept in use by the caller
 * @file: the file, kept in use by the caller
 * @route: the route; on failure, with the reason for it
 *
 * Context: may sleep.
 * Return: the attachment that serves it, to be given back by pdio_attach_put(),
 * or ERR_PTR: -EXDEV if it isn't direct, or as pdio_attach_get().
 */
struct pdio_attach *pdio_route_get(struct pdio_buffer *buffer,
				   struct pdio_file *file,
				   struct pdio_route_info *route)
{
	*route = (struct pdio_route_info) {
		.route = PDIO_ROUTE_NONE,
		.map_type = PDIO_MAP_UNKNOWN,
		.provider_bdf = PDIO_BDF_NONE,
		.reason = pdio_route_kernel_reason(),
	};
	if (!route->reason)
		route->reason = pdio_file_reason(file);
	if (route->reason)
		return ERR_PTR(-EXDEV);
	return pdio_attach_get(buffer, file->client, route);
}
