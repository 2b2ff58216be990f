/*
 * Wrong on purpose: each node leads to the one at the next address, so a prefetcher has the line
 *   before the load asks for it. Every load waits for the one before, and yet this is not what a
 *   load from memory costs.
 * Repaired: memory_ladder --variant random-128m
 */
#define _GNU_SOURCE
#include "../ladder.h"

static uint64_t walk(struct ladder *ladder, long batch)
{
    bring_back(ladder);
    const struct node *node = ladder->at;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        node = node->next;
    }
    __asm__ volatile("" : : "r"(node));
    const uint64_t end = counter_end();
    /* measured region ends */
    note_end(ladder, node, batch);
    return end - begin;
}

LADDER(in_order, "random-128m", 128 << 20, 64, IN_ORDER_OF_ADDRESSES, SMALL_PAGES, walk)

static const struct variant variants[] = {{.name = "random-128m",
                                           .about = "a load from a set of 128 MB",
                                           .interval = interval_in_order,
                                           .prepare = prepare_in_order,
                                           .watch = watch_in_order,
                                           .memory = 1}};
static const long batches[] = {32, 64, 128, 256};
MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
