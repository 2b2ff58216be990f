#include "own_question.h"
#include <sys/time.h>
#include <unistd.h>

static long shared, plain, seen;

static void set_up(void)
{
}

TICKLAB_INLINE int operation(void)
{
    for (int i = 0; i < 40; i++)
        __atomic_add_fetch(&plain, 1, __ATOMIC_SEQ_CST);
    return __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST) > 0;
}

TICKLAB_INLINE int other(void)
{
    return ++*(volatile long *)&plain > 0;
}

TICKLAB_INLINE int baseline(void)
{
    for (int i = 0; i < 40; i++)
        __atomic_add_fetch(&plain, 1, __ATOMIC_SEQ_CST);
    return 1;
}

static long counted(void)
{
    const long before = seen;
    seen = shared;
    return seen - before;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
