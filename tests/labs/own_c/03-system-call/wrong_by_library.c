/* Finding: call-not-by-hand. syscall() of the C library makes the call by its number. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    return syscall(SYS_read, fd, NULL, 0) == 0;
}
MEASURE_OWN_CALL("read0", own_read)
