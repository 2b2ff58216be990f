/*
 * Wrong on purpose: both sides exchange messages of 0 bytes, so nobody waits and nobody is woken.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 600 --warmup 20 --processes 5
 */
#define _GNU_SOURCE
#include "../echo.h"

static uint64_t there_and_back(long batch)
{
    char message[1];
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) {
        failed |= write(to_peer.out, message, 0) != 0;
        failed |= read(to_peer.in, message, 0) != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "pipe-pinned",
                                           .about = "by pipe, with messages of 0 bytes",
                                           .interval = there_and_back,
                                           .prepare = start_echo_on_one_cpu,
                                           .finish = end_echo,
                                           .cannot = no_pinning,
                                           .parts = 2,
                                           .switches = 2,
                                           TWO_ON_ONE_CPU}};
static const long batches[] = {1, 2, 4, 6};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
