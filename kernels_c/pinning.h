/*
 * Bind a task to a CPU: whether that can be done here, and on which CPUs it may be.
 */
#ifndef TICKLAB_PINNING_H
#define TICKLAB_PINNING_H

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#if defined(__linux__) && !defined(TICKLAB_NO_PINNING)
#    define HAVE_PINNING 1
#else
#    define HAVE_PINNING 0
#endif

/* The CPU that this task runs on now; -1 if the system does not say. */
static int cpu_now(void)
{
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

#if defined(__linux__)
/* The CPUs of a set as text, such as "0-3,6": the format of /proc/self/status. */
static const char *cpus_in_words(const cpu_set_t *set)
{
    static char words[4096];
    size_t used = 0;
    words[0] = '\0';
    for (int first = 0; first < CPU_SETSIZE; first++) {
        if (!CPU_ISSET(first, set))
            continue;
        int last = first;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        const char *comma = used > 0 ? "," : "";
        const int wrote =
            last > first
                ? snprintf(words + used, sizeof words - used, "%s%d-%d", comma, first, last)
                : snprintf(words + used, sizeof words - used, "%s%d", comma, first);
        if (wrote < 0 || (size_t)wrote >= sizeof words - used)
            break;
        used += (size_t)wrote;
        first = last;
    }
    return words;
}
#endif

/* Why no task can be bound to a CPU here; NULL: it can. This is tried once. The attempt changes
 * nothing, because it binds this task to the CPUs that it may use already. */
static const char *why_no_pinning(void)
{
#if HAVE_PINNING
    static int tried;
    static char refused[128];
    cpu_set_t set;
    if (!tried++ && (sched_getaffinity(0, sizeof set, &set) != 0 ||
                     sched_setaffinity(0, sizeof set, &set) != 0))
        snprintf(refused, sizeof refused, "the OS refuses to pin: %s", strerror(errno));
    return refused[0] != '\0' ? refused : NULL;
#elif defined(TICKLAB_NO_PINNING)
    return "-DTICKLAB_NO_PINNING leaves pinning out";
#else
    return "this system offers no pinning";
#endif
}

/* If nothing can be pinned, print why: the machine cannot, or it was left out on purpose. */
static void print_pinning(void)
{
#if defined(TICKLAB_NO_PINNING)
    const char *kind = "left out";
#else
    const char *kind = "none";
#endif
    if (why_no_pinning() != NULL)
        printf("# cpu.pinning: %s: %s\n", kind, why_no_pinning());
    if (place_anywhere)
        printf("# cpu.place: anywhere\n");
}

/* The CPUs that this process may use, as text. */
static const char *cpus_allowed(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return "unknown";
    return cpus_in_words(&set);
#else
    return "unknown";
#endif
}

/* Stop if this process may not use the CPU that was asked for. */
static void must_be_allowed(const char *option, long cpu)
{
    if (cpu == NOT_PINNED)
        return;
#if HAVE_PINNING
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        stop(STATUS_IMPOSSIBLE, "--%s %ld: the set of allowed CPUs cannot be read: %s", option, cpu,
             strerror(errno));
    if (cpu >= CPU_SETSIZE || !CPU_ISSET((int)cpu, &allowed))
        stop(STATUS_USAGE,
             "--%s %ld: outside the set this process may use (%s); choose one of those", option,
             cpu, cpus_in_words(&allowed));
#else
    stop(STATUS_IMPOSSIBLE, "--%s %ld: %s; leave the option out", option, cpu, why_no_pinning());
#endif
}

/* Bind the calling task to one CPU; stop the program if that fails. */
static void pin_to(const char *option, long cpu)
{
    must_be_allowed(option, cpu);
#if HAVE_PINNING
    cpu_set_t wanted;
    if (cpu == NOT_PINNED)
        return;
    CPU_ZERO(&wanted);
    CPU_SET((int)cpu, &wanted);
    if (sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        stop(STATUS_IMPOSSIBLE, "--%s %ld: the OS refused to pin: %s", option, cpu,
             strerror(errno));
#endif
}

/* Go to a CPU, and then leave the choice to the OS again. It moves a task only if that pays. */
static void begin_on(long cpu)
{
#if HAVE_PINNING
    cpu_set_t allowed;
    if (cpu == NOT_PINNED || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    pin_to("begin-on", cpu);
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0)
        stop(STATUS_IMPOSSIBLE, "--begin-on %ld: the OS keeps the task there: %s", cpu,
             strerror(errno));
#else
    (void)cpu;
#endif
}

#endif
