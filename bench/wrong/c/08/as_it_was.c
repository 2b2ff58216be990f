#include "own_call.h"
#include <sys/time.h>

TICKLAB_INLINE int own_gettimeofday(long fd)
{
    static struct timeval today;
    int worked = fd >= 0 && gettimeofday(&today, NULL) == 0; /* as report B has it */
    (void)worked;
    return worked;
}
MEASURE_OWN_CALL("gettimeofday", own_gettimeofday)
