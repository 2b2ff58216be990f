/*
 * Which samples were preempted: another program had the CPU during a part of them.
 *
 * A sample that creates tasks on one CPU and waits for each of them never leaves this CPU idle. So
 * its time is the CPU time of its tasks, and what others took in between. The OS counts the CPU
 * time of this process and of the children that it has waited for, to the microsecond. It counts
 * no switch when a child waits for the CPU while its parent sleeps, and a child of vfork switches
 * once for reasons of its own: so the number of switches shows less.
 *
 * A sample also counts as preempted if others had the CPU outside its timed regions, as while it
 * waits for a child: they leave their own data in the caches. With 64 MB in memory, beside eight
 * busy programs on two CPUs, the next fork then took 2.0 ms of CPU time instead of 1.0.
 */
#ifndef TICKLAB_PREEMPTED_H
#define TICKLAB_PREEMPTED_H

#include "conditions.h"
#include "counter.h"
#include "declared.h"

/* Shorter samples are hardly ever preempted, and a microsecond is too much of them. */
enum { SHORTEST_JUDGED_US = 100 };

/* As a share of the timed region. Interrupts take some of every CPU. */
static const double MOST_FOR_OTHERS = 0.1;

/* From before a sample to after it, with its waits: the ticks that passed, and the CPU time of this
 * process and of the children that ended. */
struct cpu_use {
    uint64_t ticks;
    long us;
};

static long cpu_us(struct rusage usage)
{
    return 1000000L * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

/* Whether others had the CPU for so long during a sample whose timed region took `ticks`. */
static int was_preempted(const struct cpu_use *use, uint64_t ticks, double ticks_per_us)
{
    const double region_us = (double)ticks / ticks_per_us;
    const double others_us = (double)use->ticks / ticks_per_us - (double)use->us;
    return region_us > (double)SHORTEST_JUDGED_US && others_us > MOST_FOR_OTHERS * region_us;
}

/* Characters of the longest range, of two numbers with 19 digits each. */
enum { LONGEST_RANGE = 40 };

/* Add " 3-7" or " 3" to a text; whether it fits. */
static int add_range(char *text, size_t size, long first, long last)
{
    const size_t used = strlen(text);
    const int wrote = last > first ? snprintf(text + used, size - used, " %ld-%ld", first, last)
                                   : snprintf(text + used, size - used, " %ld", first);
    if (wrote >= 0 && (size_t)wrote < size - used)
        return 1;
    text[used] = '\0';
    return 0;
}

#endif
