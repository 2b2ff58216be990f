/*
 * Wrong on purpose: the signal is sent under the mutex, so the woken thread blocks on the mutex.
 * Repaired: thread_switch --variant condvar --samples 600 --processes 5
 */
#define _GNU_SOURCE
#include "../other_thread.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn; /* 0: of this thread, 1: of the other */

static int hand_over_and_await(int own)
{
    int failed = pthread_mutex_lock(&mutex);
    turn = !own;
    failed |= pthread_cond_signal(&changed); /* and the mutex is still held */
    failed |= sched_yield();
    while (turn != own && !over)
        failed |= pthread_cond_wait(&changed, &mutex);
    return failed | pthread_mutex_unlock(&mutex);
}

static void *other_side(void *unused)
{
    while (!over)
        failed_calls |= hand_over_and_await(1) != 0;
    return unused;
}

static uint64_t exchanges(long batch)
{
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--)
        failed_calls |= hand_over_and_await(0) != 0;
    const uint64_t end = counter_end();
    return end - begin; /* measured region ends */
}

static void start(struct run *run)
{
    start_thread(other_side, first_place(run), first_place(run));
}

static void end(void)
{
    failed_calls |= pthread_mutex_lock(&mutex) != 0;
    over = 1;
    failed_calls |= pthread_cond_signal(&changed) != 0 || pthread_mutex_unlock(&mutex) != 0;
    end_thread();
}

static const struct variant variants[] = {{.name = "condvar",
                                           .about = "",
                                           .interval = exchanges,
                                           .prepare = start,
                                           .finish = end,
                                           ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {2, 4, 8, 16};
MEASURE(.name = "thread_switch", .about = "", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
