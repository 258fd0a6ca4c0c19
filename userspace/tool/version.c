// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pdio version: versions, and what the loaded module can do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include "tool.h"

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ PDIO_FEATURE_DIRECT, "direct" },
	{ PDIO_FEATURE_STAGED, "staged" },
};

#define FEATURES (sizeof(features) / sizeof(features[0]))

/* module_json - @info is NULL, with an error @err, if it can't be asked */
static void module_json(struct tool *tool, const struct libpdio_info *info,
			int err)
{
	struct json_object *module = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *name;
	size_t i;

	put_bool(module, "available", info);
	if (!info) {
		put_text(module, "errno", strerrorname_np(-err));
	} else {
		for (i = 0; i < FEATURES; i++) {
			if (!(info->features & features[i].bit))
				continue;
			name = json_object_new_string(features[i].name);
			json_object_array_add(list, name);
		}
		json_object_object_add(module, "features",
				       json_object_get(list));
		put_reason(module, info->reason);
		put_u64(module, "max_segments", info->max_segments);
		put_u64(module, "max_objects", info->max_objects);
	}
	json_object_put(list);
	json_object_object_add(tool->out, "module", module);
}

static void module_text(const struct libpdio_info *info, int err)
{
	size_t i;

	if (!info) {
		if (err == -ENOENT || err == -ENODEV || err == -ENXIO)
			puts("module  not loaded");
		else
			printf("module  not available: %s\n", strerror(-err));
		return;
	}
	printf("module  loaded; features:");
	for (i = 0; i < FEATURES; i++) {
		if (info->features & features[i].bit)
			printf(" %s", features[i].name);
	}
	putchar('\n');
	if (info->reason)
		printf("        no direct route: %s (PDIO_REASON_%s)\n",
		       libpdio_reason_str(info->reason),
		       libpdio_reason_name(info->reason));
}

int version_main(struct tool *tool)
{
	struct libpdio_info info = { .size = sizeof(info) };
	const struct libpdio_info *found = NULL;
	struct libpdio_ctx *ctx = NULL;
	struct utsname kernel;
	int err;

	uname(&kernel);
	err = libpdio_open(0, &ctx);
	if (!err)
		err = libpdio_info_get(ctx, &info);
	if (!err)
		found = &info;
	if (tool->json) {
		put_text(tool->out, "tool", PDIO_VERSION);
		put_text(tool->out, "library", libpdio_version());
		put_text(tool->out, "kernel", kernel.release);
		module_json(tool, found, err);
	} else {
		printf("pdio    %s\nlibpdio %s\nkernel  %s\n", PDIO_VERSION,
		       libpdio_version(), kernel.release);
		module_text(found, err);
	}
	libpdio_close(ctx);
	return TOOL_OK;
}
