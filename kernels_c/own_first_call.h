/*
 * The plumbing of lab 02's exercise: two first calls. A student's function prepares one of them.
 *
 *     static void get_ready(const volatile unsigned char *code)
 *     {
 *         do what makes the first call of this code cheap, without calling it
 *     }
 *     MEASURE_OWN_FIRST_CALL(get_ready)
 *
 * "own" and "unprepared" each call a procedure that has a page of its own and has never run. Both
 * lose their page. Then get_ready() gets the address of the code that "own" calls.
 */
#ifndef TICKLAB_OWN_FIRST_CALL_H
#define TICKLAB_OWN_FIRST_CALL_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "remote_call.h"

#if HAVE_REMOTE
#    define FIRST_CALL(name, called, get_ready)                                                    \
        static uint64_t name(long batch)                                                           \
        {                                                                                          \
            static int before;                                                                     \
            if (is_first(&before, batch)) {                                                        \
                take_code_away(called);                                                            \
                get_ready((const volatile unsigned char *)(uintptr_t)called);                      \
            }                                                                                      \
            const uint64_t begin = counter_begin();                                                \
            for (register long left = batch; left > 0; left--) {                                   \
                __asm__ volatile("" : "+r"(left));                                                 \
                called();                                                                          \
            }                                                                                      \
            const uint64_t end = counter_end();                                                    \
            return end - begin;                                                                    \
        }                                                                                          \
        /* Run the region once while it is empty: then only the call is new. */                    \
        static void prepare_##name(struct run *run)                                                \
        {                                                                                          \
            (void)run;                                                                             \
            (void)name(0);                                                                         \
        }
#    define FIRST_CALLS(own_ready)                                                                 \
        FIRST_CALL(own_call, remote_procedure, own_ready)                                          \
        FIRST_CALL(unprepared_call, other_remote_procedure, (void))
#    define BY_CALL(function) .interval = function, .prepare = prepare_##function
#else
#    define FIRST_CALLS(own_ready)                                                                 \
        __attribute__((unused)) static void (*const unused_here)(const volatile unsigned char *) = \
            own_ready;
#    define BY_CALL(function) .missing = "not written in this processor's language"
#endif

#define MEASURE_OWN_FIRST_CALL(own_ready)                                                          \
    FIRST_CALLS(own_ready)                                                                         \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {                                                 \
            {.name = "own",                                                                        \
             .about = "first call of a procedure, after your get_ready()",                         \
             .estimand = ESTIMAND_FIRST_TIME,                                                      \
             .memory = 1,                                                                          \
             BY_CALL(own_call)},                                                                   \
            {.name = "unprepared",                                                                 \
             .about = "first call of another, that nobody got ready",                              \
             .estimand = ESTIMAND_FIRST_TIME,                                                      \
             .memory = 1,                                                                          \
             BY_CALL(unprepared_call)}};                                                           \
        static const long batches[] = {1};                                                         \
        static const struct c_kernel kernel = {                                                    \
            .name = "own_first_call",                                                              \
            .about = "what is left of a first call when you got ready",                            \
            LISTED_VARIANTS(variants),                                                             \
            LISTED_BATCHES(batches),                                                               \
            .samples = 30};                                                                        \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
