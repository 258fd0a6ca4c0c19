// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of one open file description, kept per CPU so that requests on
 * different CPUs share no cache line.
 */
#include <linux/percpu.h>

#include "pdio.h"

/**
 * pdio_stats_add - count a completed request
 * @stats: the counters
 * @more: what it moved
 *
 * Context: task context; disables preemption for a moment.
 */
void pdio_stats_add(struct pdio_stats __percpu *stats,
		    const struct pdio_stats *more)
{
	struct pdio_stats *mine = get_cpu_ptr(stats);

	mine->ops += more->ops;
	mine->direct += more->direct;
	mine->staged += more->staged;
	mine->cpu += more->cpu;
	put_cpu_ptr(stats);
}

/**
 * pdio_stats_sum - add up the counters of all CPUs
 * @stats: the counters
 * @sum: where the sum goes
 *
 * Requests that complete meanwhile may be counted or not.
 *
 * Context: any.
 */
void pdio_stats_sum(struct pdio_stats __percpu *stats, struct pdio_stats *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct pdio_stats *one = per_cpu_ptr(stats, cpu);

		sum->ops += READ_ONCE(one->ops);
		sum->direct += READ_ONCE(one->direct);
		sum->staged += READ_ONCE(one->staged);
		sum->cpu += READ_ONCE(one->cpu);
	}
}
