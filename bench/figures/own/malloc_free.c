/*
 * What do malloc() and free() of 64 bytes cost together?
 *
 * The block is freed before the next one is taken. So the allocator gives the same block again, from
 * the list that each thread keeps (tcache in glibc): this is the cheapest case, and the usual one.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "harness.h"
#include "watched_steps.h"

/* The compiler must neither know the size nor see that nobody uses the block: it may then remove
 * both calls. */
static volatile size_t bytes = 64;

TICKLAB_INLINE int operation(void)
{
    void *block = malloc(bytes);
    __asm__ volatile("" : "+r"(block) : : "memory");
    free(block);
    return block != NULL;
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

/* Evidence from outside: a child of this process runs 16 operations once more after the last
 * sample, and this process follows it instruction by instruction and counts its calls. */
enum { WATCHED = 16 };

#if HAVE_WATCH
__attribute__((noinline)) static uint64_t watched_operations(void)
{
    return operations(WATCHED);
}

static void run_watched_operations(void)
{
    uint64_t (*volatile function)(void) = watched_operations;
    (void)function();
}

static void print_evidence(const char *name)
{
    struct steps seen;
    if (watch_steps(run_watched_operations, watched_operations, &seen) == ALL_SEEN)
        printf("# variant.%s.watched_operations: %d\n# variant.%s.watched_calls: %ld\n"
               "# variant.%s.watched_inside: %ld\n",
               name, WATCHED, name, seen.calls, name, seen.inside);
}
#else
#    define print_evidence NULL
#endif

static const struct variant variants[] = {
    {.name = "malloc-free",
     .about = "malloc() and free() of 64 bytes",
     .interval = operations,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};
static const long batches[] = {256, 512, 768, 1024};

MEASURE(.name = "malloc_free", .about = "what malloc and free of 64 bytes cost",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
