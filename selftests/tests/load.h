/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests from several threads, without end, for the tests that take something
 * away meanwhile. A request may end well, or with -ENOENT or -ENODEV; anything
 * else is what the tests look for.
 */
#ifndef _PDIO_LOAD_H
#define _PDIO_LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define LOAD_THREADS 4

struct load {
	int pd;			/* /dev/pdio */
	int64_t buffer, file;	/* ids */
	uint64_t length;	/* bytes a request */
	int allowed;		/* one more errno that may come */
	atomic_int stop;
	atomic_int bad;		/* the first errno that may not */
	atomic_long done;	/* requests that ended well */
	atomic_long ended;	/* requests that found nothing */
	pthread_t thread[LOAD_THREADS];
};

/* Returns when the first request has ended well, or one has gone bad. */
void load_start(struct load *load);
void load_stop(struct load *load);

#endif /* _PDIO_LOAD_H */
