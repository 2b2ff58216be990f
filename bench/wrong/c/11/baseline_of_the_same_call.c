#include "own_question.h"
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

static long shared, plain, seen;

static int ends[2];
static char bytes[4096];
static int others;

static void set_up(void)
{
    if (pipe(ends) != 0)
        stop(STATUS_FAILED, "pipe");
    if ((others = open("/dev/null", O_WRONLY)) < 0)
        stop(STATUS_FAILED, "open");
}

TICKLAB_INLINE int operation(void)
{
    return write(ends[1], "x", 1) == 1;
}

TICKLAB_INLINE int other(void)
{
    return ++*(volatile long *)&plain > 0;
}

TICKLAB_INLINE int baseline(void)
{
    return write(others, "x", 1) == 1;
}

static long counted(void)
{
    static int asked;
    if (!asked++)
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const ssize_t got = read(ends[0], bytes, sizeof bytes);
    return got > 0 ? got : 0;
}

MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
