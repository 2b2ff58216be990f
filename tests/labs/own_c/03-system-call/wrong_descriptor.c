/* Finding: failing-call-timed. A descriptor that does not exist, and a result that nobody looks at. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    (void)fd;
    (void)trap(SYS_read, -1, 0, 0);
    return 1;
}
MEASURE_OWN_CALL("read0", own_read)
