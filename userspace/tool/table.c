// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The contents of the table: pure data, no code, so that the generator of man
 * pages and completions can be linked with it alone.
 */
#include <stddef.h>
#include "table.h"

const char *const pdio_text[] = {
	"pdio moves the contents of files straight between storage and the "
	"memory of a peer device such as a GPU, without a copy in host memory, "
	"and tells which way the bytes went and why.",
	"Data goes to standard output, everything else to standard error. The "
	"JSON form (-j) is the only stable one: its top-level object has a "
	"member \"version\", which changes only if members change their "
	"meaning. Sizes are in bytes and take the suffixes K, M, G and T "
	"(powers of 1024).",
	NULL
};

const char *const gpu_text[] = {
	"A GPU is named gpu:fake:N (the test driver's device N), gpu:fake:cmb "
	"(its wrapper of an NVMe controller memory buffer) or "
	"gpu:vfio:DOMAIN:BUS:DEVICE.FUNCTION (the largest memory BAR of a PCI "
	"function that is bound to vfio-pci). A file whose name begins with "
	"gpu: is written ./gpu:...",
	NULL
};

const struct exit_info exit_codes[] = {
	{ 0, "done" },
	{ 1, "failed" },
	{ 2, "wrong usage" },
	{ 3, "not supported here; the reason is printed" },
	{ 4, "a device or the module is absent" },
	{ 0, NULL }
};

const struct option_info global_options[] = {
	{ OPT_JSON, "json", 'j', NULL, "print JSON on one line" },
	{ OPT_PRETTY, "pretty", 'p', NULL, "print JSON, indented" },
	{ OPT_BYTES, "bytes", 'b', NULL, "print sizes as exact bytes" },
	{ OPT_HELP, "help", 'h', NULL, "print help and exit" },
	{ OPT_VERSION, "version", 'V', NULL,
	  "print the versions, as pdio version" },
	{ 0, NULL, 0, NULL, NULL }
};

static const struct option_info no_options[] = {
	{ 0, NULL, 0, NULL, NULL }
};

static const struct option_info copy_options[] = {
	{ OPT_REQUIRE_DIRECT, "require-direct", 'd', NULL,
	  "fail, before any byte moves, rather than go another way than "
	  "device to device" },
	{ OPT_DSYNC, "dsync", 's', NULL,
	  "make written bytes durable before they count as written" },
	{ OPT_BOUNCE, "bounce", 'B', NULL,
	  "go the classic way instead, to compare: direct I/O into host "
	  "memory, then the GPU's own copy; the pdio module is not used" },
	{ OPT_EXEC, "exec", 'e', "COMMAND",
	  "run COMMAND with /bin/sh while the data lies in GPU memory; the "
	  "JSON report so far is its standard input, and its output goes to "
	  "standard error; if it fails, nothing is written" },
	{ OPT_OFFSET, "offset", 'o', "BYTES",
	  "start at this byte of SOURCE instead of 0" },
	{ OPT_LENGTH, "length", 'l', "BYTES",
	  "copy this many bytes instead of all up to the end" },
	{ 0, NULL, 0, NULL, NULL }
};

static const struct operand_info copy_operands[] = {
	{ "SOURCE", OPERAND_FILE, 0,
	  "a regular file or a block device" },
	{ "GPU", OPERAND_GPU, 0,
	  "the device whose memory the bytes are read into" },
	{ "DESTINATION", OPERAND_FILE, 1,
	  "a regular file, which is created or overwritten, or a block "
	  "device; the bytes are written to it from GPU memory" },
	{ NULL, OPERAND_FILE, 0, NULL }
};

static const char *const copy_text[] = {
	"Reads SOURCE into freshly allocated memory of GPU and, with "
	"DESTINATION, writes it from there to DESTINATION. GPU memory belongs "
	"to the process that allocated it and is freed at the end; --exec "
	"looks at the data while it is there.",
	"For each step one line says how many bytes moved, in which time, and "
	"which way: device to device (direct), through host memory of the "
	"module (staged), or copied or zeroed by the CPU, or not proven direct "
	"(cpu). route= sums that up: direct, staged, cpu, mixed, bounce, or "
	"none if there was nothing to move. Where bytes were not direct, the "
	"first reason follows. The time is that of the I/O; preparing the route "
	"is not part of it.",
	"An interrupt (SIGINT) ends the copy after the part that is under way "
	"and reports the bytes done.",
	NULL
};

static const struct example_info copy_examples[] = {
	{ "Read a file into GPU memory, write it back to another one:",
	  "pdio copy weights.bin gpu:fake:0 copy.bin" },
	{ "The same, or an error with the reason:",
	  "pdio copy --require-direct weights.bin gpu:fake:0 copy.bin" },
	{ "Look at the extents in the GPU's BAR while the data is there:",
	  "pdio copy -e 'cat >report.json' weights.bin gpu:fake:0" },
	{ "Measure the classic way:",
	  "pdio copy --bounce weights.bin gpu:fake:0" },
	{ NULL, NULL }
};

static const struct option_info route_options[] = {
	{ OPT_REQUIRE_DIRECT, "require-direct", 'd', NULL,
	  "exit with 3 unless every answer is the direct route" },
	{ 0, NULL, 0, NULL, NULL }
};

static const struct operand_info route_operands[] = {
	{ "FILE", OPERAND_FILE, 0, "a regular file or a block device" },
	{ "GPU", OPERAND_GPU, 1, "the device at the other end" },
	{ NULL, OPERAND_FILE, 0, NULL }
};

static const char *const route_text[] = {
	"Tells how I/O between FILE and the memory of GPU would be served, "
	"without doing any: the route (direct, command, staged or none), the "
	"reason where it is not direct, the kernel's mapping type for the two "
	"devices (bus-address, host-bridge, blocked or unknown), and the PCI "
	"functions at both ends. Without GPU, only what FILE alone allows.",
	"The exit status is 0 if the question was answered, whatever the "
	"answer, unless --require-direct is given.",
	NULL
};

static const struct example_info route_examples[] = {
	{ "Can this file be read straight into that GPU?",
	  "pdio route /data/weights.bin gpu:vfio:0000:65:00.0" },
	{ "The same for a script:",
	  "pdio route -d /data/weights.bin gpu:fake:0 >/dev/null" },
	{ NULL, NULL }
};

static const struct operand_info no_operands[] = {
	{ NULL, OPERAND_FILE, 0, NULL }
};

static const char *const version_text[] = {
	"Prints the versions of tool, library and kernel, and what the loaded "
	"module can do. It works without the module, and says so.",
	NULL
};

static const struct operand_info help_operands[] = {
	{ "COMMAND", OPERAND_COMMAND, 1, "a command of pdio" },
	{ NULL, OPERAND_FILE, 0, NULL }
};

static const char *const help_text[] = {
	"Prints the list of commands, or the help of one.",
	NULL
};

static const struct example_info no_examples[] = {
	{ NULL, NULL }
};

const struct command_info commands[COMMAND_COUNT] = {
	[COMMAND_COPY] = {
		"copy", "copy a file into GPU memory, and on to a file",
		copy_text, copy_operands, copy_options, copy_examples
	},
	[COMMAND_ROUTE] = {
		"route", "tell how a file and a GPU are served, and why",
		route_text, route_operands, route_options, route_examples
	},
	[COMMAND_VERSION] = {
		"version", "print versions and what the module can do",
		version_text, no_operands, no_options, no_examples
	},
	[COMMAND_HELP] = {
		"help", "print the list of commands, or the help of one",
		help_text, help_operands, no_options, no_examples
	},
};
