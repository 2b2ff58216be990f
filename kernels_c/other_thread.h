/*
 * A second thread to switch to: how it is started and ended.
 */
#ifndef TICKLAB_OTHER_THREAD_H
#define TICKLAB_OTHER_THREAD_H

#include <pthread.h>

#include "placement.h"

static pthread_t other_thread;
static volatile int over; /* the other thread is to end */

/* Start the other thread on one CPU, and stand on another or the same. */
static void start_thread(void *(*work)(void *), long mine, long theirs)
{
    place(0, theirs); /* a new thread inherits the place of its maker */
    const int error = pthread_create(&other_thread, NULL, work, NULL);
    if (error != 0)
        stop(STATUS_IMPOSSIBLE, "no second thread: %s", strerror(error));
    place(0, mine);
}

/* Wait for its end, once it can see that it is over. */
static void end_thread(void)
{
    over = 1;
    const int error = pthread_join(other_thread, NULL);
    if (error != 0)
        stop(STATUS_FAILED, "the second thread could not be ended: %s", strerror(error));
}

#endif
