/*
 * Wrong on purpose: one call is timed with a clock of CPU time, whose reading is a system call
 *   itself.
 * Repaired: procedure_call --variant args0 --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Report D times a call, and a system call, with CLOCK_PROCESS_CPUTIME_ID around each. Each reading
 * enters the OS kernel, so both figures are mostly the cost of the clock.
 */
#define _GNU_SOURCE
#include "../harness.h"

static __attribute__((noinline)) void without_arguments(void)
{
    __asm__ volatile("" : : : "memory");
}

static uint64_t cpu_time(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t one_call(long batch)
{
    (void)batch;
    /* measured region begins */
    const uint64_t begin = cpu_time();
    without_arguments();
    const uint64_t end = cpu_time();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "args0",
                                           .about = "one call, by CPU time",
                                           .interval = one_call,
                                           .read = cpu_time,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_PROCESS_CPUTIME_ID"}};
static const long batches[] = {1};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1)
