/* Finding: other-call-than-asked. Work that takes about as long as a call. */
#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    for (volatile int i = 0; i < 60; i++)
        ;
    return fd >= 0;
}
MEASURE_OWN_CALL("read0", own_read)
