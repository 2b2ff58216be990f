/* Finding: other-call-than-asked. It reads another file than the one that it is given. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    (void)fd;
    static int other = -1;
    if (other < 0)
        other = open("/dev/null", O_RDONLY);
    return trap(SYS_read, other, 0, 0) == 0;
}
MEASURE_OWN_CALL("read0", own_read)
