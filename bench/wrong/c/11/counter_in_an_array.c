#include "own_question.h"
#include <sys/time.h>
#include <unistd.h>

static long shared, plain, seen;
static long counts[2];

static void set_up(void)
{
}

TICKLAB_INLINE int operation(void)
{
    counts[0] += 1;
    return getppid() > 0;
}

TICKLAB_INLINE int other(void)
{
    return ++*(volatile long *)&plain > 0;
}

TICKLAB_INLINE int baseline(void)
{
    return 1;
}

static long counted(void)
{
    const long before = seen;
    seen = counts[0];
    return seen - before;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
