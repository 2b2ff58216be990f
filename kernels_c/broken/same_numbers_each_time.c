/*
 * Wrong on purpose: each sort gets a copy of the same list, and the branch predictor learns its
 *   order.
 * Repaired: own_question --variant operation --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 */
#include "../own_question.h"

enum { NUMBERS = 40 };
static int list[NUMBERS], copy[NUMBERS];
static long sorted_lists;

static void set_up(void)
{
    uint64_t state = clock_ns(REFERENCE_CLOCK) | 1;
    for (int i = 0; i < NUMBERS; i++)
        list[i] = (int)(next_random(&state) >> 33);
}

static int sort(int *number)
{
    for (int i = 1; i < NUMBERS; i++) {
        const int placed = number[i];
        int at = i;
        for (; at > 0 && number[at - 1] > placed; at--)
            number[at] = number[at - 1];
        number[at] = placed;
    }
    return number[0] <= number[NUMBERS - 1];
}

TICKLAB_INLINE int operation(void)
{
    sorted_lists++;
    /* measured region begins */
    return sort(memcpy(copy, list, sizeof copy));
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
