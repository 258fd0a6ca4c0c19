// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pdio route: how a file and a GPU would be served.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

/* The route does not depend on how much memory asks for it. */
#define ROUTE_BYTES 4096

struct query {
	struct tool *tool;
	const char *path;
	const char *gpu;		/* operand, or NULL */
	struct libpdio_ctx *ctx;
	struct libpdio_file *file;
	struct libpdio_accel *accel;
	struct libpdio_mem *mem;
	struct libpdio_buffer *buffer;
	bool writable;
	bool all_direct;
};

/* query_file - open for both directions, or for reading alone */
static int query_file(struct query *query)
{
	int fd, ret;

	fd = open(query->path, O_RDWR | O_CLOEXEC);
	query->writable = fd >= 0;
	if (fd < 0)
		fd = open(query->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tool_fail(query->tool, -errno, PDIO_REASON_NONE,
				 "open %s", query->path);
	ret = libpdio_file_register(query->ctx, fd, 0, &query->file);
	close(fd);
	if (ret)
		return tool_fail(query->tool, ret, PDIO_REASON_NONE,
				 "register %s", query->path);
	return TOOL_OK;
}

static int query_gpu(struct query *query)
{
	int ret;

	ret = gpu_open(query->tool, query->gpu, &query->accel);
	if (ret)
		return ret;
	ret = libpdio_accel_alloc(query->accel, ROUTE_BYTES, 0, &query->mem);
	if (ret)
		return tool_fail(query->tool, ret, PDIO_REASON_NONE,
				 "allocate memory of %s", query->gpu);
	return gpu_buffer(query->tool, query->ctx, query->mem, query->gpu,
			  &query->buffer);
}

static void print_reason(uint32_t reason)
{
	if (reason)
		printf("       %s (PDIO_REASON_%s)\n",
		       libpdio_reason_str(reason),
		       libpdio_reason_name(reason));
}

static void show_file(struct query *query)
{
	uint32_t offset_align = libpdio_file_offset_align(query->file);
	uint32_t mem_align = libpdio_file_mem_align(query->file);
	uint32_t reason = libpdio_file_reason(query->file);
	struct json_object *file;

	query->all_direct = !reason;
	if (query->tool->json) {
		file = json_object_new_object();
		put_text(file, "path", query->path);
		put_bool(file, "writable", query->writable);
		put_reason(file, reason);
		put_u64(file, "offset_align", offset_align);
		put_u64(file, "mem_align", mem_align);
		json_object_object_add(query->tool->out, "file", file);
		return;
	}
	printf("file   %s: ", query->path);
	if (offset_align)
		printf("direct I/O in units of %u bytes, memory aligned to %u\n",
		       offset_align, mem_align);
	else
		puts("no direct I/O");
	print_reason(reason);
}

static int show_route(struct query *query, uint32_t op)
{
	const char *name = op == PDIO_OP_READ ? "read" : "write";
	struct libpdio_route route = { .size = sizeof(route) };
	char provider[PCI_TEXT], client[PCI_TEXT];
	int ret;

	ret = libpdio_route_get(query->file, query->buffer, op, &route);
	if (ret)
		return tool_fail(query->tool, ret, route.reason,
				 "%s route between %s and %s", name,
				 query->path, query->gpu);
	query->all_direct &= route.route == PDIO_ROUTE_DIRECT;
	if (query->tool->json) {
		json_object_object_add(query->tool->out, name,
				       plan_json(&route));
		return TOOL_OK;
	}
	printf("%-6s %-8s mapping %s, provider %s, client %s\n", name,
	       libpdio_route_name(route.route),
	       libpdio_map_name(route.map_type),
	       pci_text(route.provider_domain, route.provider_bdf, provider),
	       pci_text(route.client_domain, route.client_bdf, client));
	print_reason(route.reason);
	return TOOL_OK;
}

static int query_run(struct query *query)
{
	int ret;

	ret = ctx_open(query->tool, &query->ctx);
	if (!ret)
		ret = query_file(query);
	if (ret)
		return ret;
	if (query->gpu) {
		ret = query_gpu(query);
		if (ret)
			return ret;
	}
	show_file(query);
	if (query->gpu) {
		ret = show_route(query, PDIO_OP_READ);
		if (!ret && query->writable)
			ret = show_route(query, PDIO_OP_WRITE);
		if (ret)
			return ret;
		if (!query->writable && !query->tool->json)
			puts("write  not asked: the file can't be opened for writing");
	}
	if (query->tool->set[OPT_REQUIRE_DIRECT] && !query->all_direct)
		return TOOL_UNSUPPORTED;
	return TOOL_OK;
}

int route_main(struct tool *tool)
{
	struct query query = {
		.tool = tool,
		.path = tool->operand[0],
		.gpu = tool->operands > 1 ? tool->operand[1] : NULL,
	};
	int ret;

	if (gpu_spec(query.path))
		return tool_usage(tool, "FILE comes first, not %s", query.path);
	if (query.gpu && !gpu_spec(query.gpu))
		return tool_usage(tool, "%s names no GPU", query.gpu);
	ret = query_run(&query);
	libpdio_buffer_unregister(query.buffer);
	libpdio_accel_free(query.mem);
	libpdio_accel_close(query.accel);
	libpdio_file_unregister(query.file);
	libpdio_close(query.ctx);
	return ret;
}
