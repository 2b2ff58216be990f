/* Finding: failing-call-timed. The result is kept, and never compared. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    long result = trap(SYS_read, fd + 1000, 0, 0);
    result = 1;
    return (int)result;
}
MEASURE_OWN_CALL("read0", own_read)
