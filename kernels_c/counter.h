/*
 * Read this machine's counter, in order with the work around it.
 *
 * counter_begin() waits for all earlier work, reads, and holds back all later work. counter_end()
 * waits for the measured work, reads, and holds back what follows. Without these fences, a
 * processor that executes out of order reads the counter before the measured work has finished.
 *
 *   x86-64   lfence; rdtsc; lfence ... rdtscp; lfence   Paoloni, "How to Benchmark Code Execution
 *            Times on Intel IA-32 and IA-64", Intel 324264. The paper uses CPUID as its fence. In a
 *            virtual machine CPUID exits to the hypervisor, which takes microseconds. LFENCE is a
 *            fence too, and does not exit.
 *   aarch64  isb; mrs cntvct_el0; isb                   Arm ARM D12 (generic timer)
 *   riscv64  fence; rdtime; fence                       RISC-V unprivileged ISA, Zicntr
 *   a count  of an event in place of time, with -DTICKLAB_COUNT_EVENTS: see events.h
 *   others   clock_gettime; also with -DTICKLAB_NO_COUNTER, for a sandbox that forbids the counter
 *
 * A tick is one step of the counter, not a core cycle and not a nanosecond.
 */
#ifndef TICKLAB_COUNTER_H
#define TICKLAB_COUNTER_H

#include <stdint.h>
#include <time.h>

#define TICKLAB_INLINE static inline __attribute__((always_inline))

/* A chain of dependent additions of a register to itself, at one core cycle each. Additions of a
 * constant would be wrong here: newer cores remove them when they rename registers.
 *
 * Where no chain is written in assembly (-m32, or -DTICKLAB_NO_CHAIN to see it here), a loop of C
 * takes its place. The compiler decides how many core cycles a turn takes: 1 with -O2, and more
 * than 2 without. So nothing is stated in core cycles there. */
#if defined(TICKLAB_NO_CHAIN)
#elif defined(__x86_64__)
#    define ADD_CHAIN(link, k)                                                                     \
        __asm__ volatile(".rept " #k "\n\tadd %0, %0\n\t.endr" : "+r"(link) : : "memory", "cc")
#elif defined(__aarch64__)
#    define ADD_CHAIN(link, k)                                                                     \
        __asm__ volatile(".rept " #k "\n\tadd %0, %0, %0\n\t.endr" : "+r"(link) : : "memory")
#elif defined(__riscv) && __riscv_xlen == 64
#    define ADD_CHAIN(link, k)                                                                     \
        __asm__ volatile(".rept " #k "\n\tadd %0, %0, %0\n\t.endr" : "+r"(link) : : "memory")
#endif
#if defined(ADD_CHAIN)
#    define ADDITION_CYCLES 1
#else
#    define ADDITION_CYCLES 0 /* unknown */
#    define ADD_CHAIN(link, k)                                                                     \
        for (int rest = (k); rest > 0; rest--)                                                     \
        __asm__ volatile("" : "+r"(link) : : "memory")
#endif

#if defined(TICKLAB_COUNT_EVENTS)

#    include "events.h"

#    define COUNTER_NAME "event"

TICKLAB_INLINE uint64_t counter_unfenced(void)
{
    return countable_until_now().value;
}

TICKLAB_INLINE uint64_t counter_begin(void)
{
    return countable_begin();
}

TICKLAB_INLINE uint64_t counter_end(void)
{
    return countable_end();
}

#elif defined(__x86_64__) && !defined(TICKLAB_NO_COUNTER)

#    define COUNTER_NAME "tsc"

TICKLAB_INLINE uint64_t counter_unfenced(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return ((uint64_t)high << 32) | low;
}

TICKLAB_INLINE uint64_t counter_begin(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return ((uint64_t)high << 32) | low;
}

TICKLAB_INLINE uint64_t counter_end(void)
{
    uint32_t low, high, processor;
    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
    return ((uint64_t)high << 32) | low;
}

#elif defined(__aarch64__) && !defined(TICKLAB_NO_COUNTER)

#    define COUNTER_NAME "cntvct"

TICKLAB_INLINE uint64_t counter_unfenced(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now) : : "memory");
    return now;
}

TICKLAB_INLINE uint64_t counter_begin(void)
{
    uint64_t now;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now) : : "memory");
    return now;
}

TICKLAB_INLINE uint64_t counter_end(void)
{
    return counter_begin();
}

#elif defined(__riscv) && __riscv_xlen == 64 && !defined(TICKLAB_NO_COUNTER)

#    define COUNTER_NAME "time"

TICKLAB_INLINE uint64_t counter_unfenced(void)
{
    uint64_t now;
    __asm__ volatile("rdtime %0" : "=r"(now) : : "memory");
    return now;
}

TICKLAB_INLINE uint64_t counter_begin(void)
{
    uint64_t now;
    __asm__ volatile("fence\n\trdtime %0\n\tfence" : "=r"(now) : : "memory");
    return now;
}

TICKLAB_INLINE uint64_t counter_end(void)
{
    return counter_begin();
}

#else

#    define COUNTER_NAME "clock_monotonic"

TICKLAB_INLINE uint64_t counter_unfenced(void)
{
    struct timespec now = {0, 0};
    /* If this failed, time would stand still. The harness checks the clock once, at the start. */
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

TICKLAB_INLINE uint64_t counter_begin(void)
{
    return counter_unfenced();
}

TICKLAB_INLINE uint64_t counter_end(void)
{
    return counter_unfenced();
}

#endif
#endif
