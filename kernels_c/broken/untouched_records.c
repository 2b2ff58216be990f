/*
 * Wrong on purpose: time stamps go to memory that was never touched, and the mean is over all of
 *   them.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5 --warmup 0
 *
 * The first touch of each page is a page fault inside the timed region. Most samples show the
 * clock, and one in eight shows the OS kernel providing a page.
 */
#define _GNU_SOURCE
#include "../harness.h"

static uint64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

struct record {
    uint64_t begin, end;
    char note[496];
};

static struct record records[1 << 16];

static uint64_t interval(long batch)
{
    static unsigned next;
    (void)batch;
    volatile struct record *record = &records[next++ % (1 << 16)];
    /* measured region begins */
    const uint64_t begin = now();
    record->begin = begin;
    record->end = now();
    /* measured region ends */
    return record->end - begin;
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "a pair of readings, both kept",
                                           .interval = interval,
                                           .read = now,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_MONOTONIC",
                                           .estimand = ESTIMAND_OVERHEAD}};
static const long batches[] = {0};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
