/*
 * The plumbing of lab 03's exercise: a C kernel around one system call that a student writes.
 *
 *     TICKLAB_INLINE int own_read(long fd)
 *     {
 *         make one system call, such as read(fd, NULL, 0); return whether it worked
 *     }
 *     MEASURE_OWN_CALL("read0", own_read)
 *
 * Every result is checked; one call that does not work fails the run. The same run measures a call
 * number that does not exist, and the empty loop, which is subtracted from both.
 */
#ifndef TICKLAB_OWN_CALL_H
#define TICKLAB_OWN_CALL_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include <fcntl.h>

#include "harness.h"
#include "trap.h"
#include "without_calls.h"

static int zero = -1; /* a descriptor of /dev/zero */
#if HAVE_TRAP
static long no_such_call; /* the result of a call number that does not exist */
#endif

TICKLAB_INLINE void prepare_own(struct run *run)
{
    (void)run;
    if (zero < 0 && (zero = open("/dev/zero", O_RDONLY | O_CLOEXEC)) < 0)
        stop(STATUS_IMPOSSIBLE, "/dev/zero cannot be opened: %s", strerror(errno));
#if HAVE_TRAP
    /* ENOSYS; many filters of system calls (seccomp) return EPERM instead. */
    if ((no_such_call = trap(100000, 0, 0, 0)) >= 0)
        stop(STATUS_IMPOSSIBLE, "the call number 100000 exists here");
#endif
}

/* Stop at once if the student's own call failed. If a filter refuses it, the end of the run says
 * so. */
TICKLAB_INLINE void must_have_worked(void)
{
    if (failed_calls != 0 && !is_filtered())
        stop(STATUS_FAILED, "your function says that its call did not work: it returned 0. Is each "
                            "argument in the place where the OS kernel looks for it? Most calls "
                            "give 0 if they worked; your function must then return 1.");
}

/* The registers that `syscall` overwrites. The loop keeps nothing in them, even if a student
 * forgets to list them. */
#if defined(__x86_64__)
#    define OWN_LOST __asm__ volatile("" : : : "rcx", "r11")
#else
#    define OWN_LOST (void)0
#endif

/* One sample: k times `operation`, which must be true. */
#define OWN_INTERVAL(name, operation)                                                              \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(operation);                                                                \
            OWN_LOST;                                                                              \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

OWN_INTERVAL(own_loop, 1)

#if HAVE_TRAP
OWN_INTERVAL(own_invalid, trap(100000, 0, 0, 0) == no_such_call)
#    define OWN_TRAP(function) .interval = function, .system_calls = 1, .traps = 1
#else
#    define OWN_TRAP(function) .missing = "calls by the trap instruction are written for Linux only"
#endif

/* Two variants: what a call is compared with, and what is subtracted from it. */
#define OWN_FLOOR                                                                                  \
    {.name = "invalid",                                                                            \
     .about = "a call number that does not exist",                                                 \
     OWN_TRAP(own_invalid),                                                                        \
     .baseline = "loop",                                                                           \
     .prepare = prepare_own},                                                                      \
    {                                                                                              \
        .name = "loop", .about = "the empty loop", .interval = own_loop                            \
    }

#if HAVE_WATCH
#    define WATCHED_OPERATIONS 16
/* State which system calls the OS kernel got from so many operations. */
static inline void print_system_calls(const char *name, const struct system_calls *seen)
{
    printf("# variant.%s.watched_operations: %d\n# variant.%s.watched_system_calls: %ld\n"
           "# variant.%s.watched_failed: %ld\n# variant.%s.watched_reads: %ld\n"
           "# variant.%s.watched_empty_reads: %ld\n# variant.%s.watched_given_reads: %ld\n",
           name, WATCHED_OPERATIONS, name, seen->all, name, seen->failed, name, seen->reads, name,
           seen->empty_reads, name, seen->given_reads);
}

#    define FAILURE_NOTICED 3
/* State whether the function returned 0 for a descriptor that is not open. If the OS kernel refused
 * no call, the function did not use the descriptor, and nothing is known. */
static inline void print_whether_noticed(const char *name, const struct system_calls *seen)
{
    if (seen->failed > 0)
        printf("# variant.%s.watched_failure_noticed: %d\n", name,
               seen->exit_with == FAILURE_NOTICED);
}
#    define WATCH_CALL(function)                                                                   \
        /* The same code as below: its traps are known by their places. */                         \
        static uint64_t (*volatile watched_calls)(long) = own_calls;                               \
        static void run_watched_call(void)                                                         \
        {                                                                                          \
            (void)watched_calls(WATCHED_OPERATIONS);                                               \
        }                                                                                          \
        static void run_call_that_fails(void)                                                      \
        {                                                                                          \
            _exit(function(-1) ? 0 : FAILURE_NOTICED);                                             \
        }                                                                                          \
        static void watch_call(const char *name)                                                   \
        {                                                                                          \
            struct system_calls seen;                                                              \
            given_descriptor = zero;                                                               \
            if (watch_system_calls(run_watched_call, &seen)) {                                     \
                print_system_calls(name, &seen);                                                   \
                time_without_calls(name, &seen, watched_calls, own_loop, 64);                      \
            }                                                                                      \
            if (watch_system_calls(run_call_that_fails, &seen))                                    \
                print_whether_noticed(name, &seen);                                                \
        }
#else
#    define WATCH_CALL(function)
#    define watch_call NULL
#endif

/* The variants `variant_name`, "invalid" and "loop", and main. */
#define MEASURE_OWN_CALL(variant_name, function)                                                   \
    OWN_INTERVAL(own_calls, function(zero))                                                        \
    WATCH_CALL(function)                                                                           \
    static uint64_t own_calls_that_work(long batch)                                                \
    {                                                                                              \
        const uint64_t ticks = own_calls(batch);                                                   \
        must_have_worked();                                                                        \
        return ticks;                                                                              \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {16, 32, 64, 128};                                           \
        static const struct variant variants[] = {{.name = variant_name,                           \
                                                   .about = "your call",                           \
                                                   .interval = own_calls_that_work,                \
                                                   .traps = 1,                                     \
                                                   .system_calls = 1,                              \
                                                   .baseline = "loop",                             \
                                                   .prepare = prepare_own,                         \
                                                   .watch = watch_call},                           \
                                                  OWN_FLOOR};                                      \
        static const struct c_kernel kernel = {.name = "own_call",                                 \
                                               .about = "what your system call costs",             \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches)};                           \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
