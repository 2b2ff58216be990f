/*
 * Wrong on purpose: the clock counts this process's CPU time, and stands still while the other one
 *   runs.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 600 --warmup 20 --processes 5
 */
#define _GNU_SOURCE
#include "../echo.h"

static uint64_t cpu_time(void)
{
    struct timespec now;
    failed_calls |= clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t timed(const struct pipes *pipes, long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = cpu_time();
    for (long left = batch; left > 0 && !failed; left--)
        failed |= !send_and_receive(pipes);
    const uint64_t end = cpu_time();
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

#define CPU_TIME          .read = cpu_time, .frequency_hz = 1e9, .clock = "CLOCK_PROCESS_CPUTIME_ID"
#define PEER              .prepare = start_echo_on_one_cpu, .finish = end_echo, .cannot = no_pinning
#define HALF_A_ROUND_TRIP .baseline = "self-pipe", .baseline_times = 2, .parts = 2, .switches = 2

static const struct variant variants[] = {{.name = "pipe-pinned",
                                           .about = "by pipe",
                                           .interval = there_and_back,
                                           CPU_TIME,
                                           PEER,
                                           HALF_A_ROUND_TRIP,
                                           TWO_ON_ONE_CPU},
                                          {.name = "self-pipe",
                                           .about = "the calls alone",
                                           .interval = calls_alone,
                                           CPU_TIME,
                                           .prepare = open_own_pipe}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
