/*
 * Wrong on purpose: the thread raises the same semaphore that it then waits for.
 * Repaired: thread_switch --variant condvar --samples 600 --processes 5
 * Run with: --samples 400 --warmup 20 --processes 4
 */
#define _GNU_SOURCE
#include <semaphore.h>

#include "../other_thread.h"

static sem_t turn; /* one semaphore for both directions */

static void *other_side(void *unused)
{
    while (!over)
        failed_calls |= sem_wait(&turn) != 0 || sem_post(&turn) != 0;
    return unused;
}

static uint64_t exchanges(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) {
        failed |= sem_post(&turn) != 0; /* your turn */
        failed |= sem_wait(&turn) != 0; /* mine again: who was faster? */
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static void start(struct run *run)
{
    failed_calls |= sem_init(&turn, 0, 0) != 0;
    start_thread(other_side, first_place(run), first_place(run));
}

static void end(void)
{
    over = 1;
    failed_calls |= sem_post(&turn) != 0;
    end_thread();
}

static const struct variant variants[] = {{.name = "condvar",
                                           .about = "by semaphore",
                                           .interval = exchanges,
                                           .prepare = start,
                                           .finish = end,
                                           .cannot = no_pinning,
                                           ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "thread_switch", .about = "what a thread switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
