/*
 * Wrong on purpose: each node leads to one that is drawn at random, and no draw remembers the
 *   others. Such an order soon repeats itself: it goes round about a thousand of two million nodes.
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

LADDER(drawn, "random-128m", 128 << 20, 64, IN_RANDOM_ORDER, SMALL_PAGES, walk)

static void prepare_short(struct run *run)
{
    prepare_drawn(run);
    for (size_t place = 0; place < nodes_of(&drawn); place++)
        node_at(&drawn, place)->next =
            node_at(&drawn, next_random(&run->random) % nodes_of(&drawn));
    number_nodes(&drawn);
}

static const struct variant variants[] = {{.name = "random-128m",
                                           .about = "a load from a set of 128 MB",
                                           .interval = interval_drawn,
                                           .prepare = prepare_short,
                                           .watch = watch_drawn,
                                           .memory = 1}};
static const long batches[] = {32, 64, 128, 256};
MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
