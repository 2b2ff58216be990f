/*
 * Place two tasks: on one CPU, on two, or wherever the OS puts them.
 *
 * If no task can be bound to a CPU (on macOS, under a filter of system calls, or if built with
 * -DTICKLAB_NO_PINNING), a variant that belongs on one CPU is measured only with --place anywhere.
 * Its tasks are then wherever the OS puts them, and the run says so. A machine with a single CPU
 * needs no pinning.
 */
#ifndef TICKLAB_PLACEMENT_H
#define TICKLAB_PLACEMENT_H

#include "harness.h"

#if defined(__linux__)
static cpu_set_t allowed_at_start; /* before anything was pinned */

__attribute__((constructor)) static void remember_allowed_cpus(void)
{
    if (sched_getaffinity(0, sizeof allowed_at_start, &allowed_at_start) != 0)
        CPU_ZERO(&allowed_at_start);
}
#endif

/* The n-th CPU, from 0 on, of those that the program could use when it began; -1 if there are
 * fewer. */
static long nth_cpu(int n)
{
#if defined(__linux__)
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed_at_start) && n-- == 0)
            return cpu;
#endif
    (void)n;
    return -1;
}

/* Whether all tasks are on one CPU in any case, because there is no other. */
static int is_only_cpu(void)
{
    if (nth_cpu(0) >= 0)
        return nth_cpu(1) < 0;
    return sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

/* Why two tasks cannot be kept on one CPU; NULL: they can, or no pinning is needed. */
TICKLAB_INLINE const char *no_pinning(void)
{
    static char told[256];
    if (place_anywhere || is_only_cpu() || why_no_pinning() == NULL)
        return NULL;
    snprintf(told, sizeof told, "%s; --place anywhere measures wherever the OS puts the tasks",
             why_no_pinning());
    return told;
}

/* Why two tasks cannot have a CPU each; NULL: they can. */
TICKLAB_INLINE const char *no_second_cpu(void)
{
    if (is_only_cpu())
        return "this process may use one CPU only";
    if (place_anywhere && why_no_pinning() == NULL)
        return "--place anywhere gives no task a CPU of its own";
    return why_no_pinning();
}

/* What a variant declares if it has one peer, on the same CPU. */
#define TWO_ON_ONE_CPU .placement = PLACED_ON_ONE_CPU, .other_tasks = 1

/* The same with its peer on another CPU. */
#define TWO_ON_TWO_CPUS .placement = PLACED_ON_TWO_CPUS, .other_tasks = 1

/* The same for a round trip to a peer: the figure is half of it, for one of its two switches. */
#define ROUND_TRIP_ON_ONE_CPU .parts = 2, .switches = 2, TWO_ON_ONE_CPU

/* Bind a task (0: the caller; else a process or thread id of Linux) to one CPU; ANY_CPU: to none. */
enum { ANY_CPU = -1 };

static void place(pid_t task, long cpu)
{
    if (place_anywhere || why_no_pinning() != NULL)
        return;
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

/* Make the OS let this task, and all tasks that it starts, run until they wait. Otherwise a task
 * that is woken may interrupt the one that woke it. */
TICKLAB_INLINE void run_until_it_waits(void)
{
#if defined(__linux__)
    const struct sched_param no_priority = {.sched_priority = 0};
    if (sched_setscheduler(0, SCHED_BATCH, &no_priority) != 0)
        stop(STATUS_IMPOSSIBLE, "the OS refused the policy SCHED_BATCH: %s", strerror(errno));
#endif
}

/* The CPU for the first task: the one asked for, else the first allowed. */
TICKLAB_INLINE long first_place(const struct run *run)
{
    return run->options.cpu != NOT_PINNED ? run->options.cpu : nth_cpu(0);
}

/* The CPU for a second task on another CPU: the one asked for, else another allowed one. */
TICKLAB_INLINE long second_place(const struct run *run)
{
    if (run->options.peer_cpu != NOT_PINNED && run->options.peer_cpu == first_place(run))
        stop(STATUS_USAGE,
             "--peer-cpu %ld: the first task is on that CPU, and this variant is of two CPUs; "
             "choose another one",
             run->options.peer_cpu);
    if (run->options.peer_cpu != NOT_PINNED)
        return run->options.peer_cpu;
    return nth_cpu(0) != first_place(run) ? nth_cpu(0) : nth_cpu(1);
}

#endif
