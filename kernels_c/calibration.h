/*
 * Measure the counter of this machine: its frequency, its step and its overhead. Nothing is taken
 * from the name of the CPU.
 */
#ifndef TICKLAB_CALIBRATION_H
#define TICKLAB_CALIBRATION_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined(__linux__)
#    include <sys/syscall.h>
#    include <unistd.h>
#endif
#if defined(__x86_64__)
#    include <cpuid.h>
#endif

#include "counter.h"
#include "options.h"

/* The clock that the counter is compared with. NTP does not adjust it. */
#define REFERENCE_CLOCK CLOCK_MONOTONIC_RAW

/* The system call that reads a clock into two numbers of 64 bits: seconds and nanoseconds. */
#if defined(SYS_clock_gettime64)
#    define CLOCK_CALL SYS_clock_gettime64
#elif defined(__linux__) && (defined(__LP64__) || defined(__x86_64__))
#    define CLOCK_CALL SYS_clock_gettime
#endif

/* A clock of the C library, and how far its speed may lie from that of the reference clock: NTP
 * adjusts the other two. */
static const struct library_clock {
    clockid_t id;
    const char *name;
    double tolerance;
} library_clocks[] = {{REFERENCE_CLOCK, "CLOCK_MONOTONIC_RAW", 0.001},
                      {CLOCK_MONOTONIC, "CLOCK_MONOTONIC", 0.1},
                      {CLOCK_REALTIME, "CLOCK_REALTIME", 0.1}};

enum { LIBRARY_CLOCKS = sizeof library_clocks / sizeof library_clocks[0] };

/* So many readings of a clock take longer than the longest step, which is 10 ms. */
enum { MOST_CLOCK_READINGS = 4000000 };

/* The same moment on all clocks. */
struct moment {
    uint64_t ticks;
    uint64_t ns; /* of the reference clock, by a system call */
    uint64_t by_library[LIBRARY_CLOCKS];
    uint64_t width; /* ticks that it took to read them all */
};

TICKLAB_INLINE uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(CLOCK_CALL)
/* Read the reference clock by the trap instruction, if it is known here (trap.h): a library in
 * LD_PRELOAD may replace clock_gettime(), and also syscall(). The result is 0 if that worked. */
static long call_for_reference(int64_t now[2])
{
#    if defined(__x86_64__) && !defined(TICKLAB_NO_TRAP)
    long failed;
    __asm__ volatile("syscall"
                     : "=a"(failed)
                     : "a"((long)CLOCK_CALL), "D"((long)REFERENCE_CLOCK), "S"(now)
                     : "rcx", "r11", "memory");
    return failed;
#    elif defined(__aarch64__) && !defined(TICKLAB_NO_TRAP)
    register long x8 __asm__("x8") = CLOCK_CALL;
    register long x0 __asm__("x0") = REFERENCE_CLOCK;
    register int64_t *x1 __asm__("x1") = now;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
#    else
    return syscall(CLOCK_CALL, REFERENCE_CLOCK, now);
#    endif
}
#endif

/* The reference clock as the OS kernel shows it; where no such call is known, the C library's. */
static uint64_t reference_ns(void)
{
#if defined(CLOCK_CALL)
    int64_t now[2];
    if (call_for_reference(now) == 0)
        return (uint64_t)now[0] * 1000000000u + (uint64_t)now[1];
#endif
    return clock_ns(REFERENCE_CLOCK);
}

static uint64_t reference_ns_by_library(void)
{
    return clock_ns(REFERENCE_CLOCK);
}

/* Stop if a clock stands still: what waits for it would never end. */
static void must_advance(const char *clock, uint64_t (*read)(void))
{
    const uint64_t first = read();
    for (int readings = 0; readings < MOST_CLOCK_READINGS; readings++)
        if (read() != first)
            return;
    stop(STATUS_IMPOSSIBLE, "the clock %s stands still, so nothing can be timed; %s", clock,
         getenv("LD_PRELOAD") != NULL
             ? "a library in LD_PRELOAD may replace it: unset LD_PRELOAD and measure again"
             : "measure on a machine whose clocks advance");
}

/* Read all clocks at one moment. The reading of the counter is taken to be half-way between two
 * readings of it; of 4 attempts, the shortest counts. */
static struct moment moment_now(void)
{
    struct moment best = {.width = UINT64_MAX};
    for (int attempt = 0; attempt < 4; attempt++) {
        struct moment now;
        const uint64_t before = counter_begin();
        now.ns = reference_ns();
        for (int i = 0; i < LIBRARY_CLOCKS; i++)
            now.by_library[i] = clock_ns(library_clocks[i].id);
        now.width = counter_end() - before;
        now.ticks = before + now.width / 2;
        if (now.width < best.width)
            best = now;
    }
    return best;
}

/* Ticks per second between two moments; 0 if both are the same. */
static double frequency_between(struct moment first, struct moment last)
{
    const double ns = (double)(last.ns - first.ns);
    return ns > 0 ? (double)(last.ticks - first.ticks) / ns * 1e9 : 0;
}

/* The frequency of the counter as the processor states it; 0: it states none. */
static double stated_hz(void)
{
#if defined(TICKLAB_NO_COUNTER)
    return 0;
#elif defined(__x86_64__)
    unsigned divisor, factor, crystal_hz, unused;
    if (!__get_cpuid_count(0x15, 0, &divisor, &factor, &crystal_hz, &unused) || divisor == 0)
        return 0;
    return (double)crystal_hz * factor / divisor;
#elif defined(__aarch64__)
    uint64_t hz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return (double)hz;
#else
    return 0;
#endif
}

/* Print the clocks that disagree with the reference clock, each with its speed. What the readings
 * of the moments took can only make a speed uncertain. */
static void print_clocks_off(struct moment first, struct moment last)
{
    const double ticks = (double)(last.ticks - first.ticks), ns = (double)(last.ns - first.ns);
    if (!(ticks > 0 && ns > 0)) /* the counter's step is longer */
        return;
    const double uncertain = (double)(first.width + last.width) / ticks;
    const double counter = stated_hz() > 0 ? frequency_between(first, last) / stated_hz() : 1;
    const char *lead = "# clocks.off: ";
    if (counter < 0.99 - uncertain || counter > 1.01 + uncertain) {
        printf("%scounter %.3f", lead, counter);
        lead = ", ";
    }
    for (int i = 0; i < LIBRARY_CLOCKS; i++) {
        const double speed = (double)(int64_t)(last.by_library[i] - first.by_library[i]) / ns;
        const double most = library_clocks[i].tolerance + uncertain;
        if (speed > 1 - most && speed < 1 + most)
            continue;
        printf("%s%s %.3f", lead, library_clocks[i].name, speed);
        lead = ", ";
    }
    if (lead[0] == ',')
        printf("\n");
}

/* How much of this CPU others use: interrupts, a hypervisor, other programs. */
struct taken {
    double share;      /* of the time, from 0 to 1 */
    double gaps_per_s; /* interruptions per second */
};

/* Measure this until the clock shows `until`, or has been read very often. The loop only reads the
 * clock. If two readings are more than a microsecond apart, something else ran in between. */
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
    const uint64_t far = step < FAR_NS / 8 ? (uint64_t)FAR_NS : 8 * step;
    for (int i = 0; i < MOST_CLOCK_READINGS && last < until; i++) {
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
