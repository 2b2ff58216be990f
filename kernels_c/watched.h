/*
 * What a student's code does, seen from outside: a child of this process runs it once more, and
 * this process watches the child with ptrace(), instruction by instruction or system call by system
 * call.
 *
 * Nothing of this is timed: it comes after the last sample. If the system does not let a process
 * watch its child (macOS, some filters of system calls, a run under strace or a debugger), nothing
 * is counted, and the recording states nothing of it.
 */
#ifndef TICKLAB_WATCHED_H
#define TICKLAB_WATCHED_H

#include "harness.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#    define HAVE_WATCH 1
#    include <signal.h>
#    include <sys/ptrace.h>
#    include <sys/syscall.h>
#    include <sys/wait.h>

#    define MOST_STEPS   20000
#    define MOST_SECONDS 5 /* a child that hangs is ended */

/* A child that runs `work` and ends is stopped before it; 0 if the system does not let us. */
static pid_t watched_child(void (*work)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(MOST_SECONDS); /* before the stop: its system call is not the student's */
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || kill(getpid(), SIGSTOP) != 0)
            _exit(1);
        work();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 0;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) == 0)
        return child;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 0;
}

static void end_watching(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == child && !WIFEXITED(status) && !WIFSIGNALED(status))
        ;
}

/* Let the child go on to its next stop by `request`; whether it stopped there with `signal`. */
static inline int stops_again(long request, pid_t child, int signal)
{
    int status = 0;
    if (syscall(SYS_ptrace, request, (long)child, 0L, 0L) != 0)
        return 0;
    return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

#else
#    define HAVE_WATCH 0
#endif
#endif
