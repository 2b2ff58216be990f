/*
 * What does it cost to write one byte into a pipe?
 *
 *     labs measure @NAME@.c          builds this file and measures it
 *     labs measure @NAME@.c --help   shows the options: CPU, samples, flags of the compiler
 *
 * Replace this question, and what follows under the numbers 1 to 4, by your own. A sample times k
 * operations between two readings of the counter. The samples of several k lie on a line:
 *
 *     T(k) = overhead + k * cost
 *
 * Its slope is the cost of one operation. The loop around the operation costs something too. The
 * same run measures it as the variant "loop", and its cost is subtracted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

static int ends[2];         /* of the pipe: to read from, to write to */
static long claimed, found; /* bytes that were written, and those that were in the pipe */

/* 1. What must be there before the first sample. Nothing here is timed. */
static void prepare_pipe(struct run *run)
{
    (void)run;
    if (pipe(ends) != 0)
        stop(STATUS_FAILED, "there is no pipe: %s", strerror(errno));
    /* A call that would wait fails instead, so a full pipe ends the run with a message. */
    for (int i = 0; i < 2; i++)
        if (fcntl(ends[i], F_SETFL, O_NONBLOCK) != 0)
            stop(STATUS_FAILED, "the pipe cannot be set not to wait: %s", strerror(errno));
}

/* 2. The operation. It returns whether it worked; one that did not work fails the run. */
TICKLAB_INLINE int operation(void)
{
    return write(ends[1], "x", 1) == 1;
}

/* 3. The evidence. How many operations happened since the last call of this function? Do not ask
 * the code of the operation: ask somebody else who saw its effect. Here the OS counts the bytes in
 * the pipe. */
static long counted(void)
{
    static char bytes[4096];
    long all = 0;
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
        all += got;
    return all;
}

/* One sample: k times `operation`. The empty asm makes the compiler count every turn of the loop,
 * so that the loop of the baseline is the same. */
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

/* A sample whose operations did not all happen ends the run: its time would belong to something
 * else. The count comes after the timed region. */
static uint64_t operations_that_happened(long batch)
{
    const uint64_t ticks = operations(batch);
    const long happened = counted();
    if (happened != batch)
        stop(STATUS_FAILED, "%ld of %ld operations happened in one sample; is --batch too large?",
             happened, batch);
    claimed += batch;
    found += happened;
    return ticks;
}

/* The recording states the evidence with its conditions. */
static void print_evidence(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.counted_operations: %ld\n", name,
           claimed, name, found);
}

/* 4. What can be measured. The first variant is measured if --variant names none. To compare two
 * ways, add a second operation as another variant. kernels_c/harness.h explains all fields. */
static const struct variant variants[] = {
    {.name = "write",
     .about = "write() of one byte into a pipe",
     .interval = operations_that_happened,
     .prepare = prepare_pipe,
     .watch = print_evidence,
     .system_calls = 1,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};

/* The k of the samples. The longest sample should take less than about 100 us: an interrupt comes
 * into a longer one too often. If the largest k is eight times the smallest, a cost that changes
 * with k is seen. */
static const long batches[] = {8, 16, 32, 64};

MEASURE(.name = "@NAME@", .about = "what one byte into a pipe costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
