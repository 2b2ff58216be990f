/*
 * A list of numbers, and a sort in place by insertion.
 */
#ifndef TICKLAB_NUMBERS_H
#define TICKLAB_NUMBERS_H

#include "harness.h"

enum { NUMBERS = 40 };

/* Fill lists with random numbers. */
TICKLAB_INLINE void draw(int (*list)[NUMBERS], int lists, uint64_t *state)
{
    for (int i = 0; i < lists * NUMBERS; i++)
        list[i / NUMBERS][i % NUMBERS] = (int)(next_random(state) >> 33);
}

/* Returns whether the first number is not larger than the last one. */
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

#endif
