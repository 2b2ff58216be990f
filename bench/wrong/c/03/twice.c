#include "own_call.h"
TICKLAB_INLINE int own_read(long fd) {
    long result = -1;
    result = trap(SYS_read, fd, 0, 0);
    result |= trap(SYS_read, fd, 0, 0);
    return result == 0;
}
MEASURE_OWN_CALL("read0", own_read)
