/*
 * The plumbing of lab 01's exercise: a C kernel around one timed region that a student writes.
 *
 *     TICKLAB_INLINE uint64_t own_interval(long k)
 *     {
 *         read a counter, do ADDITIONS(link, k), read a counter; return the difference
 *     }
 *     MEASURE_OWN_PAIR(own_interval)
 *
 * The function is written once and compiled separately for each batch size. It must be inlined,
 * with a k that the compiler knows, so that no loop and no branch remains between the two readings.
 */
#ifndef TICKLAB_OWN_PAIR_H
#define TICKLAB_OWN_PAIR_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "harness.h"

/* k additions, each waiting for the one before; k is 64, 128, 256 or 512. */
#define ADDITIONS(link, k)                                                                         \
    do {                                                                                           \
        if ((k) == 64)                                                                             \
            ADD_CHAIN(link, 64);                                                                   \
        else if ((k) == 128)                                                                       \
            ADD_CHAIN(link, 128);                                                                  \
        else if ((k) == 256)                                                                       \
            ADD_CHAIN(link, 256);                                                                  \
        else                                                                                       \
            ADD_CHAIN(link, 512);                                                                  \
    } while (0)

/* One variant, "own", whose step is that of the fenced counter; and main. */
#define MEASURE_OWN_PAIR(interval)                                                                 \
    static uint64_t own_64(void)                                                                   \
    {                                                                                              \
        return interval(64);                                                                       \
    }                                                                                              \
    static uint64_t own_128(void)                                                                  \
    {                                                                                              \
        return interval(128);                                                                      \
    }                                                                                              \
    static uint64_t own_256(void)                                                                  \
    {                                                                                              \
        return interval(256);                                                                      \
    }                                                                                              \
    static uint64_t own_512(void)                                                                  \
    {                                                                                              \
        return interval(512);                                                                      \
    }                                                                                              \
    static uint64_t own(long batch)                                                                \
    {                                                                                              \
        switch (batch) {                                                                           \
        case 64: return own_64();                                                                  \
        case 128: return own_128();                                                                \
        case 256: return own_256();                                                                \
        default: return own_512();                                                                 \
        }                                                                                          \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {64, 128, 256, 512};                                         \
        static const struct variant variants[] = {                                                 \
            {"own", "your pair of readings", own, counter_begin, 0, NULL, .operation_cycles = 1}}; \
        static const struct c_kernel kernel = {                                                    \
            "own_pair", "what your pair of readings sees", variants, 1, batches, 4, 1};            \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
