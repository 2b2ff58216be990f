/*
 * Measure the counter of this machine: its frequency, its step and its overhead. Nothing is taken
 * from the name of the CPU.
 */
#ifndef TICKLAB_CALIBRATION_H
#define TICKLAB_CALIBRATION_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "counter.h"

/* The clock that the counter is compared with. NTP does not adjust it. */
#define REFERENCE_CLOCK CLOCK_MONOTONIC_RAW

/* The same moment on both clocks. */
struct moment {
    uint64_t ticks;
    uint64_t ns;
};

TICKLAB_INLINE uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Read both clocks at one moment. The reading of the counter is taken to be half-way between two
 * readings of the clock; of 16 attempts, the shortest counts. */
static struct moment moment_now(void)
{
    struct moment best = {.ticks = 0, .ns = 0};
    uint64_t width = UINT64_MAX;
    for (int attempt = 0; attempt < 16; attempt++) {
        const uint64_t before = clock_ns(REFERENCE_CLOCK);
        const uint64_t ticks = counter_begin();
        const uint64_t after = clock_ns(REFERENCE_CLOCK);
        if (after - before < width) {
            width = after - before;
            best.ticks = ticks;
            best.ns = before + width / 2;
        }
    }
    return best;
}

/* Ticks per second between two moments; 0 if both are the same. */
static double frequency_between(struct moment first, struct moment last)
{
    const double ns = (double)(last.ns - first.ns);
    return ns > 0 ? (double)(last.ticks - first.ticks) / ns * 1e9 : 0;
}

/* How much of this CPU others use: interrupts, a hypervisor, other programs. */
struct taken {
    double share;      /* of the time, from 0 to 1 */
    double gaps_per_s; /* interruptions per second */
};

/* Measure this until the clock shows `until`. The loop only reads the clock. If two readings are
 * more than a microsecond apart, something else ran in between. */
static struct taken taken_by_others(uint64_t until)
{
    enum { FAR_NS = 1000, READINGS = 64 };
    const uint64_t begin = clock_ns(REFERENCE_CLOCK);
    uint64_t last = begin, taken = 0, gaps = 0, step = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) { /* an emulator may take a microsecond to read a clock */
        const uint64_t now = clock_ns(REFERENCE_CLOCK);
        if (now > last && now - last < step)
            step = now - last;
        last = now;
    }
    const uint64_t far = step < FAR_NS / 8 ? FAR_NS : 8 * step;
    while (last < until) {
        const uint64_t now = clock_ns(REFERENCE_CLOCK);
        if (now - last > far) {
            taken += now - last;
            gaps++;
        }
        last = now;
    }
    const double all = last > begin ? (double)(last - begin) : 1;
    const struct taken found = {.share = (double)taken / all,
                                .gaps_per_s = (double)gaps / all * 1e9};
    return found;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The step: the greatest common divisor of many differences between readings. */
static uint64_t step_of(uint64_t (*read)(void))
{
    uint64_t step = 0;
    uint64_t last = read();
    for (int i = 0; i < 2000; i++) {
        const uint64_t now = read();
        step = greatest_common_divisor(step, now > last ? now - last : last - now);
        last = now;
    }
    /* The clock did not advance in 2000 readings (microseconds on a fast machine): wait for it. */
    for (int advances = 0; step == 0 && advances < 10000000; advances++)
        step = read() - last;
    return step;
}

static int by_ticks(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

enum { CALIBRATION_ROUNDS = 41 };

static uint64_t middle_of(uint64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], by_ticks);
    return values[count / 2];
}

/* The ticks of an empty fenced region: the median of a few. */
static uint64_t counter_overhead(void)
{
    uint64_t empty[CALIBRATION_ROUNDS];
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        const uint64_t begin = counter_begin();
        empty[i] = counter_end() - begin;
    }
    return middle_of(empty, CALIBRATION_ROUNDS);
}

#endif
