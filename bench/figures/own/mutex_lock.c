/*
 * What do pthread_mutex_lock() and pthread_mutex_unlock() cost if nobody else wants the mutex?
 *
 * There are two answers. Since version 2.34, glibc locks without an atomic instruction as long as a
 * process has one thread only. So a second variant does the same after a thread has been created.
 * Once a thread was created, the first case does not come back: measure each variant in a run of
 * its own.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "harness.h"
#include "watched_steps.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

TICKLAB_INLINE int operation(void)
{
    return (pthread_mutex_lock(&mutex) | pthread_mutex_unlock(&mutex)) == 0;
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

/* The same as other tools are usually shown: no check of the result, and a loop whose counter is
 * compared in the instruction that decrements it. */
static uint64_t as_peers(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left != 0; left--) {
        __asm__ volatile("");
        (void)operation();
    }
    return counter_end() - begin;
}

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

static void *do_nothing(void *unused)
{
    return unused;
}

/* For glibc, a process that has created one thread is a process with threads, also when the thread
 * has ended. */
static void create_thread(struct run *run)
{
    pthread_t thread;
    (void)run;
    if (pthread_create(&thread, NULL, do_nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        stop(STATUS_IMPOSSIBLE, "no second thread can be created");
}

static const struct variant variants[] = {
    {.name = "one-thread",
     .about = "lock and unlock in a process that never had a second thread",
     .interval = operations,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "with-threads",
     .about = "lock and unlock in a process that has created a thread",
     .interval = operations,
     .prepare = create_thread,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "one-thread-as-peers",
     .about = "the first one without a check, in a shorter loop",
     .interval = as_peers,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "with-threads-as-peers",
     .about = "the second one without a check, in a shorter loop",
     .interval = as_peers,
     .prepare = create_thread,
     .watch = print_evidence,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};
static const long batches[] = {256, 512, 768, 1024};

MEASURE(.name = "mutex_lock", .about = "what an uncontended mutex costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
