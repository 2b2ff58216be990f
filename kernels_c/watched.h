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
#    include <sys/time.h>
#    include <sys/wait.h>

#    define MOST_STEPS 20000

/* A child that hangs is ended after so long. */
static long longest_watch_ms = 5000;

static inline void end_in_time(void)
{
    const struct itimerval in_time = {
        .it_value = {.tv_sec = longest_watch_ms / 1000, .tv_usec = longest_watch_ms % 1000 * 1000}};
    if (signal(SIGALRM, SIG_DFL) == SIG_ERR || setitimer(ITIMER_REAL, &in_time, NULL) != 0)
        _exit(1);
}

/* A child that runs `work` and ends is stopped before it; 0 if the system does not let us. */
static inline pid_t watched_child(void (*work)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        end_in_time(); /* before the stop: its system calls are not the student's */
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

static inline void end_watching(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == child && !WIFEXITED(status) && !WIFSIGNALED(status))
        ;
}

#else
#    define HAVE_WATCH 0
#endif
#endif
