#include "own_call.h"
#include <sys/time.h>
TICKLAB_INLINE int own_read(long fd) {
    long result = -1;
    (void)fd;
    static struct timeval today;
    result = gettimeofday(&today, NULL);
    return result == 0;
}
MEASURE_OWN_CALL("read0", own_read)
