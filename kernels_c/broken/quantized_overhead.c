/*
 * Wrong on purpose: an overhead that is known only to one step of the clock is subtracted from each
 *   sample.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * The clock here moves by 256 ticks, as coarse clocks do. An empty pair of readings gives 0 or 256.
 * If 256 is subtracted, time of the calls is subtracted too, and the result is less than a call can
 * take.
 */
#define _GNU_SOURCE
#include "../harness.h"

enum { STEP = 256, CALLS = 32, TRIES = 100 };

static __attribute__((noinline)) void without_arguments(void)
{
    __asm__ volatile("" : : : "memory");
}

static uint64_t coarse(void)
{
    return counter_end() / STEP * STEP;
}

static uint64_t overhead;

static void find_overhead(struct run *run)
{
    (void)run;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t begin = coarse(), empty = coarse() - begin;
        overhead = empty > overhead ? empty : overhead;
    }
}

static uint64_t calls_less_overhead(long batch)
{
    /* measured region begins */
    const uint64_t begin = coarse();
    for (long left = batch; left > 0; left--)
        without_arguments();
    const uint64_t whole = coarse() - begin;
    /* measured region ends */
    return whole > overhead ? whole - overhead : 0;
}

static const struct variant variants[] = {{.name = "args0",
                                           .about = "calls, less the overhead",
                                           .interval = calls_less_overhead,
                                           .read = coarse,
                                           .prepare = find_overhead}};
static const long batches[] = {CALLS};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1)
