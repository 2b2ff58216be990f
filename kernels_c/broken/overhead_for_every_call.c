/*
 * Wrong on purpose: the overhead comes once in a sample, but is subtracted for every call in it.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * More is subtracted than was ever there, so the cost of a call is negative. What a sample holds
 * once belongs to the intercept. Only what comes with every call may be subtracted from the slope.
 */
#define _GNU_SOURCE
#include "../harness.h"

static __attribute__((noinline)) void without_arguments(void)
{
    __asm__ volatile("" : : : "memory");
}

static uint64_t calls(long batch)
{
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--)
        without_arguments();
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static uint64_t pairs(long batch)
{
    uint64_t overhead = 0;
    for (long left = batch; left > 0; left--) {
        const uint64_t begin = counter_begin();
        overhead += counter_end() - begin;
    }
    return overhead;
}

static const struct variant variants[] = {
    {.name = "args0", .about = "calls, less overhead", .interval = calls, .baseline = "pair"},
    {.name = "pair", .about = "the pair of readings", .interval = pairs}};
static const long batches[] = {256, 512, 768, 1024};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
