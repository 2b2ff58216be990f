#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

static int ends[2];
static long written;

static void prepare_pipe(struct run *run)
{
    (void)run;
    if (pipe2(ends, O_NONBLOCK) != 0)
        stop(STATUS_FAILED, "there is no pipe");
}

/* A full pipe takes no byte, and nobody looks. */
TICKLAB_INLINE int operation(void)
{
    written++;
    return write(ends[1], "x", 1) <= 1;
}

#define INTERVAL(name, operation)                                                                  \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(operation);                                                                \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

INTERVAL(loop, 1)
INTERVAL(operations, operation())

static void print_evidence(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.counted_operations: %ld\n", name,
           written, name, written);
}

static const struct variant variants[] = {
    {.name = "operation",
     .about = "write() of one byte into a pipe",
     .interval = operations,
     .prepare = prepare_pipe,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};

static const long batches[] = {64, 96, 128, 192};

MEASURE(.name = "own_question", .about = "what one byte into a pipe costs",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
