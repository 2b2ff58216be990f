/*
 * Wrong on purpose: the clock is read around every single call, and its cost is not subtracted.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Reports D and E do this. However many calls are added up, each one brings its own pair of
 * readings: nearly all of the 90 ns of E's call are the clock. More repetitions do not remove that.
 */
#define _GNU_SOURCE
#include "../harness.h"

static __attribute__((noinline)) void without_arguments(void)
{
    __asm__ volatile("" : : : "memory");
}

static uint64_t calls_one_by_one(long batch)
{
    uint64_t sum = 0;
    /* measured region begins */
    for (long left = batch; left > 0; left--) {
        const uint64_t begin = counter_begin();
        without_arguments();
        const uint64_t end = counter_end();
        sum += end - begin;
    }
    /* measured region ends */
    return sum;
}

static const struct variant variants[] = {
    {.name = "args0", .about = "one call at a time", .interval = calls_one_by_one}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
