/* Finding: other-call-than-asked. Two reads for one operation. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    return trap(SYS_read, fd, 0, 0) == 0 && trap(SYS_read, fd, 0, 0) == 0;
}
MEASURE_OWN_CALL("read0", own_read)
