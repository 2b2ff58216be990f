/*
 * Wrong on purpose: neither process is bound to a CPU, so each may have its own CPU.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 200 --warmup 20 --processes 4
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

static void start_anywhere(struct run *run)
{
    (void)run; /* its options say where the processes belong, but are not used */
    start_echo(echo);
}

static const struct variant variants[] = {
    {.name = "pipe-pinned",
     .about = "by pipe, as one believes on one CPU",
     .interval = there_and_back,
     .prepare = start_anywhere,
     .finish = end_echo,
     .baseline = "self-pipe",
     .baseline_times = 2,
     ROUND_TRIP_ON_ONE_CPU},
    {.name = "self-pipe", .interval = calls_alone, .prepare = open_own_pipe}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
