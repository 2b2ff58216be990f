/*
 * Wrong on purpose: one variant is measured after the other without warm-up, so the first one pays
 *   for cold code.
 * Repaired: procedure_call --variant args0,args1 --samples 1000 --processes 10
 * Run with: --variant args0,args1 --samples 200 --processes 10 --warmup 0
 *
 * Report A measures calls without an argument first, then with one, and so on, and explains the
 * first figure. Here the samples are put in that order before they are taken.
 */
#define _GNU_SOURCE
#include "../harness.h"

#define PROCEDURE static __attribute__((noinline, aligned(4096))) void
#define INTERVAL(name, call)                                                                       \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (long left = batch; left > 0; left--)                                                  \
            call;                                                                                  \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        return end - begin;                                                                        \
    }

PROCEDURE args0(void)
{
    __asm__ volatile("" : : : "memory");
}
PROCEDURE args1(long a)
{
    __asm__ volatile("" : : "r"(a) : "memory");
}
INTERVAL(call0, args0())
INTERVAL(call1, args1(1))

static int in_turn(const void *a, const void *b)
{
    return ((const struct sample *)a)->variant - ((const struct sample *)b)->variant;
}

static void lay_in_turn(struct run *run)
{
    qsort(run->samples, (size_t)(run->warmup_total + run->total), sizeof(struct sample), in_turn);
}

static const struct variant variants[] = {
    {.name = "args0", .about = "first", .interval = call0, .prepare = lay_in_turn},
    {.name = "args1", .about = "second", .interval = call1}};
static const long batches[] = {8, 16, 32, 64};
MEASURE(.name = "procedure_call", .about = "what a procedure call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
