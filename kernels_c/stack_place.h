/*
 * The place of the stack within a page while the samples are taken.
 *
 * The time of a program can depend on it: if a load and a store have the same offset in two pages,
 * the load waits. The OS puts the stack somewhere else in each process, and the size of the
 * environment moves it too. With --stack-place, a run chooses the places, so that its processes
 * cover the page evenly. Mytkowicz et al., "Producing wrong data without doing anything obviously
 * wrong!" (ASPLOS 2009).
 */
#ifndef TICKLAB_STACK_PLACE_H
#define TICKLAB_STACK_PLACE_H

#include <alloca.h>
#include <stdint.h>

enum { STACK_PLACES = 4096, STACK_GRAIN = 16, STACK_TRIES = 8 };

/* The place of a function that is called from here, modulo 4096, in steps of 16 bytes. */
__attribute__((noinline)) static long stack_place(void)
{
    __asm__ volatile("" : : : "memory"); /* so that the compiler does not merge two calls */
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return (long)(frame % STACK_PLACES / STACK_GRAIN * STACK_GRAIN);
}

/* The number of bytes from one place down to the other; the stack grows down. */
static long bytes_down(long from, long to)
{
    return (from - to + 2 * STACK_PLACES) % STACK_PLACES;
}

/* The stack may have moved to a page that nobody has touched. Touch it here, so that no sample
 * contains its page fault. */
__attribute__((noinline)) static void touch_below(void)
{
    char below[STACK_PLACES];
    below[0] = 0;
    __asm__ volatile("" : : "r"(below) : "memory");
}

/* Call work(argument) with the stack at `place`, rounded down to a multiple of 16. If `place` is
 * below 0, the stack stays where it is. Returns the place that it had. */
__attribute__((noinline)) static long at_stack_place(long place, void (*work)(void *),
                                                     void *argument)
{
    const long wanted = place / STACK_GRAIN * STACK_GRAIN;
    long at = stack_place();
    long more = 0; /* more bytes than asked for: a compiler may round up */
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
