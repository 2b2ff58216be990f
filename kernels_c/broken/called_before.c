/*
 * Wrong on purpose: the procedure is called once to try it out, and that was its first time.
 * Repaired: first_iteration --variant call --samples 600 --processes 20
 * Run with: --samples 600 --processes 20
 *
 * Each process has only one first call. A trial or a warm-up uses it up: later calls find the page
 * mapped, the code in the cache and the branches learned.
 */
#define _GNU_SOURCE
#include "../remote_call.h"

static int called_before;

static uint64_t timed_call(long batch)
{
    (void)batch;
    if (is_first(&called_before, 1)) {
        take_code_away(remote_procedure);
        remote_procedure(); /* it works, so now measure it */
    }
    /* measured region begins */
    const uint64_t begin = counter_begin();
    remote_procedure();
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "call",
                                           .about = "tried out before",
                                           .interval = timed_call,
                                           .estimand = ESTIMAND_FIRST_TIME}};
static const long batches[] = {1};
MEASURE(.name = "first_iteration", .about = "what is slow about the first time",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
