/*
 * The plumbing of lab 04's exercise: a C kernel around one procedure that a student writes.
 *
 *     static long successor(long x)
 *     {
 *         return x + 1, in a way that the compiler has to call
 *     }
 *     MEASURE_OWN_PROCEDURE(successor)
 *
 * Each call takes the result of the one before, and the last result is checked. So a compiler may
 * leave out the call, but not the sum. The empty loop is measured in the same run and subtracted.
 */
#ifndef TICKLAB_OWN_PROCEDURE_H
#define TICKLAB_OWN_PROCEDURE_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "beside.h"
#include "harness.h"
#include "watched_steps.h"

/* One sample: k times `step`, which works on `link` and brings it from k to `sum`. */
#define OWN_INTERVAL(name, step, sum)                                                              \
    __attribute__((aligned(64))) static uint64_t name(long batch)                                  \
    {                                                                                              \
        long link = batch;                                                                         \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            step;                                                                                  \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        if (link != (sum))                                                                         \
            stop(STATUS_FAILED,                                                                    \
                 "your procedure does not return x + 1: %ld calls bring %ld to %ld", batch, batch, \
                 link);                                                                            \
        return end - begin;                                                                        \
    }

#if HAVE_WATCH
#    define WATCHED_CALLS 16
/* State what the called functions were seen to do between the readings. */
static void print_calls(const char *name, const struct steps *seen, long operations)
{
    printf("# variant.%s.watched_operations: %ld\n# variant.%s.watched_calls: %ld\n"
           "# variant.%s.watched_inside: %ld\n# variant.%s.watched_loops: %ld\n"
           "# variant.%s.watched_traps: %ld\n# variant.%s.watched_products: %ld\n",
           name, operations, name, seen->calls, name, seen->inside, name, seen->inside_loops, name,
           seen->traps, name, seen->products);
}
#    define WATCH_CALLS                                                                            \
        __attribute__((noinline)) static uint64_t watched_calls(void)                              \
        {                                                                                          \
            return own(WATCHED_CALLS);                                                             \
        }                                                                                          \
        static void run_watched_calls(void)                                                        \
        {                                                                                          \
            uint64_t (*volatile function)(void) = watched_calls;                                   \
            (void)function();                                                                      \
        }                                                                                          \
        static void watch_calls(const char *name)                                                  \
        {                                                                                          \
            struct steps seen;                                                                     \
            const int all = watch_steps(run_watched_calls, watched_calls, &seen);                  \
            if (all == ALL_SEEN || (all == CUT_SHORT && seen.calls > 0))                           \
                print_calls(name, &seen, all == ALL_SEEN ? WATCHED_CALLS : seen.calls);            \
        }
#else
#    define WATCH_CALLS                                                                            \
        static void watch_calls(const char *name)                                                  \
        {                                                                                          \
            (void)name;                                                                            \
        }
#endif

/* The kit's own such procedure. */
__attribute__((noinline)) static long kit_successor(long x)
{
    __asm__ volatile("" : "+r"(x)); /* so that no caller knows the result */
    return x + 1;
}

/*
 * The variant "own", its baseline "loop", and main. A result narrower than `link` would be widened
 * before the next turn. That costs as much as a call, and would hide that the call was left out.
 */
#define MEASURE_OWN_PROCEDURE(procedure)                                                           \
    _Static_assert(__builtin_types_compatible_p(__typeof__(procedure), long(long)),                \
                   "your procedure must read: static long " #procedure "(long x)");                \
    OWN_INTERVAL(own, link = procedure(link), 2 * batch)                                           \
    WATCH_CALLS                                                                                    \
    OWN_INTERVAL(own_loop, (void)0, batch)                                                         \
    OWN_INTERVAL(own_kit, link = kit_successor(link), 2 * batch)                                   \
    static void watch_and_time(const char *name)                                                   \
    {                                                                                              \
        watch_calls(name);                                                                         \
        print_beside(name, timed_beside(own, own_kit, 512));                                       \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {256, 512, 1024, 2048};                                      \
        static const struct variant variants[] = {                                                 \
            {.name = "own",                                                                        \
             .about = "your procedure",                                                            \
             .interval = own,                                                                      \
             .baseline = "loop",                                                                   \
             .watch = watch_and_time},                                                             \
            {.name = "loop", .about = "the empty loop", .interval = own_loop}};                    \
        static const struct c_kernel kernel = {.name = "own_procedure",                            \
                                               .about = "what a call of your procedure costs",     \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches)};                           \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
