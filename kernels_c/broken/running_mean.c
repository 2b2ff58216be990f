/*
 * Wrong on purpose: each value is the mean of all samples so far, and the first of them was cold.
 * Repaired: first_iteration --variant call --samples 600 --processes 20
 * Run with: --samples 600 --processes 20
 *
 * Report E prints such a series for a process switch. Each value is lower than the one before, only
 * because the mean is over more samples. The machine itself does not become faster.
 */
#define _GNU_SOURCE
#include "../remote_call.h"

static int called_before;
static uint64_t sum, count;

static uint64_t mean_so_far(long batch)
{
    (void)batch;
    if (is_first(&called_before, 1))
        take_code_away(remote_procedure);
    /* measured region begins */
    const uint64_t begin = counter_begin();
    remote_procedure();
    const uint64_t end = counter_end();
    sum += end - begin;
    count += 1;
    const uint64_t mean = sum / count;
    /* measured region ends */
    return mean;
}

static const struct variant variants[] = {{.name = "call",
                                           .about = "its mean so far",
                                           .interval = mean_so_far,
                                           .estimand = ESTIMAND_FIRST_TIME}};
static const long batches[] = {1};
MEASURE(.name = "first_iteration", .about = "what is slow about the first time",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
