/*
 * Wrong on purpose: the overhead of another machine is subtracted from one call between two
 *   readings.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Report A subtracts 28.5 cycles, measured once and on one machine. On another machine its calls
 * then cost -3.9 cycles.
 */
#define _GNU_SOURCE
#include "../harness.h"

static const long overhead_of_pair = 28; /* cycles */

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
    const long call = (long)(end - begin) - overhead_of_pair;
    return call > 0 ? (uint64_t)call : 0;
}

static const struct variant variants[] = {
    {.name = "args0", .about = "one call, less the overhead", .interval = one_call}};
static const long batches[] = {1};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1)
