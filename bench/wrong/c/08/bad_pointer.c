#include "own_call.h"
#include <sys/time.h>

TICKLAB_INLINE int own_gettimeofday(long fd)
{
    static struct timeval today;
    int worked = 0;
    (void)fd;
    (void)today;
    worked = trap(SYS_gettimeofday, 8, 0, 0) != 0; /* not looked at closely */
    return worked;
}
MEASURE_OWN_CALL("gettimeofday", own_gettimeofday)
