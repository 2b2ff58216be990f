/*
 * Wrong on purpose: the loop is unrolled by four to cost less, and then the time of four calls is
 *   taken for that of one.
 * Repaired: system_call --variant getppid,invalid
 * Run with: --variant getppid,invalid
 */
#include "../own_call.h"

static uint64_t unrolled(long batch)
{
    const long parent = getppid();
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        failed |= getppid() != parent;
        failed |= getppid() != parent;
        failed |= getppid() != parent;
        failed |= getppid() != parent;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "getppid",
                                           .about = "getppid(), unrolled by four",
                                           .interval = unrolled,
                                           .system_calls = 4,
                                           .baseline = "loop"},
                                          OWN_FLOOR};
static const long batches[] = {4, 8, 16, 32};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
