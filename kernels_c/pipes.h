/*
 * Pipes between two tasks, and the messages in them: to go on, or to end.
 */
#ifndef TICKLAB_PIPES_H
#define TICKLAB_PIPES_H

#include <unistd.h>

#include "harness.h"

enum side { MINE, THEIRS };
enum { GO = 1, END = 2 };

/* What is written to *out is read from *in. */
TICKLAB_INLINE void open_pipe(int *in, int *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        stop(STATUS_IMPOSSIBLE, "pipe: %s", strerror(errno));
    *in = ends[0];
    *out = ends[1];
}

/* A pipe in each direction. `in` and `out` are indexed by the side that reads or writes there. */
TICKLAB_INLINE void open_pipes_both_ways(int in[2], int out[2])
{
    open_pipe(&in[THEIRS], &out[MINE]);
    open_pipe(&in[MINE], &out[THEIRS]);
}

/* Send a message; returns whether it was sent. It has 8 bytes: an eventfd takes no fewer. */
TICKLAB_INLINE int send_message(int out, uint64_t message)
{
    return write(out, &message, sizeof message) == sizeof message;
}

/* Wait for a message; 0 if none will come any more. */
TICKLAB_INLINE uint64_t await_message(int in)
{
    uint64_t message = 0;
    return read(in, &message, sizeof message) == sizeof message ? message : 0;
}

/* The work of a peer: it sends back each GO, until something else comes. */
TICKLAB_INLINE void echo_each_go(int in, int out)
{
    while (await_message(in) == GO && send_message(out, GO))
        ;
}

#endif
