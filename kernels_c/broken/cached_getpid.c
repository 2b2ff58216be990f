/*
 * Wrong on purpose: getpid() of a C library that keeps the answer, so no system call is made.
 * Repaired: system_call --variant getppid,invalid
 *
 * glibc 2.3.4 to 2.24 kept the process id. Report A timed that and called it a system call. Here
 * you can see the cache in the source.
 */
#include "../own_call.h"

static pid_t kept;

static __attribute__((noinline)) pid_t getpid_of_library(void)
{
    if (kept == 0)
        kept = getpid(); /* the one and only system call */
    __asm__ volatile("" ::: "memory");
    return kept;
}

static uint64_t getpid_kept(long batch)
{
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        getpid_of_library();
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "getppid",
                                           .about = "getpid(), kept",
                                           .interval = getpid_kept,
                                           .system_calls = 1,
                                           .baseline = "loop"},
                                          OWN_FLOOR};
/* With 64 to 512 calls, the mean of 64 lay 7 % off the line in each of 5 runs. */
static const long batches[] = {512, 1024, 2048, 4096};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
