/*
 * The plumbing of lab 09's exercise: a walk through 128 MB in an order that a student writes.
 *
 *     static void order(long *next, long count)
 *     {
 *         let next[i] be the number of the cache line that is loaded after line i
 *     }
 *     MEASURE_OWN_LADDER(order)
 *
 * The same run walks through the same number of lines in the order of the kit. The lines of the
 * student's order are followed once before the first sample. So the run knows how many of them the
 * walk meets before it repeats itself, and how many hops a prefetcher can foresee.
 */
#ifndef TICKLAB_OWN_LADDER_H
#define TICKLAB_OWN_LADDER_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "ladder.h"

enum { OWN_SET = 128 << 20, OWN_STRIDE = 64 };

static uint64_t walk_own(struct ladder *ladder, long batch)
{
    bring_back(ladder);
    const struct node *node = ladder->at;
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        node = node->next;
    }
    __asm__ volatile("" : : "r"(node));
    const uint64_t end = counter_end();
    note_end(ladder, node, batch);
    return end - begin;
}

LADDER(own, "own-128m", OWN_SET, OWN_STRIDE, IN_ORDER_OF_ADDRESSES, SMALL_PAGES, walk_own)
LADDER(kit, "random-128m", OWN_SET, OWN_STRIDE, IN_RANDOM_ORDER, SMALL_PAGES, walk_own)

/* A random number from 0 to `below` - 1, for the student's order. */
static uint64_t random_of_order = 1;
TICKLAB_INLINE long random_below(long below)
{
    return (long)((next_random(&random_of_order) >> 32) * (uint64_t)below >> 32);
}

/* Swap two entries of the student's order. */
TICKLAB_INLINE void swap(long *next, long one, long other)
{
    const long count = OWN_SET / OWN_STRIDE;
    const long outside = one < 0 || one >= count ? one : other;
    if (outside < 0 || outside >= count)
        stop(STATUS_FAILED,
             "your order: swap(next, %ld, %ld), and the cache lines have the numbers 0 to %ld", one,
             other, count - 1);
    const long before = next[one];
    next[one] = next[other];
    next[other] = before;
}

/* Let the nodes lead where the student's order says. */
static void link_as_told(struct run *run, void (*order)(long *next, long count))
{
    const long count = (long)nodes_of(&own);
    long *next = calloc((size_t)count, sizeof *next);
    if (next == NULL)
        stop(STATUS_IMPOSSIBLE, "no memory for the order of %ld cache lines", count);
    random_of_order = run->random | 1;
    order(next, count);
    for (long i = 0; i < count; i++) {
        if (next[i] < 0 || next[i] >= count)
            stop(STATUS_FAILED,
                 "your order: next[%ld] is %ld, and the cache lines have the numbers 0 to %ld", i,
                 next[i], count - 1);
        node_at(&own, (size_t)i)->next = node_at(&own, (size_t)next[i]);
    }
    free(next);
    number_nodes(&own);
}

#define OWN_WALK(id, called, what, prepares)                                                       \
    {.name = called,                                                                               \
     .about = what,                                                                                \
     .interval = interval_##id,                                                                    \
     .prepare = prepares,                                                                          \
     .watch = watch_##id,                                                                          \
     .memory = 1}

/* The variants, and main. */
#define MEASURE_OWN_LADDER(order)                                                                  \
    static void prepare_own_order(struct run *run)                                                 \
    {                                                                                              \
        prepare_own(run);                                                                          \
        link_as_told(run, order);                                                                  \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {                                                 \
            OWN_WALK(own, "own-128m", "every cache line of 128m bytes, in your order",             \
                     prepare_own_order),                                                           \
            OWN_WALK(kit, "random-128m", "every cache line of 128m bytes, in random order",        \
                     prepare_kit)};                                                                \
        static const long batches[] = {32, 64, 128, 256};                                          \
        static const struct c_kernel kernel = {.name = "own_ladder",                               \
                                               .about = "what a load costs in your order",         \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches),                            \
                                               .samples = 400};                                    \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
