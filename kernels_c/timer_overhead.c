/*
 * What does a timer cost?
 *
 * A sample holds k dependent additions, one core cycle each, between two readings of a clock:
 *
 *     T(k) = overhead + k * cycle
 *
 * The intercept of that line is what the timer adds to everything that it times. Each k has
 * straight code of its own, so that no loop and no mispredicted branch is inside. Each variant uses
 * the clock that it is named after; k = 0 is the empty region. If the points are not on a line
 * (unfenced), the clock was read before the work was done.
 */
#define _GNU_SOURCE
#include <sys/time.h>
#include <time.h>

#include "harness.h"

TICKLAB_INLINE uint64_t ns_of(clockid_t clock)
{
    struct timespec now;
    failed_calls |= clock_gettime(clock, &now) != 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

TICKLAB_INLINE uint64_t us_of_day(void)
{
    struct timeval now;
    failed_calls |= gettimeofday(&now, NULL) != 0;
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_usec;
}

/* One sample: k additions, each waiting for the one before, between two readings. */
#define INTERVAL(clock, begin_reading, end_reading, k)                                             \
    static uint64_t clock##_##k(void)                                                              \
    {                                                                                              \
        uint64_t link = 1;                                                                         \
        /* measured region begins */                                                               \
        const uint64_t begin = begin_reading;                                                      \
        ADD_CHAIN(link, k);                                                                        \
        const uint64_t end = end_reading;                                                          \
        /* measured region ends */                                                                 \
        return end - begin;                                                                        \
    }

/* The same region at every batch size; the choice among them is outside the timed region. */
#define CLOCK(clock, begin_reading, end_reading)                                                   \
    INTERVAL(clock, begin_reading, end_reading, 0)                                                 \
    INTERVAL(clock, begin_reading, end_reading, 64)                                                \
    INTERVAL(clock, begin_reading, end_reading, 128)                                               \
    INTERVAL(clock, begin_reading, end_reading, 256)                                               \
    INTERVAL(clock, begin_reading, end_reading, 512)                                               \
    static uint64_t clock##_interval(long batch)                                                   \
    {                                                                                              \
        switch (batch) {                                                                           \
        case 64: return clock##_64();                                                              \
        case 128: return clock##_128();                                                            \
        case 256: return clock##_256();                                                            \
        case 512: return clock##_512();                                                            \
        default: return clock##_0();                                                               \
        }                                                                                          \
    }                                                                                              \
    static uint64_t clock##_read(void)                                                             \
    {                                                                                              \
        return end_reading;                                                                        \
    }

static const long batches[] = {0, 64, 128, 256, 512};

CLOCK(unfenced, counter_unfenced(), counter_unfenced())
CLOCK(fenced, counter_begin(), counter_end())
CLOCK(monotonic, ns_of(CLOCK_MONOTONIC), ns_of(CLOCK_MONOTONIC))
CLOCK(monotonic_raw, ns_of(CLOCK_MONOTONIC_RAW), ns_of(CLOCK_MONOTONIC_RAW))
CLOCK(realtime, ns_of(CLOCK_REALTIME), ns_of(CLOCK_REALTIME))
CLOCK(process_cpu, ns_of(CLOCK_PROCESS_CPUTIME_ID), ns_of(CLOCK_PROCESS_CPUTIME_ID))
CLOCK(thread_cpu, ns_of(CLOCK_THREAD_CPUTIME_ID), ns_of(CLOCK_THREAD_CPUTIME_ID))
CLOCK(gettimeofday, us_of_day(), us_of_day())

#define READS(clock)                                                                               \
    .interval = clock##_interval, .read = clock##_read, .estimand = ESTIMAND_OVERHEAD,             \
    .operation_cycles = ADDITION_CYCLES

static const struct variant variants[] = {
    {.name = "fenced", .about = "counter, fenced: waits for the work it times", READS(fenced)},
    {.name = "unfenced",
     .about = "counter, not fenced: does not wait for the work",
     READS(unfenced),
     .unfenced = 1},
    {.name = "monotonic",
     .about = "clock_gettime(CLOCK_MONOTONIC)",
     READS(monotonic),
     .frequency_hz = 1e9,
     .clock = "CLOCK_MONOTONIC"},
    {.name = "monotonic-raw",
     .about = "clock_gettime(CLOCK_MONOTONIC_RAW)",
     READS(monotonic_raw),
     .frequency_hz = 1e9,
     .clock = "CLOCK_MONOTONIC_RAW"},
    {.name = "realtime",
     .about = "clock_gettime(CLOCK_REALTIME)",
     READS(realtime),
     .frequency_hz = 1e9,
     .clock = "CLOCK_REALTIME"},
    {.name = "process-cpu",
     .about = "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
     READS(process_cpu),
     .frequency_hz = 1e9,
     .clock = "CLOCK_PROCESS_CPUTIME_ID"},
    {.name = "thread-cpu",
     .about = "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
     READS(thread_cpu),
     .frequency_hz = 1e9,
     .clock = "CLOCK_THREAD_CPUTIME_ID"},
    {.name = "gettimeofday",
     .about = "gettimeofday, in micro-seconds",
     READS(gettimeofday),
     .frequency_hz = 1e6,
     .clock = "gettimeofday"},
};

MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1, .samples = 10000)
