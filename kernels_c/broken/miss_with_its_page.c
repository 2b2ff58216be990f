/*
 * Wrong on purpose: the memory is taken away to empty the cache, so a page fault is included.
 * Repaired: first_iteration --variant data-cache --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * New memory lacks its page first, and then its line in a cache. Report D explains the first time
 * of everything by "main memory" and never considers the page.
 */
#define _GNU_SOURCE
#include "../memory.h"

enum { MOST = 1024 };
static volatile unsigned char *memory;
static size_t bytes, apart;

static void prepare_memory(struct run *run)
{
    if (largest_batch(run) >= MOST)
        stop(STATUS_USAGE, "--batch: at most %d", MOST - 1);
    apart = (size_t)sysconf(_SC_PAGESIZE) + 64;
    bytes = MOST * apart;
    memory = untouched_pages(bytes);
}

static uint64_t load_from_new_memory(long batch)
{
    failed_calls |= madvise((void *)memory, bytes, MADV_DONTNEED) != 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--)
        (void)memory[(size_t)left * apart];
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "data-cache",
                                           .about = "load from memory that is new",
                                           .interval = load_from_new_memory,
                                           .prepare = prepare_memory,
                                           .memory = 1}};
static const long batches[] = {8, 16, 24, 32};
MEASURE(.name = "first_iteration", .about = "what is slow about the first time",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
