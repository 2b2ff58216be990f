/*
 * Wrong on purpose: one call of a few cycles is timed between two readings, which cost more than
 *   it.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Reports A and E take the mean of many such samples for the cost of a call. What they average is
 * the pair of readings. The call is lost in the spread of that pair and in the step of the clock.
 */
#define _GNU_SOURCE
#include "../harness.h"

static __attribute__((noinline)) void without_arguments(void)
{
    __asm__ volatile("" : : : "memory");
}

static uint64_t one_call(long batch)
{
    (void)batch;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    without_arguments();
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {
    {.name = "args0", .about = "one call an interval", .interval = one_call}};
static const long batches[] = {1};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1)
