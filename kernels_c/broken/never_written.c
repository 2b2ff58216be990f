/*
 * Wrong on purpose: nobody has written to the set. The OS lets all its pages be one page of zeros, so
 *   that all loads find their line in the first cache, once they have found the page.
 * Repaired: memory_ladder --variant random-128m
 */
#define _GNU_SOURCE
#include "../ladder.h"

static struct ladder zeros = {.name = "random-128m", .bytes = 128 << 20, .stride = 64};
static size_t place;

/* The next place depends on what was loaded. The places are those of a full cycle: Hull & Dobell,
 * "Random number generators", SIAM Review 4 (1962). */
static uint64_t walk(long batch)
{
    const size_t count = nodes_of(&zeros);
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        place = (place * 1664525 + 1013904223 + node_at(&zeros, place)->number) % count;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static void prepare_zeros(struct run *run)
{
    (void)run;
    reserve_ladder(&zeros);
    uint64_t sum = 0;
    for (size_t each = 0; each < nodes_of(&zeros); each++)
        sum += node_at(&zeros, each)->number; /* read, never written */
    if (sum != 0)
        stop(STATUS_FAILED, "memory that nobody has written to is not zero");
}

static void watch_zeros(const char *variant)
{
    print_set(variant, &zeros);
}

static const struct variant variants[] = {{.name = "random-128m",
                                           .about = "a load from a set of 128 MB",
                                           .interval = walk,
                                           .prepare = prepare_zeros,
                                           .watch = watch_zeros,
                                           .memory = 1}};
static const long batches[] = {32, 64, 128, 256};
MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
