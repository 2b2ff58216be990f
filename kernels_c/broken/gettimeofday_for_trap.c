/*
 * Wrong on purpose: gettimeofday() of the library is taken for a system call, but the vDSO answers
 *   it without entering the OS kernel.
 * Repaired: system_call --variant gettimeofday-trap,gettimeofday-vdso,invalid
 * Run with: --variant gettimeofday-trap,gettimeofday-vdso,invalid
 *
 * Report B timed it like this, next to clock_gettime(), which is known to be cheap. Both cost the
 * same, so it seems that the vDSO saves nothing.
 */
#include "../own_call.h"

#include <sys/time.h>

static struct timeval today;
static struct timespec now;

static uint64_t by_library(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        failed |= gettimeofday(&today, NULL) != 0;
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

OWN_INTERVAL(by_vdso, clock_gettime(CLOCK_MONOTONIC, &now) == 0)

static const struct variant variants[] = {{.name = "gettimeofday-trap",
                                           .about = "gettimeofday(), surely a system call",
                                           .interval = by_library,
                                           .system_calls = 1,
                                           .baseline = "loop"},
                                          {.name = "gettimeofday-vdso",
                                           .about = "clock_gettime(), by the vDSO",
                                           .interval = by_vdso,
                                           .baseline = "loop"},
                                          OWN_FLOOR};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
