/*
 * Wrong on purpose: the loop counts in one byte, so 300 calls become 44.
 * Repaired: system_call --variant getppid --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Divided by the number of calls asked for, each batch size gives another cost. Only a line through
 * several sizes shows that the work does not grow with k; one size alone would look like a fast
 * call.
 */
#define _GNU_SOURCE
#include "../harness.h"

static uint64_t getppid_in_a_loop(long batch)
{
    const unsigned char calls = (unsigned char)batch;
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (unsigned char left = calls; left > 0; left--)
        failed |= getppid() < 0;
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {
    {.name = "getppid", .about = "getppid()", .interval = getppid_in_a_loop, .system_calls = 1}};
static const long batches[] = {100, 200, 300, 400};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .batches_fixed = 1)
