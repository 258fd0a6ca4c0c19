// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs unit tests and reports them as KTAP. Each starts with a fresh kernel.
 */
#include "fake_kernel.h"
#include "unit.h"

int unit_failed;

int unit_main(const struct unit_test *tests, int count)
{
	int i, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 14\n1..%d\n", count);
	for (i = 0; i < count; i++) {
		unit_failed = 0;
		fake_reset();
		tests[i].run();
		bad += !!unit_failed;
		printf("%sok %d %s\n", unit_failed ? "not " : "", i + 1,
		       tests[i].name);
	}
	return !!bad;
}
