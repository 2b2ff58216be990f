/*
 * Wrong on purpose: half a round trip is printed as a switch, although it includes a write and a
 *   read.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 600 --warmup 20 --processes 5
 */
#define _GNU_SOURCE
#include "../echo.h"

static uint64_t there_and_back(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--)
        failed |= !send_and_receive(&to_peer);
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {
    {.name = "pipe-pinned",
     .about = "by pipe, nothing subtracted",
     .interval = there_and_back,
     .prepare = start_echo_on_one_cpu,
     .finish = end_echo,
     .cannot = no_pinning,
     .parts = 2, /* without a baseline: the same calls without a switch */
     .switches = 2,
     TWO_ON_ONE_CPU}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
