/* Finding: other-call-than-asked. Another call, which cannot fail. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    (void)fd;
    return trap(SYS_getppid, 0, 0, 0) >= 0;
}
MEASURE_OWN_CALL("read0", own_read)
