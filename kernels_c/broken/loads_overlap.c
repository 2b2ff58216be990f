/*
 * Wrong on purpose: the places are computed, so no load has to wait for the one before. The core
 *   makes several loads at once. A load per so much time is throughput, not what one load takes.
 * Repaired: memory_ladder --variant random-128m
 */
#define _GNU_SOURCE
#include "../ladder.h"

static uint64_t sum;

static uint64_t walk(struct ladder *ladder, long batch)
{
    const size_t count = nodes_of(ladder);
    size_t place = ladder->at->number;
    const struct node *node = ladder->at;
    bring_back(ladder);
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        place = (place * 1664525 + 1013904223) % count;
        node = node_at(ladder, place);
        sum += node->number;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    note_end(ladder, node, batch);
    return end - begin;
}

LADDER(loaded, "random-128m", 128 << 20, 64, IN_RANDOM_ORDER, SMALL_PAGES, walk)

static const struct variant variants[] = {{.name = "random-128m",
                                           .about = "a load from a set of 128 MB",
                                           .interval = interval_loaded,
                                           .prepare = prepare_loaded,
                                           .watch = watch_loaded,
                                           .memory = 1}};
static const long batches[] = {32, 64, 128, 256};
MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
