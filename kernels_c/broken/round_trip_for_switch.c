/*
 * Wrong on purpose: a round trip, which holds two switches, is printed as one.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 600 --warmup 20 --processes 5
 */
#define _GNU_SOURCE
#include "../echo.h"

static uint64_t timed(const struct pipes *pipes, long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--)
        failed |= !send_and_receive(pipes);
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static uint64_t there_and_back(long batch)
{
    return timed(&to_peer, batch);
}

static uint64_t calls_alone(long batch)
{
    return timed(&to_oneself, batch);
}

static const struct variant variants[] = {
    {.name = "pipe-pinned",
     .about = "by pipe, there and back",
     .interval = there_and_back,
     .prepare = start_echo_on_one_cpu,
     .finish = end_echo,
     .cannot = no_pinning,
     .baseline = "self-pipe",
     .baseline_times = 2,
     .parts = 1, /* there and back are two switches */
     .switches = 2,
     TWO_ON_ONE_CPU},
    {.name = "self-pipe", .interval = calls_alone, .prepare = open_own_pipe}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
