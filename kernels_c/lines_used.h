/*
 * Which cache lines of a working set does a student's C use?
 *
 * No time can show that, so the run finds out after its last sample. It changes one line after
 * another and uses the set again. The line was read if keep() now gets something else, and written
 * if it no longer holds what the run put there. So any sum, any order and any stride may be taken,
 * as long as keep() gets something that depends on every line.
 */
#ifndef TICKLAB_LINES_USED_H
#define TICKLAB_LINES_USED_H

#if defined(__APPLE__)
#    include <sys/sysctl.h>
#endif

#include "ring.h"

enum { SHORTEST_LINE = 64, LONGEST_LINE = 256 };
enum { LEAST_TRIED = 64, LONGEST_TRIAL_MS = 250 };
/* How often a line is changed before it counts as not used: two contents may have the same sum. */
enum { MOST_CHANGES = 3 };

/* What keep() got while the run listens, which it never does in a timed region. */
static int listening;
static unsigned kept; /* the sum */
static long keeps;    /* the calls */

/* Make the compiler compute this value, and everything that it is computed from. */
TICKLAB_INLINE void keep(unsigned value)
{
    __asm__ volatile("" : : "r"(value));
    if (listening) {
        kept += value;
        keeps++;
    }
}

/* How what keep() gets follows from the set: anew for each use, or on top of the use before. */
enum { ANEW, ADDED, COMBINED, KINDS };

struct listener {
    const struct task *task;
    void (*use)(const struct task *task);
    int kind;
    unsigned last, step;
};

/* What a use of an unchanged set repeats. */
static unsigned step_of_use(int kind, unsigned before, unsigned now)
{
    return kind == ANEW ? now : kind == ADDED ? now - before : now ^ before;
}

/* Use the set; returns whether keep() got something else than an unchanged set gives. */
static int use_tells(struct listener *listener)
{
    kept = 0;
    keeps = 0;
    listening = 1;
    listener->use(listener->task);
    listening = 0;
    const unsigned step = step_of_use(listener->kind, listener->last, kept);
    const int told = step != listener->step;
    listener->last = kept;
    listener->step = step;
    return told;
}

/* Find out what an unchanged set repeats; returns whether it repeats anything. */
static int listens(struct listener *listener)
{
    for (listener->kind = ANEW; listener->kind < KINDS; listener->kind++) {
        for (int i = 0; i < 2; i++)
            (void)use_tells(listener);
        if (!use_tells(listener) && !use_tells(listener))
            return 1;
    }
    return 0;
}

static int uses_line(struct listener *listener, size_t at, size_t length, int repeats)
{
    volatile unsigned char *line = listener->task->set + at;
    for (int change = 0; change < MOST_CHANGES; change++) {
        unsigned char put[LONGEST_LINE];
        int written = 0;
        for (size_t i = 0; i < length; i++)
            line[i] = put[i] = (unsigned char)(line[i] + 2 * change + 1);
        const int told = use_tells(listener);
        for (size_t i = 0; i < length; i++)
            written |= line[i] != put[i];
        if ((told && repeats) || written)
            return 1;
    }
    return 0;
}

/* The length of a cache line in bytes, as the OS states it; 64 where it does not. */
static size_t line_length(void)
{
    long long stated = 0;
#if defined(__APPLE__)
    size_t size = sizeof stated;
    if (sysctlbyname("hw.cachelinesize", &stated, &size, NULL, 0) != 0)
        stated = 0;
#else
    stated = number_in("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "");
#endif
    const int usable = stated >= SHORTEST_LINE && stated <= LONGEST_LINE;
    return usable && (stated & (stated - 1)) == 0 ? (size_t)stated : SHORTEST_LINE;
}

/* Try the lines of a set in an order of its own, all of them if there is time, and print how many
 * were used. The number of lines is a power of two, so an odd stride meets each of them once. */
static void try_lines(const char *variant, const struct task *task,
                      void (*use)(const struct task *task))
{
    struct listener listener = {.task = task, .use = use};
    uint64_t random = clock_ns(REFERENCE_CLOCK) | 1;
    for (size_t at = 0; at < task->bytes; at++)
        task->set[at] = (unsigned char)(next_random(&random) >> 32);
    const int repeats = listens(&listener);
    const size_t length = line_length(), lines = task->bytes / length;
    const size_t first = next_random(&random) % lines, stride = next_random(&random) | 1;
    const uint64_t end = clock_ns(REFERENCE_CLOCK) + LONGEST_TRIAL_MS * 1000000u;
    size_t tried = 0, used = 0, last = 0;
    for (; tried < lines && (tried < LEAST_TRIED || clock_ns(REFERENCE_CLOCK) < end); tried++) {
        const size_t line = (first + tried * stride) % lines;
        if (!uses_line(&listener, line * length, length, repeats))
            continue;
        used++;
        last = line + 1 > last ? line + 1 : last;
    }
    printf("# variant.%s.set_lines: %zu\n# variant.%s.lines_tried: %zu\n", variant, lines, variant,
           tried);
    printf("# variant.%s.lines_used: %zu\n# variant.%s.last_line_used: %zu\n", variant, used,
           variant, last);
    printf("# variant.%s.keeps: %ld\n", variant, keeps);
}

#endif
