/*
 * Pipes to a peer process and back; the peer sends back what it gets. And a pipe from this process
 * to itself, without a peer.
 */
#ifndef TICKLAB_ECHO_H
#define TICKLAB_ECHO_H

#include "peer_process.h"

struct pipes {
    int out, in;             /* of this process */
    int their_in, their_out; /* of the peer, if there is one */
    pid_t peer;
};

static struct pipes to_peer, to_oneself;

/* Send a message and wait for one. Returns whether both worked. */
TICKLAB_INLINE int send_and_receive(const struct pipes *pipes)
{
    uint64_t message = GO;
    return write(pipes->out, &message, sizeof message) == sizeof message &&
           read(pipes->in, &message, sizeof message) == sizeof message;
}

/* The work of the peer: it sends back each message until END comes. */
TICKLAB_INLINE void echo(void *argument)
{
    const struct pipes *pipes = argument;
    echo_each_go(pipes->their_in, pipes->their_out);
}

TICKLAB_INLINE void open_own_pipe(struct run *run)
{
    (void)run;
    open_pipe(&to_oneself.in, &to_oneself.out);
}

static void open_pipes(struct pipes *pipes)
{
    open_pipe(&pipes->their_in, &pipes->out);
    open_pipe(&pipes->in, &pipes->their_out);
}

/* Start the peer; it inherits the CPU of this process, if that is bound to one. */
TICKLAB_INLINE void start_echo(void (*work)(void *))
{
    open_pipes(&to_peer);
    to_peer.peer = start_peer(work, &to_peer);
}

TICKLAB_INLINE void start_echo_on_one_cpu(struct run *run)
{
    place(0, first_place(run));
    start_echo(echo);
}

TICKLAB_INLINE void end_echo(void)
{
    end_peer(to_peer.out, to_peer.peer);
}

#endif
