// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests from several threads; see load.h.
 */
#include <errno.h>
#include <unistd.h>

#include "load.h"
#include "testlib.h"

static void *load_run(void *arg)
{
	struct load *load = arg;
	int64_t ret;

	while (!atomic_load(&load->stop)) {
		ret = pd_io(load->pd, PDIO_OP_READ, 0, load->file, 0,
			    load->buffer, 0, load->length, NULL);
		if (ret == (int64_t)load->length) {
			atomic_fetch_add(&load->done, 1);
		} else if (ret == -ENOENT || ret == -ENODEV ||
			   (load->allowed && ret == -load->allowed)) {
			atomic_fetch_add(&load->ended, 1);
			usleep(1000);
		} else {
			atomic_store(&load->bad, ret < 0 ? -ret : EBADMSG);
			break;
		}
	}
	return NULL;
}

void load_start(struct load *load)
{
	int i;

	atomic_store(&load->stop, 0);
	atomic_store(&load->done, 0);
	for (i = 0; i < LOAD_THREADS; i++)
		if (pthread_create(&load->thread[i], NULL, load_run, load))
			_exit(1);
	while (!atomic_load(&load->done) && !atomic_load(&load->bad))
		usleep(1000);
}

void load_stop(struct load *load)
{
	int i;

	atomic_store(&load->stop, 1);
	for (i = 0; i < LOAD_THREADS; i++)
		pthread_join(load->thread[i], NULL);
}
