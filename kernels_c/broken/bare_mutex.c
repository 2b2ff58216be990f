/*
 * Wrong on purpose: a mutex makes no handoff, but each exchange is called two switches.
 * Repaired: thread_switch --variant condvar --samples 600 --processes 5
 * Run with: --samples 400 --warmup 20 --processes 4
 */
#define _GNU_SOURCE
#include "../other_thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int turn;

static void *other_side(void *unused)
{
    while (!over) {
        failed_calls |= pthread_mutex_lock(&mutex) != 0;
        turn = 1; /* the thread that gets the mutex has the turn, even many times in a row */
        failed_calls |= pthread_mutex_unlock(&mutex) != 0;
    }
    return unused;
}

static uint64_t exchanges(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) {
        failed |= pthread_mutex_lock(&mutex) != 0;
        turn = 0;
        failed |= pthread_mutex_unlock(&mutex) != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static void start(struct run *run)
{
    start_thread(other_side, first_place(run), first_place(run));
}

static const struct variant variants[] = {{.name = "condvar",
                                           .about = "a mutex and a flag",
                                           .interval = exchanges,
                                           .prepare = start,
                                           .finish = end_thread,
                                           .cannot = no_pinning,
                                           ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "thread_switch", .about = "what a thread switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
