/*
 * A second process to switch to: how it is started and ended.
 */
#ifndef TICKLAB_PEER_PROCESS_H
#define TICKLAB_PEER_PROCESS_H

#include <sys/wait.h>

#include "placement.h"

/* Start a peer process that does work(argument) until that returns, and dies with this one. */
static pid_t start_peer(void (*work)(void *), void *argument)
{
    const pid_t parent = getpid();
    const pid_t peer = fork();
    if (peer < 0)
        stop(STATUS_FAILED, "no peer process: fork: %s", strerror(errno));
    if (peer > 0)
        return peer;
    if (getppid() != parent)
        _exit(0); /* it has given up meanwhile, and said why */
    end_with_parent(parent);
    work(argument);
    _exit(0);
}

/* Wait for a peer whose end of the channel has been closed. */
static void await_peer(pid_t peer)
{
    int status = 0;
    while (waitpid(peer, &status, 0) < 0)
        if (errno != EINTR)
            stop(STATUS_FAILED, "waitpid: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        stop(STATUS_FAILED, "the peer process failed (wait status %d)", status);
}

#endif
