#include "own_call.h"
TICKLAB_INLINE int own_read(long fd) {
    long result = -1;
    (void)fd;
    result = trap(9999, fd, 0, 0); /* the number of read? */
    return result != 0;
}
MEASURE_OWN_CALL("read0", own_read)
