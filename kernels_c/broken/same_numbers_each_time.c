/*
 * Wrong on purpose: each sort gets a copy of the same list, and the branch predictor learns its
 *   order.
 * Repaired: own_question --variant operation --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 */
#include "../own_question.h"

#include "../numbers.h"

static int list[NUMBERS], copy[NUMBERS];
static long sorted_lists;

static void set_up(void)
{
    uint64_t state = clock_ns(REFERENCE_CLOCK) | 1;
    draw(&list, 1, &state);
}

TICKLAB_INLINE int operation(void)
{
    /* measured region begins */
    return (sorted_lists += sort(memcpy(copy, list, sizeof copy))) > 0;
    /* measured region ends */
}

TICKLAB_INLINE int other(void)
{
    return 1;
}

TICKLAB_INLINE int baseline(void)
{
    return memcpy(copy, list, sizeof copy) != NULL;
}

static long counted(void)
{
    const long all = sorted_lists;
    sorted_lists = 0;
    return all;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
