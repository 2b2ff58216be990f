#include "own_call.h"
#include <sys/time.h>

TICKLAB_INLINE int own_gettimeofday(long fd)
{
    static struct timeval today;
    int worked = 0;
    (void)fd;
    worked = trap(SYS_clock_gettime, 2, (long)&today, 0) == 0;
    return worked;
}
MEASURE_OWN_CALL("gettimeofday", own_gettimeofday)
