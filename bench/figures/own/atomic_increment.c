/*
 * What does an atomic increment cost, alone and while another CPU increments the same number?
 *
 * The evidence is the number itself. Alone, it grows by k in a sample of k operations. Contended, it
 * grows by more, and the recording states how many increments of the other thread came between.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "harness.h"
#include "other_thread.h"

/* A number that has its cache lines to itself. With something of the other thread beside it, an
 * increment "alone" took five times as long. */
struct lines {
    _Alignas(128) atomic_long number;
    char nothing[128 - sizeof(atomic_long)];
};
static struct lines alone, contended;
static struct lines others_turn; /* the other thread increments while this is set */
static long claimed, found, claimed_contended, of_others;

TICKLAB_INLINE int operation(void)
{
    atomic_fetch_add_explicit(&alone.number, 1, memory_order_relaxed);
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
INTERVAL(contended_operations,
         (atomic_fetch_add_explicit(&contended.number, 1, memory_order_relaxed), 1))

/* The same as other tools are usually shown: a loop whose counter is
 * compared in the instruction that decrements it. */
static uint64_t as_peers(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left != 0; left--) {
        __asm__ volatile("");
        operation();
    }
    return counter_end() - begin;
}

static long counted(void)
{
    return atomic_load(&alone.number);
}

/* A sample whose operations did not all happen ends the run. The count is outside the timed
 * region. */
TICKLAB_INLINE uint64_t that_happened(uint64_t (*sample)(long), long batch)
{
    const long before = counted();
    const uint64_t ticks = sample(batch);
    const long happened = counted() - before;
    if (happened != batch)
        stop(STATUS_FAILED, "%ld of %ld operations happened in one sample", happened, batch);
    claimed += batch;
    found += happened;
    return ticks;
}

static uint64_t operations_that_happened(long batch)
{
    return that_happened(operations, batch);
}

static uint64_t as_peers_that_happened(long batch)
{
    return that_happened(as_peers, batch);
}

/* The recording states the evidence with its conditions. */
static void print_evidence(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.counted_operations: %ld\n", name,
           claimed, name, found);
}

static void *increment(void *unused)
{
    (void)unused;
    while (!over)
        if (atomic_load_explicit(&others_turn.number, memory_order_relaxed))
            for (int i = 0; i < 64; i++)
                atomic_fetch_add_explicit(&contended.number, 1, memory_order_relaxed);
    return NULL;
}

static void start_other(struct run *run)
{
    start_thread(increment, first_place(run), second_place(run));
}

/* The other thread increments before the first reading, until after the last one. */
static uint64_t contended_sample(long batch)
{
    const long before = atomic_load(&contended.number);
    atomic_store(&others_turn.number, 1);
    while (atomic_load(&contended.number) < before + 64)
        ;
    const long begin = atomic_load(&contended.number);
    const uint64_t ticks = contended_operations(batch);
    const long both = atomic_load(&contended.number) - begin;
    atomic_store(&others_turn.number, 0);
    claimed_contended += batch;
    of_others += both - batch;
    return ticks;
}

static void print_others(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.operations_of_others: %ld\n", name,
           claimed_contended, name, of_others);
}

static const struct variant variants[] = {
    {.name = "alone",
     .about = "an atomic increment that nobody else uses",
     .interval = operations_that_happened,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "alone-as-peers",
     .about = "the same in a shorter loop",
     .interval = as_peers_that_happened,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "contended",
     .about = "the same while a thread on another CPU increments the same number",
     .interval = contended_sample,
     .prepare = start_other,
     .finish = end_thread,
     .watch = print_others,
     .cannot = no_second_cpu,
     TWO_ON_TWO_CPUS,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};
static const long batches[] = {128, 256, 384, 512};

MEASURE(.name = "atomic_increment", .about = "what an atomic increment costs",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
