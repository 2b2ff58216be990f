/*
 * Remove cache lines of data and of instructions from the caches, in user mode.
 *
 *   x86-64   clflush: removes a line from all caches of all cores
 *   aarch64  dc civac, ic ivau: the same, for a line of data and a line of instructions
 *   others   a walk through more memory than the last-level cache holds; on riscv64 also fence.i
 */
#ifndef TICKLAB_CACHE_FLUSH_H
#define TICKLAB_CACHE_FLUSH_H

#include "memory.h"

#if defined(__x86_64__)

static void flush_lines(void *const *lines, long count)
{
    for (long i = 0; i < count; i++)
        __asm__ volatile("clflush (%0)" : : "r"(lines[i]) : "memory");
    __asm__ volatile("mfence" : : : "memory");
}

#elif defined(__aarch64__)

static void flush_lines(void *const *lines, long count)
{
    for (long i = 0; i < count; i++)
        __asm__ volatile("dc civac, %0\n\tdsb ish\n\tic ivau, %0" : : "r"(lines[i]) : "memory");
    __asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

#else

/* The walk covers twice the size of the last-level cache, within these limits. It covers
 * LEAST_WALK if the machine does not state the size. */
enum { LEAST_WALK = 32 << 20, MOST_WALK = 256 << 20, LINE = 64 };

static void flush_lines(void *const *lines, long count)
{
    static volatile unsigned char *memory;
    static size_t bytes = LEAST_WALK;
    (void)lines;
    (void)count;
    if (memory == NULL) {
#    if defined(_SC_LEVEL3_CACHE_SIZE)
        const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        if (cache > LEAST_WALK / 2)
            bytes = cache < MOST_WALK / 2 ? 2 * (size_t)cache : MOST_WALK;
#    endif
        memory = untouched_pages(bytes);
        touch(memory, bytes);
    }
    for (size_t at = 0; at < bytes; at += LINE)
        (void)memory[at];
#    if defined(__riscv)
    __asm__ volatile("fence.i" : : : "memory");
#    endif
}

#endif
#endif
