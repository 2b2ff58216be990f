/*
 * Where in a page the stack stands while the samples are taken.
 *
 * A program's time can depend on it: where a load and a store lie at the same place of two pages, the
 * load waits. The OS puts the stack somewhere else in each process, and the environment's size moves it
 * too. With --stack-place a run chooses its places, so that its processes cover the page evenly.
 * Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!" (ASPLOS 2009).
 */
#ifndef TICKLAB_STACK_PLACE_H
#define TICKLAB_STACK_PLACE_H

#include <alloca.h>
#include <stdint.h>

enum { STACK_PLACES = 4096, STACK_GRAIN = 16, STACK_TRIES = 8 };

/* The place of a function that is called from here, modulo 4096, in steps of 16 bytes. */
__attribute__((noinline)) static long stack_place(void)
{
    __asm__ volatile("" : : : "memory"); /* so that no two calls become one */
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return (long)(frame % STACK_PLACES / STACK_GRAIN * STACK_GRAIN);
}

/* How many bytes lie between the two places; the stack grows down. */
static long bytes_down(long from, long to)
{
    return (from - to + 2 * STACK_PLACES) % STACK_PLACES;
}

/* The stack may have moved to a page that nobody has touched: no interval is to meet its first touch. */
__attribute__((noinline)) static void touch_below(void)
{
    char below[STACK_PLACES];
    below[0] = 0;
    __asm__ volatile("" : : "r"(below) : "memory");
}

/* Call work(argument) with the stack at `place`, rounded down to 16; where it is, if below 0. Returns
 * the place that it had. */
__attribute__((noinline)) static long at_stack_place(long place, void (*work)(void *),
                                                     void *argument)
{
    const long wanted = place / STACK_GRAIN * STACK_GRAIN;
    long at = stack_place();
    long more = 0; /* than was asked for: a compiler may round up */
    for (int i = 0; place >= 0 && at != wanted && i < STACK_TRIES; i++) {
        const long bytes = bytes_down(at, wanted + more);
        __asm__ volatile("" : : "r"(alloca((size_t)bytes + 1)) : "memory");
        const long now = stack_place();
        more = bytes_down(at, now) - bytes;
        at = now;
    }
    touch_below();
    work(argument);
    return at;
}

#endif
