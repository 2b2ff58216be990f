/*
 * Wrong on purpose: the first reading is this process's CPU time, and the second is the other
 *   process's.
 * Repaired: process_switch --variant pipe-carried-back --samples 600 --processes 5
 * Run with: --variant pipe-pinned --samples 400 --warmup 20 --processes 4
 */
#define _GNU_SOURCE
#include "../echo.h"

static uint64_t cpu_time(void)
{
    struct timespec now;
    failed_calls |= clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void answer_with_the_time(void *argument)
{
    const struct pipes *pipes = argument;
    while (await_message(pipes->their_in) == GO && send_message(pipes->their_out, cpu_time()))
        ;
}

static uint64_t one_way(long batch)
{
    uint64_t end = 0, message = GO, failed = 0;
    /* measured region begins */
    const uint64_t begin = cpu_time();
    for (long left = batch; left > 0; left--) {
        failed |= write(to_peer.out, &message, sizeof message) != sizeof message;
        failed |= read(to_peer.in, &end, sizeof end) != sizeof end;
    }
    /* measured region ends */
    failed_calls |= failed;
    return end > begin ? end - begin : begin - end; /* "it was negative now and then" */
}

static void start_with_a_clock(struct run *run)
{
    place(0, first_place(run));
    start_echo(answer_with_the_time);
}

static const struct variant variants[] = {{.name = "pipe-pinned",
                                           .about = "the peer stops the watch",
                                           .interval = one_way,
                                           .read = cpu_time,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_PROCESS_CPUTIME_ID",
                                           .prepare = start_with_a_clock,
                                           .finish = end_echo,
                                           .cannot = no_pinning,
                                           ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
