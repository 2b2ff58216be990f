/* Finding: more-than-the-operation. The counter is read around the call, four times in all. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    (void)counter_begin();
    (void)counter_begin();
    const long result = trap(SYS_read, fd, 0, 0);
    (void)counter_end();
    (void)counter_end();
    return result == 0;
}
MEASURE_OWN_CALL("read0", own_read)
