#include "own_question.h"
#include <unistd.h>

static long shared, seen;

static void set_up(void)
{
}

TICKLAB_INLINE int operation(void)
{
    return __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST) > 0;
}

TICKLAB_INLINE int other(void)
{
    write(-1, "x", 0);
    return 1;
}

TICKLAB_INLINE int baseline(void)
{
    return 1;
}

static long counted(void)
{
    const long before = seen;
    seen = shared;
    return seen - before;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
