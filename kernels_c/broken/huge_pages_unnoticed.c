/*
 * Wrong on purpose: the set is in huge pages, which some systems give to any large array. One entry
 *   of the page table then covers 2 MB, so the loads hardly wait for it.
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

LADDER(in_huge_pages, "random-128m", 128 << 20, 64, IN_RANDOM_ORDER, HUGE_PAGES, walk)

static const struct variant variants[] = {{.name = "random-128m",
                                           .about = "a load from a set of 128 MB",
                                           .interval = interval_in_huge_pages,
                                           .prepare = prepare_in_huge_pages,
                                           .watch = watch_in_huge_pages,
                                           .cannot = no_huge_pages,
                                           .memory = 1}};
static const long batches[] = {32, 64, 128, 256};
MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
