/*
 * The plumbing of lab 11: a C kernel around an operation that a student asks about.
 *
 *     static void set_up(void)              what must be there before the first sample
 *     TICKLAB_INLINE int operation(void)    what the question is about; returns whether it worked
 *     TICKLAB_INLINE int other(void)        what it is compared with; returns the same
 *     TICKLAB_INLINE int baseline(void)     what is subtracted from both; returns 1
 *     static long counted(void)             how many operation() happened since its last call
 *     MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
 *
 * A sample whose operations did not all happen ends the run, by the count of counted(). So this
 * count is all that shows the operation. After the last sample, the run puts it to the test: it
 * must count nothing where nothing is done, a number of operations that it cannot know, and nothing
 * of the baseline.
 */
#ifndef TICKLAB_OWN_QUESTION_H
#define TICKLAB_OWN_QUESTION_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "harness.h"
#include "left_out.h"
#include "watched_calls.h"

static long claimed_operations, counted_operations; /* in all samples */
static long tried_operations;                       /* after the last sample */

/* One sample: k times `function`, which must be true. */
#define OWN_INTERVAL(name, function)                                                               \
    __attribute__((noinline, aligned(64))) static uint64_t name(long batch)                        \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(function());                                                               \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

/* What `counted` says of so many calls of `function`. */
#define OWN_TRIAL(name, function, counted)                                                         \
    static long name(long times)                                                                   \
    {                                                                                              \
        (void)counted();                                                                           \
        for (long i = 0; i < times; i++)                                                           \
            failed_calls |= !(function());                                                         \
        return counted();                                                                          \
    }

/* `name` is the student's function that was just called. */
static void must_have_worked(const char *name)
{
    if (failed_calls != 0)
        stop(STATUS_FAILED, "%s() returned 0, and so it says that it did not work", name);
}

static void must_have_happened(long happened, long batch)
{
    if (happened > batch)
        stop(STATUS_FAILED,
             "operations claimed in one sample: %ld; counted by your function: %ld. It must count "
             "each operation once, and none that an earlier call of it has counted",
             batch, happened);
    if (happened < batch)
        stop(STATUS_FAILED,
             "operations claimed in one sample: %ld; counted by your function: %ld. Did all "
             "happen?%s",
             batch, happened,
             batch == 1 ? ""
                        : " If your C can count only so many, take smaller batches: --batch, or "
                          "batches= of lab.measure");
    claimed_operations += batch;
    counted_operations += happened;
}

/* A number from 3 to 18, another one in each process. */
TICKLAB_INLINE void choose_trial(const struct run *run)
{
    tried_operations = 3 + (long)(run->random >> 33) % 16;
}

static void print_counts(const char *name, long idle, long of_operations, long of_baselines)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.counted_operations: %ld\n"
           "# variant.%s.tried: %ld\n# variant.%s.counted_idle: %ld\n"
           "# variant.%s.counted_of_operation: %ld\n# variant.%s.counted_of_baseline: %ld\n",
           name, claimed_operations, name, counted_operations, name, tried_operations, name, idle,
           name, of_operations, name, of_baselines);
}

#if HAVE_WATCH
enum { WATCHED_OPERATIONS = 8, WATCHED_MS = 500 };

/* State how many system calls so many operations make, and as many baselines. */
static void print_question_calls(const char *name, void (*operations)(void),
                                 void (*baselines)(void))
{
    struct system_calls of_operations, of_baselines;
    if (!watch_system_calls(operations, &of_operations) ||
        !watch_system_calls(baselines, &of_baselines))
        return;
    printf("# variant.%s.watched_operations: %d\n# variant.%s.watched_system_calls: %ld\n"
           "# variant.%s.watched_baseline_system_calls: %ld\n",
           name, WATCHED_OPERATIONS, name, of_operations.all, name, of_baselines.all);
}

/* State how many calls of what is compared with the OS kernel refused. */
static void print_refused(const char *name, void (*others)(void))
{
    struct system_calls seen;
    if (watch_system_calls(others, &seen))
        printf("# variant.%s.watched_operations: %d\n# variant.%s.watched_failed: %ld\n", name,
               WATCHED_OPERATIONS, name, seen.failed);
}

/* State how many operations are counted if their calls do nothing, whichever of two results these
 * return. The calls that the baseline makes too are kept. */
static void print_counted_without(const char *name, void (*work)(void),
                                  uint64_t (*operations)(void), const struct called *kept)
{
    long left_out = 0;
    const int of_0 = ends_without_calls(work, operations, kept, 0, &left_out);
    const int of_1 = of_0 > 0 ? ends_without_calls(work, operations, kept, -1, &left_out) : of_0;
    if (of_0 < 0 || of_1 < 0 || left_out <= 0)
        return;
    printf("# variant.%s.watched_left_out: %ld\n# variant.%s.watched_counted_without: %d\n", name,
           left_out, name, of_0 < of_1 ? of_0 : of_1);
}

