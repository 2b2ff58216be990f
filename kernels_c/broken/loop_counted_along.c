/*
 * Wrong on purpose: the loop keeps a running mean while it is timed, and nothing is subtracted.
 * Repaired: system_call --variant getppid,invalid
 * Run with: --variant getppid
 *
 * Report B divided the time of the whole loop by its rounds. Here the loop does what many programs
 * do between two calls, and that is counted as part of the call.
 */
#include "../own_call.h"

static volatile double mean;

static uint64_t call_and_mean(long batch)
{
    const long parent = getppid();
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (volatile long done = 0; done < batch; done++) {
        const long answer = getppid();
        failed |= answer != parent;
        mean += ((double)answer - mean) / (double)(done + 1);
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "getppid",
                                           .about = "getppid(), and what the loop does",
                                           .interval = call_and_mean,
                                           .system_calls = 1},
                                          OWN_FLOOR};
static const long batches[] = {16, 32, 64, 128};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
