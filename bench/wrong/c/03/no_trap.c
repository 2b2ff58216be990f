#include "own_call.h"
TICKLAB_INLINE int own_read(long fd) {
    long result = -1;
    (void)fd;
    asm volatile("nop" : "=a"(result) : "0"(0L));
    return result == 0;
}
MEASURE_OWN_CALL("read0", own_read)
