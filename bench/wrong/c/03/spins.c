#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    for (volatile int wait = 0; wait < 60; wait++)
        ;
    return fd >= 0;
}
MEASURE_OWN_CALL("read0", own_read)
