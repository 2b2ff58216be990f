/*
 * What does it cost to sort 40 numbers?
 *
 * An operation draws one of 1,024 lists, copies it, and sorts the copy. The other one does so with
 * lists that are sorted already. The baseline draws and copies. A copy that is sorted shows that an
 * operation happened.
 */
#include "own_question.h"

#include "numbers.h"

enum { LISTS = 1024, COPIES = 256 };
static int lists[LISTS][NUMBERS], ordered[LISTS][NUMBERS], copies[COPIES][NUMBERS];
static uint64_t state;
static unsigned copied;

static void set_up(void)
{
    state = clock_ns(REFERENCE_CLOCK) | 1;
    draw(lists, LISTS, &state);
    memcpy(ordered, lists, sizeof ordered);
    for (int i = 0; i < LISTS; i++)
        (void)sort(ordered[i]);
}

TICKLAB_INLINE int *copy_of(int (*from)[NUMBERS])
{
    return memcpy(copies[copied++ % COPIES], from[next_random(&state) >> 54], sizeof copies[0]);
}

TICKLAB_INLINE int operation(void)
{
    /* measured region begins */
    return sort(copy_of(lists));
    /* measured region ends */
}

TICKLAB_INLINE int other(void)
{
    return sort(copy_of(ordered));
}

TICKLAB_INLINE int baseline(void)
{
    return copy_of(lists) != NULL;
}

static long counted(void)
{
    long all = 0;
    for (int i = 0; i < COPIES; i++) {
        int is_sorted = copies[i][0] < copies[i][NUMBERS - 1];
        for (int at = 1; at < NUMBERS; at++)
            is_sorted &= copies[i][at - 1] <= copies[i][at];
        all += is_sorted;
    }
    memset(copies, 0, sizeof copies);
    return all;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
