/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The little that unit tests in C need: named tests, checks that say where, and
 * a report as KTAP.
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdio.h>
#include <string.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

extern int unit_failed;

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);\
		unit_failed++;						\
	}								\
} while (0)

#define CHECK_EQ(a, b) do {						\
	long long a_ = (long long)(a), b_ = (long long)(b);		\
									\
	if (a_ != b_) {							\
		printf("# %s:%d: %s is %lld, not %lld\n", __FILE__,	\
		       __LINE__, #a, a_, b_);				\
		unit_failed++;						\
	}								\
} while (0)

#define CHECK_STR(a, b) do {						\
	const char *a_ = (a), *b_ = (b);				\
									\
	if (strcmp(a_, b_)) {						\
		printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__,	\
		       __LINE__, #a, a_, b_);				\
		unit_failed++;						\
	}								\
} while (0)

/* unit_main - run @count tests; the exit status of the program */
int unit_main(const struct unit_test *tests, int count);

#endif /* UNIT_H */
