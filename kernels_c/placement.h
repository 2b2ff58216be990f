/*
 * Where two tasks are placed: on one CPU, on two, or wherever the OS likes.
 */
#ifndef TICKLAB_PLACEMENT_H
#define TICKLAB_PLACEMENT_H

#include "harness.h"

#if defined(__linux__)
#    define HAVE_PINNING 1
#else
#    define HAVE_PINNING 0
#endif

#if HAVE_PINNING
static cpu_set_t allowed_at_start; /* before anything was pinned */

__attribute__((constructor)) static void remember_allowed_cpus(void)
{
    if (sched_getaffinity(0, sizeof allowed_at_start, &allowed_at_start) != 0)
        CPU_ZERO(&allowed_at_start);
}
#endif

/* The n-th CPU (from 0) that the program might use when it began; -1: there are not so many. */
static long nth_cpu(int n)
{
#if HAVE_PINNING
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed_at_start) && n-- == 0)
            return cpu;
#endif
    (void)n;
    return -1;
}

/* Why two tasks cannot be put on one CPU, or on two; NULL: they can. */
static const char *no_pinning(void)
{
    return HAVE_PINNING && nth_cpu(0) >= 0 ? NULL : "this system offers no pinning";
}

TICKLAB_INLINE const char *no_second_cpu(void)
{
    const char *why = no_pinning();
    if (why != NULL)
        return why;
    return nth_cpu(1) >= 0 ? NULL : "this process may use one CPU only";
}

/* Bind a task (0: the caller; else a process or thread id of Linux) to one CPU; ANY_CPU: to none. */
enum { ANY_CPU = -1 };

static void place(pid_t task, long cpu)
{
#if HAVE_PINNING
    cpu_set_t wanted = allowed_at_start;
    if (cpu != ANY_CPU) {
        CPU_ZERO(&wanted);
        CPU_SET((int)cpu, &wanted);
    }
    if (sched_setaffinity(task, sizeof wanted, &wanted) != 0)
        stop(STATUS_IMPOSSIBLE, "CPU %ld: the OS refused to pin: %s", cpu, strerror(errno));
#else
    (void)task;
    (void)cpu;
#endif
}

/* The CPU for the first task: the one asked for, else the first allowed. */
TICKLAB_INLINE long first_place(const struct run *run)
{
    return run->options.cpu != NOT_PINNED ? run->options.cpu : nth_cpu(0);
}

/* The CPU for a second task that is to be elsewhere: the one asked for, else another allowed one. */
TICKLAB_INLINE long second_place(const struct run *run)
{
    if (run->options.peer_cpu != NOT_PINNED)
        return run->options.peer_cpu;
    return nth_cpu(0) != first_place(run) ? nth_cpu(0) : nth_cpu(1);
}

#endif
