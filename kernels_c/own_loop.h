/*
 * The plumbing of an exercise of lab 08: a C kernel around one sample that a student writes.
 *
 *     static uint64_t calls(long batch)
 *     {
 *         read the counter, call procedure() `batch` times, read the counter; return the difference
 *     }
 *     MEASURE_OWN_LOOP(calls)
 *
 * The same run measures an empty loop between two readings, which is subtracted.
 */
#ifndef TICKLAB_OWN_LOOP_H
#define TICKLAB_OWN_LOOP_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "harness.h"

/* It does nothing, and the compiler has to call it. */
__attribute__((noinline, unused)) static void procedure(void)
{
    __asm__ volatile("" : : : "memory");
}

__attribute__((aligned(64))) static uint64_t empty_loop(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        __asm__ volatile("" : "+r"(left));
    const uint64_t end = counter_end();
    return end - begin;
}

/* The variant "own", its baseline "loop", and main. */
#define MEASURE_OWN_LOOP(calls)                                                                    \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {256, 512, 1024, 2048};                                      \
        static const struct variant variants[] = {                                                 \
            {.name = "own",                                                                        \
             .about = "a call, timed by your loop",                                                \
             .interval = calls,                                                                    \
             .baseline = "loop"},                                                                  \
            {.name = "loop", .about = "the empty loop", .interval = empty_loop}};                  \
        static const struct c_kernel kernel = {.name = "own_loop",                                 \
                                               .about = "what a call costs by your loop",          \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches)};                           \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
