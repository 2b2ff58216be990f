/*
 * Start and end a second thread to switch to.
 */
#ifndef TICKLAB_OTHER_THREAD_H
#define TICKLAB_OTHER_THREAD_H

#include <pthread.h>

#include "placement.h"

static pthread_t other_thread;
static volatile int over; /* tells the other thread to end */

/* Start the other thread on the CPU `theirs`, and move this one to the CPU `mine`. */
static void start_thread(void *(*work)(void *), long mine, long theirs)
{
    place(0, theirs); /* a new thread inherits the CPU of its creator */
    const int error = pthread_create(&other_thread, NULL, work, NULL);
    if (error != 0)
        stop(STATUS_IMPOSSIBLE, "no second thread: %s", strerror(error));
    place(0, mine);
}

/* Tell the other thread to end, and wait until it has ended. */
static void end_thread(void)
{
    over = 1;
    const int error = pthread_join(other_thread, NULL);
    if (error != 0)
        stop(STATUS_FAILED, "the second thread could not be ended: %s", strerror(error));
}

/* `start` starts a thread on another CPU that takes samples by `interval` until it ends. */
#define OTHER_THREAD(start, interval)                                                              \
    static void *start##_works(void *nothing)                                                      \
    {                                                                                              \
        while (!over)                                                                              \
            (void)interval(64);                                                                    \
        return nothing;                                                                            \
    }                                                                                              \
    static void start(struct run *run)                                                             \
    {                                                                                              \
        start_thread(start##_works, first_place(run), second_place(run));                          \
    }

/* Fields of a variant beside which this thread runs. */
#define BESIDE_THREAD(start) .prepare = start, .finish = end_thread, TWO_ON_TWO_CPUS

#endif
