#include "own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    __asm__ volatile("mfence\n\tlfence" : : : "memory");
    const long result = trap(SYS_read, fd, 0, 0);
    __asm__ volatile("mfence\n\tlfence" : : : "memory");
    return result == 0;
}
MEASURE_OWN_CALL("read0", own_read)
