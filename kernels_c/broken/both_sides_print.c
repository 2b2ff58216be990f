/*
 * Wrong on purpose: each side reads a clock of its own, and the result of the peer is taken.
 * Repaired: thread_switch --variant pipe --samples 600 --processes 5
 * Run with: --variant pipe,pipe-by-the-peer --samples 600 --warmup 20 --processes 5
 */
#define _GNU_SOURCE
#include "../echo.h"
#include "../other_thread.h"

static uint64_t waited, reads; /* ticks of the peer in its reads; the number of reads */

static void *echo_and_watch(void *unused)
{
    for (uint64_t message;;) {
        const uint64_t begin = counter_begin();
        if (read(to_peer.their_in, &message, sizeof message) != sizeof message)
            return unused;                                 /* the pipe is closed */
        waited += reads++ > 0 ? counter_end() - begin : 0; /* the first began before the sample */
        failed_calls |= write(to_peer.their_out, &message, sizeof message) != sizeof message;
    }
}

static uint64_t by_this_thread(long batch)
{
    waited = reads = 0;
    const uint64_t begin = counter_begin(); /* measured region begins */
    for (long left = batch; left > 0; left--)
        failed_calls |= !send_and_receive(&to_peer);
    return counter_end() - begin; /* measured region ends */
}

static uint64_t by_the_peer(long batch)
{
    return by_this_thread(batch) > 0 ? waited : 0;
}

static void start(struct run *run)
{
    run_until_it_waits(); /* else a read may find its message there */
    open_pipes(&to_peer);
    start_thread(echo_and_watch, first_place(run), first_place(run));
}

static void end(void)
{
    failed_calls |= close(to_peer.out) != 0;
    end_thread();
}

static const struct variant variants[] = {
    {.name = "pipe",
     .about = "",
     .interval = by_this_thread,
     .prepare = start,
     .finish = end,
     ROUND_TRIP_ON_ONE_CPU},
    {.name = "pipe-by-the-peer", .about = "", .interval = by_the_peer, ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {2, 4, 8, 16};
MEASURE(.name = "thread_switch", .about = "", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
