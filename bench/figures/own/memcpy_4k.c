/*
 * What does memcpy() of 4 KiB cost, from and to memory that is in the first cache?
 *
 * The evidence: each sample copies other bytes, and afterwards all of them are at the target. Half a
 * page lies between source and target, so no load has the low address bits of an earlier store.
 */
#define _GNU_SOURCE
#include <string.h>

#include "harness.h"

enum { BYTES = 4096, DISTANCE = BYTES + BYTES / 2 };
static _Alignas(4096) char block[DISTANCE + BYTES];
static volatile size_t bytes = BYTES; /* the compiler must not know it, and put other code here */
static long claimed, found;

TICKLAB_INLINE int operation(void)
{
    memcpy(block + DISTANCE, block, bytes);
    __asm__ volatile("" : : : "memory"); /* somebody may read the copy */
    return 1;
}

/* One sample: k times `operation`, in the form of `labs new`. */
#define INTERVAL(name, operation)                                                                  \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(operation);                                                                \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

INTERVAL(loop, 1)
INTERVAL(operations, operation())

static uint64_t operations_that_happened(long batch)
{
    for (int i = 0; i < BYTES; i++)
        block[i] = (char)(claimed + i);
    const uint64_t ticks = operations(batch);
    if (memcmp(block, block + DISTANCE, BYTES) != 0)
        stop(STATUS_FAILED, "the copy differs from its source");
    claimed += batch;
    found += batch;
    return ticks;
}

static void print_evidence(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.compared_copies: %ld\n", name,
           claimed, name, found);
}

static const struct variant variants[] = {
    {.name = "memcpy",
     .about = "memcpy() of 4 KiB",
     .interval = operations_that_happened,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};
static const long batches[] = {32, 64, 96, 128};

MEASURE(.name = "memcpy_4k", .about = "what memcpy of 4 KiB costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
