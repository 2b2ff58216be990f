/*
 * Start and end a second process to switch to.
 */
#ifndef TICKLAB_PEER_PROCESS_H
#define TICKLAB_PEER_PROCESS_H

#include <sys/wait.h>

#include "pipes.h"
#include "placement.h"

/* Handler of SIGCHLD: without its peer this process would wait for an answer for ever. */
static void end_without_peer(int number)
{
    static const char *const unbound =
        "a peer process cannot be bound to this one by prctl, getppid\n";
    static const char *const gone = "a peer process has ended before its time\n";
    static const char *const astray =
        "a peer process used an address where it has no memory: how far "
        "do its loops go, and where do its pointers point?\n";
    int status = 0;
    (void)number;
    if (all_taken || waitpid(-1, &status, WNOHANG) <= 0)
        return;
    const int impossible = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_IMPOSSIBLE;
    const int no_memory =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
    const char *words = impossible ? unbound : no_memory ? astray : gone;
    const ssize_t told = write(STDERR_FILENO, words, strlen(words));
    _exit(impossible && told > 0 ? STATUS_IMPOSSIBLE : STATUS_FAILED);
}

/* In a peer: end when the parent ends, for whatever reason. */
static void stay_with(pid_t parent)
{
#if defined(__linux__)
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(STATUS_IMPOSSIBLE);
#endif
    if (getppid() != parent)
        _exit(STATUS_IMPOSSIBLE);
}

/* Start a peer process that does work(argument) and then ends. It also ends when this one ends. */
static pid_t start_peer(void (*work)(void *), void *argument)
{
    struct sigaction at_end = {.sa_handler = end_without_peer,
                               .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    if (sigemptyset(&at_end.sa_mask) != 0 || sigaction(SIGCHLD, &at_end, NULL) != 0)
        stop(STATUS_FAILED, "sigaction: %s", strerror(errno));
    const pid_t parent = getpid();
    const pid_t peer = fork();
    if (peer < 0)
        stop(STATUS_IMPOSSIBLE, "no peer process: fork: %s", strerror(errno));
    if (peer > 0) {
        note_peer(peer);
        return peer;
    }
    stay_with(parent);
    work(argument);
    _exit(0);
}

/* Wait until a peer has ended; stop the program if the peer failed. */
static void await_peer(pid_t peer)
{
    int status = 0;
    while (waitpid(peer, &status, 0) < 0)
        if (errno != EINTR)
            stop(STATUS_FAILED, "waitpid: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        stop(STATUS_FAILED, "the peer process failed (wait status %d)", status);
}

/* Send END to a peer, and wait until it has ended. */
TICKLAB_INLINE void end_peer(int out, pid_t peer)
{
    if (!send_message(out, END))
        stop(STATUS_FAILED, "the peer process is gone");
    await_peer(peer);
}

#endif
