/* Finding: other-call-than-asked. It reads, and not 0 bytes. */
#include "own_call.h"

static char page[4096];

TICKLAB_INLINE int own_read(long fd)
{
    return trap(SYS_read, fd, (long)page, sizeof page) == sizeof page;
}
MEASURE_OWN_CALL("read0", own_read)
