// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything that the tool says: errors on standard error, JSON on standard
 * output, and the small pieces of text that reports are made of.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "tool.h"

int tool_usage(const struct tool *tool, const char *format, ...)
{
	const char *command = tool->command ? tool->command->name : NULL;
	va_list args;

	fprintf(stderr, "pdio: %s%s", command ? command : "",
		command ? ": " : "");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ". Try: pdio help%s%s\n", command ? " " : "",
		command ? command : "");
	return TOOL_USAGE;
}

static int fail_code(int err, uint32_t reason)
{
	switch (err) {
	case -ENODEV:
	case -ENXIO:
		return TOOL_ABSENT;
	case -EXDEV:
	case -EOPNOTSUPP:
		return TOOL_UNSUPPORTED;
	case -EDQUOT:
		return TOOL_FAILED;
	default:
		return reason ? TOOL_UNSUPPORTED : TOOL_FAILED;
	}
}

static int vfail(struct tool *tool, int err, uint32_t reason,
		 const char *format, va_list args)
{
	const char *name = strerrorname_np(-err);
	const char *text = reason ? libpdio_reason_str(reason) : strerror(-err);
	struct json_object *error;
	char what[512];

	vsnprintf(what, sizeof(what), format, args);
	if (!name)
		name = "UNKNOWN";
	fprintf(stderr, "pdio: %s: %s: %s: %s", tool->command->name, what, name,
		text);
	if (reason)
		fprintf(stderr, " (PDIO_REASON_%s). See pdio-route(8).",
			libpdio_reason_name(reason));
	fputc('\n', stderr);
	if (!tool->json)
		return fail_code(err, reason);
	error = json_object_new_object();
	put_text(error, "what", what);
	put_text(error, "errno", name);
	put_reason(error, reason);
	put_text(error, "text", text);
	json_object_object_add(tool->out, "error", error);
	return fail_code(err, reason);
}

int tool_fail(struct tool *tool, int err, uint32_t reason,
	      const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = vfail(tool, err, reason, format, args);
	va_end(args);
	return ret;
}

int tool_fail_absent(struct tool *tool, int err, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = vfail(tool, err, PDIO_REASON_NONE, format, args);
	va_end(args);
	return err == -ENOENT ? TOOL_ABSENT : ret;
}

int tool_finish(struct tool *tool, int code)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (tool->set[OPT_PRETTY])
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	if (tool->out && code != TOOL_USAGE)
		puts(json_object_to_json_string_ext(tool->out, flags));
	json_object_put(tool->out);
	tool->out = NULL;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "pdio: standard output: %s\n", strerror(errno));
	return code == TOOL_OK ? TOOL_FAILED : code;
}

const char *size_text(const struct tool *tool, uint64_t bytes,
		      char text[SIZE_TEXT])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB",
					     "EiB" };
	double value = bytes / 1024.0;
	size_t unit = 0;

	if (tool->set[OPT_BYTES] || bytes < 1024) {
		snprintf(text, SIZE_TEXT, "%llu B", (unsigned long long)bytes);
		return text;
	}
	for (; value >= 1024 && unit < 5; unit++)
		value /= 1024;
	snprintf(text, SIZE_TEXT, "%.*f %s", value == (int)value ? 0 : 1,
		 value, units[unit]);
	return text;
}

const char *pci_text(uint32_t domain, uint32_t bdf, char text[PCI_TEXT])
{
	if (bdf == PDIO_BDF_NONE)
		return "-";
	snprintf(text, PCI_TEXT, "%04x:%02x:%02x.%x", domain, bdf >> 8 & 0xff,
		 bdf >> 3 & 0x1f, bdf & 7);
	return text;
}

void put_u64(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

void put_text(struct json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, json_object_new_string(value));
}

void put_bool(struct json_object *to, const char *name, bool value)
{
	json_object_object_add(to, name, json_object_new_boolean(value));
}

void put_reason(struct json_object *to, uint32_t reason)
{
	put_text(to, "reason", libpdio_reason_name(reason));
}
