/*
 * What does a memory access cost, by working set and stride?
 *
 * Each load gives the address of the next one, so no load can begin before the last one has ended:
 * T(k) = overhead + k * load. "random" visits the nodes of its set in one random cycle, which no
 * prefetcher foresees; "ordered" visits them by their addresses. A node is in every cache line of 64
 * bytes, or in one line every 256 or 4096 bytes. No empty loop is subtracted: the core does the loop's
 * instructions while it waits for a load. Pages are small, and each has been written to. Only
 * "huge" uses huge pages, and the OS counts them. A stride of 4096 uses few places of a cache,
 * because the low bits of an address choose the place.
 */
#define _GNU_SOURCE
#include "ladder.h"

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
    if (!leads_to(ladder, node, batch))
        stop(STATUS_FAILED, "%s: a sample did not make its %ld hops", ladder->name, batch);
    note_end(ladder, node, batch);
    return end - begin;
}

#define FOR_EACH_SIZE(what)                                                                        \
    what(16k, 16 << 10) what(32k, 32 << 10) what(64k, 64 << 10) what(128k, 128 << 10)              \
        what(256k, 256 << 10) what(512k, 512 << 10) what(1m, 1 << 20) what(2m, 2 << 20)            \
            what(4m, 4 << 20) what(8m, 8 << 20) what(16m, 16 << 20) what(32m, 32 << 20)            \
                what(64m, 64 << 20) what(128m, 128 << 20) what(256m, 256 << 20)
#define FOR_EACH_LARGE_SIZE(what)                                                                  \
    what(4m, 4 << 20) what(16m, 16 << 20) what(64m, 64 << 20) what(256m, 256 << 20)
#define FOR_EACH_STRIDED_SIZE(what) what(256k, 256 << 10) FOR_EACH_LARGE_SIZE(what)

#define RANDOM(size, bytes)                                                                        \
    LADDER(random_##size, "random-" #size, bytes, 64, IN_RANDOM_ORDER, SMALL_PAGES, walk)
#define ORDERED(size, bytes)                                                                       \
    LADDER(ordered_##size, "ordered-" #size, bytes, 64, IN_ORDER_OF_ADDRESSES, SMALL_PAGES, walk)
#define STRIDED(order, kind, stride, size, bytes)                                                  \
    LADDER(order##_##stride##_##size, #order "-" #stride "-" #size, bytes, stride, kind,           \
           SMALL_PAGES, walk)
#define BY_STRIDES(size, bytes)                                                                    \
    STRIDED(random, IN_RANDOM_ORDER, 256, size, bytes)                                             \
    STRIDED(random, IN_RANDOM_ORDER, 4096, size, bytes)                                            \
    STRIDED(ordered, IN_ORDER_OF_ADDRESSES, 256, size, bytes)                                      \
    STRIDED(ordered, IN_ORDER_OF_ADDRESSES, 4096, size, bytes)
#define HUGE(size, bytes)                                                                          \
    LADDER(huge_##size, "huge-" #size, bytes, 64, IN_RANDOM_ORDER, HUGE_PAGES, walk)

FOR_EACH_SIZE(RANDOM)
FOR_EACH_SIZE(ORDERED)
FOR_EACH_STRIDED_SIZE(BY_STRIDES)
FOR_EACH_LARGE_SIZE(HUGE)

#define OF(id, called, what, bytes)                                                                \
    .name = called, .about = what, .interval = interval_##id, .prepare = prepare_##id,             \
    .watch = watch_##id, .memory = (bytes) > (32 << 10)
#define VARIANTS_OF_EACH_LINE(size, bytes)                                                         \
    {OF(random_##size, "random-" #size, "every cache line of " #size " bytes, in random order",    \
        bytes)},                                                                                   \
        {OF(ordered_##size, "ordered-" #size, "every cache line of " #size " bytes, by address",   \
            bytes)},
#define VARIANT_STRIDED(order, how, stride, size, bytes)                                           \
    {OF(order##_##stride##_##size, #order "-" #stride "-" #size,                                   \
        "one line in every " #stride " bytes of " #size " bytes, " how, bytes)},
#define VARIANTS_BY_STRIDES(size, bytes)                                                           \
    VARIANT_STRIDED(random, "in random order", 256, size, bytes)                                   \
    VARIANT_STRIDED(random, "in random order", 4096, size, bytes)                                  \
    VARIANT_STRIDED(ordered, "by address", 256, size, bytes)                                       \
    VARIANT_STRIDED(ordered, "by address", 4096, size, bytes)
#define VARIANT_HUGE(size, bytes)                                                                  \
    {OF(huge_##size, "huge-" #size,                                                                \
        "every cache line of " #size " bytes, in random order, in huge pages", bytes),             \
     .cannot = no_huge_pages},

static const struct variant variants[] = {FOR_EACH_SIZE(VARIANTS_OF_EACH_LINE)
                                              FOR_EACH_STRIDED_SIZE(VARIANTS_BY_STRIDES)
                                                  FOR_EACH_LARGE_SIZE(VARIANT_HUGE)};

/* The largest samples stay below 100 us where a load takes 300 ns: of longer ones, too many are
 * interrupted. */
static const long batches[] = {32, 64, 128, 256};

MEASURE(.name = "memory_ladder", .about = "what a memory access costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400)
