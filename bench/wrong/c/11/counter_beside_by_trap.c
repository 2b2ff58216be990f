#include "own_question.h"
#include "trap.h"
#include <sys/time.h>
#include <unistd.h>

static long shared, plain, seen;

static void set_up(void)
{
}

TICKLAB_INLINE int operation(void)
{
    shared++;
    return trap(SYS_getppid, 0, 0, 0) > 0;
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
    seen = shared;
    return seen - before;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