#    define WATCH_QUESTION(operation, other, baseline, counted)                                    \
        static __attribute__((noinline)) uint64_t watched_operations(void)                         \
        {                                                                                          \
            for (int i = 0; i < WATCHED_OPERATIONS; i++)                                           \
                failed_calls |= !(operation());                                                    \
            return 0;                                                                              \
        }                                                                                          \
        static __attribute__((noinline)) uint64_t watched_baselines(void)                          \
        {                                                                                          \
            for (int i = 0; i < WATCHED_OPERATIONS; i++)                                           \
                failed_calls |= !(baseline());                                                     \
            return 0;                                                                              \
        }                                                                                          \
        static uint64_t (*volatile operations_watched)(void) = watched_operations;                 \
        static uint64_t (*volatile baselines_watched)(void) = watched_baselines;                   \
        static void run_operations(void)                                                           \
        {                                                                                          \
            (void)operations_watched();                                                            \
        }                                                                                          \
        static void run_baselines(void)                                                            \
        {                                                                                          \
            (void)baselines_watched();                                                             \
        }                                                                                          \
        static void run_others(void)                                                               \
        {                                                                                          \
            for (int i = 0; i < WATCHED_OPERATIONS; i++)                                           \
                failed_calls |= !(other());                                                        \
        }                                                                                          \
        static void run_and_count(void)                                                            \
        {                                                                                          \
            (void)counted();                                                                       \
            (void)operations_watched();                                                            \
            const long number = counted();                                                         \
            _exit(number >= 0 && number < 255 ? (int)number : 255);                                \
        }                                                                                          \
        static void watch_other(const char *name)                                                  \
        {                                                                                          \
            longest_watch_ms = WATCHED_MS;                                                         \
            print_refused(name, run_others);                                                       \
        }                                                                                          \
        static void watch_question(const char *name)                                               \
        {                                                                                          \
            struct called kept;                                                                    \
            longest_watch_ms = WATCHED_MS;                                                         \
            print_question_calls(name, run_operations, run_baselines);                             \
            if (note_called(run_baselines, watched_baselines, &kept))                              \
                print_counted_without(name, run_and_count, watched_operations, &kept);             \
        }
#else
#    define watch_other NULL
#    define WATCH_QUESTION(operation, other, baseline, counted)                                    \
        static void watch_question(const char *name)                                               \
        {                                                                                          \
            (void)name;                                                                            \
        }
#endif

/* The variants "operation", "other" and "baseline", and main. */
#define MEASURE_OWN_QUESTION(set_up_it, operation_it, other_it, baseline_it, counted_it)           \
    OWN_INTERVAL(own_operations, operation_it)                                                     \
    OWN_INTERVAL(own_others, other_it)                                                             \
    OWN_INTERVAL(own_baselines, baseline_it)                                                       \
    OWN_TRIAL(try_operations, operation_it, counted_it)                                            \
    OWN_TRIAL(try_baselines, baseline_it, counted_it)                                              \
    WATCH_QUESTION(operation_it, other_it, baseline_it, counted_it)                                \
    static uint64_t own_operations_that_happened(long batch)                                       \
    {                                                                                              \
        (void)counted_it();                                                                        \
        const uint64_t ticks = own_operations(batch);                                              \
        must_have_worked(#operation_it);                                                           \
        must_have_happened(counted_it(), batch);                                                   \
        return ticks;                                                                              \
    }                                                                                              \
    /* What the other one leaves behind is no operation of the next sample. */                     \
    static uint64_t own_others_cleared(long batch)                                                 \
    {                                                                                              \
        const uint64_t ticks = own_others(batch);                                                  \
        must_have_worked(#other_it);                                                               \
        (void)counted_it();                                                                        \
        return ticks;                                                                              \
    }                                                                                              \
    static uint64_t own_baselines_that_worked(long batch)                                          \
    {                                                                                              \
        const uint64_t ticks = own_baselines(batch);                                               \
        must_have_worked(#baseline_it);                                                            \
        return ticks;                                                                              \
    }                                                                                              \
    static void prepare_question(struct run *run)                                                  \
    {                                                                                              \
        static int prepared;                                                                       \
        choose_trial(run);                                                                         \
        if (!prepared)                                                                             \
            set_up_it();                                                                           \
        prepared = 1;                                                                              \
    }                                                                                              \
    static void watch_counts(const char *name)                                                     \
    {                                                                                              \
        (void)counted_it();                                                                        \
        const long idle = counted_it(), of_operations = try_operations(tried_operations);          \
        print_counts(name, idle, of_operations, try_baselines(tried_operations));                  \
        watch_question(name);                                                                      \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {8, 16, 32, 64};                                             \
        static const struct variant variants[] = {{.name = "operation",                            \
                                                   .about = "your operation",                      \
                                                   .interval = own_operations_that_happened,       \
                                                   .baseline = "baseline",                         \
                                                   .prepare = prepare_question,                    \
                                                   .watch = watch_counts},                         \
                                                  {.name = "other",                                \
                                                   .about = "what you compare it with",            \
                                                   .interval = own_others_cleared,                 \
                                                   .baseline = "baseline",                         \
                                                   .prepare = prepare_question,                    \
                                                   .watch = watch_other},                          \
                                                  {.name = "baseline",                             \
                                                   .about = "what is subtracted from both",        \
                                                   .interval = own_baselines_that_worked,          \
                                                   .prepare = prepare_question}};                  \
        static const struct c_kernel kernel = {.name = "own_question",                             \
                                               .about = "what your own question asks",             \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches)};                           \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
