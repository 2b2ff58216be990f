/*
 * Wrong on purpose: the procedure does nothing, so the compiler leaves out the call at -O2.
 * Repaired: procedure_call --variant args0,inlined --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * The compiler must keep what a call computes, not the call itself. What is left is an empty loop,
 * which costs as much as the baseline.
 */
#define _GNU_SOURCE
#include "../harness.h"

static void without_arguments(void)
{
}

static uint64_t calls(long batch)
{
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        without_arguments();
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static uint64_t loop(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        __asm__ volatile("" : "+r"(left));
    return counter_end() - begin;
}

static const struct variant variants[] = {
    {.name = "args0", .about = "calls, or so it seems", .interval = calls, .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop}};
static const long batches[] = {256, 512, 1024, 2048};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
