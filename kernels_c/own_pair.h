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
#include "watched_steps.h"

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

#if HAVE_WATCH
/* State what 512 additions were seen to be: how often the counter was read, how many registers were
 * added to themselves how often between the readings and in all, whether the reading after them
 * waits for them, and which share of the time between the first and the last reading was returned. */
static inline void print_pair(const char *name, const struct steps *seen)
{
    const double between = (double)(seen->last_reading - seen->first_reading);
    printf("# variant.%s.watched_readings: %ld\n# variant.%s.watched_additions: %ld\n"
           "# variant.%s.watched_additions_anywhere: %ld\n"
           "# variant.%s.watched_chains: %ld\n# variant.%s.watched_end_waits: %d\n"
           "# variant.%s.watched_share: %.4f\n",
           name, seen->readings, name, seen->additions, name, seen->additions_anywhere, name,
           seen->chains, name, seen->end_waits, name,
           between > 0 ? (double)(int64_t)seen->result / between : 0);
}
#    define WATCH_PAIR(interval)                                                                   \
        __attribute__((noinline)) static uint64_t watched_pair(void)                               \
        {                                                                                          \
            return interval(512);                                                                  \
        }                                                                                          \
        static void run_watched_pair(void)                                                         \
        {                                                                                          \
            uint64_t (*volatile function)(void) = watched_pair;                                    \
            (void)function();                                                                      \
        }                                                                                          \
        static void watch_pair(const char *name)                                                   \
        {                                                                                          \
            struct steps seen;                                                                     \
            if (watch_steps(run_watched_pair, watched_pair, &seen) == ALL_SEEN)                    \
                print_pair(name, &seen);                                                           \
        }
#else
#    define WATCH_PAIR(interval)
#    define watch_pair NULL
#endif

/* One variant, "own", whose step is that of the fenced counter; and main. */
#define MEASURE_OWN_PAIR(own_interval)                                                             \
    WATCH_PAIR(own_interval)                                                                       \
    static uint64_t own_64(void)                                                                   \
    {                                                                                              \
        return own_interval(64);                                                                   \
    }                                                                                              \
    static uint64_t own_128(void)                                                                  \
    {                                                                                              \
        return own_interval(128);                                                                  \
    }                                                                                              \
    static uint64_t own_256(void)                                                                  \
    {                                                                                              \
        return own_interval(256);                                                                  \
    }                                                                                              \
    static uint64_t own_512(void)                                                                  \
    {                                                                                              \
        return own_interval(512);                                                                  \
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
        static const struct variant variants[] = {{.name = "own",                                  \
                                                   .about = "your pair of readings",               \
                                                   .interval = own,                                \
                                                   .read = counter_begin,                          \
                                                   .operation_cycles = ADDITION_CYCLES,            \
                                                   .watch = watch_pair}};                          \
        static const struct c_kernel kernel = {.name = "own_pair",                                 \
                                               .about = "what your pair of readings sees",         \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches),                            \
                                               .batches_fixed = 1};                                \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
