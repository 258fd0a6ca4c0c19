// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ends of a copy: the module's context, a GPU, and its memory as a buffer.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

#define GPU_PREFIX "gpu:"

const char *gpu_spec(const char *operand)
{
	size_t len = strlen(GPU_PREFIX);

	return strncmp(operand, GPU_PREFIX, len) ? NULL : operand + len;
}

int ctx_open(struct tool *tool, struct libpdio_ctx **ctx)
{
	int ret = libpdio_open(0, ctx);

	if (!ret)
		return TOOL_OK;
	return tool_fail_absent(tool, ret,
				"open /dev/pdio (is the module pdio loaded?)");
}

int gpu_open(struct tool *tool, const char *operand,
	     struct libpdio_accel **accel)
{
	int ret = libpdio_accel_open(gpu_spec(operand), 0, accel);

	if (!ret)
		return TOOL_OK;
	if (ret == -EINVAL)
		return tool_usage(tool, "%s names no GPU", operand);
	return tool_fail_absent(tool, ret, "open %s", operand);
}

int gpu_buffer(struct tool *tool, struct libpdio_ctx *ctx,
	       struct libpdio_mem *mem, const char *operand,
	       struct libpdio_buffer **buffer)
{
	uint32_t reason;
	int fd, ret;

	fd = libpdio_accel_export(mem, 0);
	if (fd < 0)
		return tool_fail(tool, fd, PDIO_REASON_NONE,
				 "export memory of %s", operand);
	ret = libpdio_buffer_register(ctx, fd, 0, 0, NULL, 0, buffer, &reason);
	close(fd);
	if (ret)
		return tool_fail(tool, ret, reason, "register memory of %s",
				 operand);
	return TOOL_OK;
}

static void put_pci(struct json_object *to, const char *name, uint32_t domain,
		    uint32_t bdf)
{
	char text[PCI_TEXT];

	if (bdf == PDIO_BDF_NONE)
		json_object_object_add(to, name, NULL);
	else
		put_text(to, name, pci_text(domain, bdf, text));
}

struct json_object *plan_json(const struct libpdio_route *route)
{
	struct json_object *plan = json_object_new_object();

	put_text(plan, "route", libpdio_route_name(route->route));
	put_reason(plan, route->reason);
	put_text(plan, "map_type", libpdio_map_name(route->map_type));
	put_pci(plan, "provider", route->provider_domain,
		route->provider_bdf);
	put_pci(plan, "client", route->client_domain, route->client_bdf);
	return plan;
}
