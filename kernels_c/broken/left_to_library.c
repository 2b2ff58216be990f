/*
 * Wrong on purpose: the call is left to read() of the C library, a function that may do more than
 *   enter the OS kernel, or less.
 * Repaired: system_call --variant read0,invalid
 * Run with: --variant read0,invalid
 *
 * This one does enter it, and looks at its result: the number is nearly right, and nothing in the C
 * says so. Report A believed the same of getpid(), which answered from a cache.
 */
#include "../own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    /* measured region begins */
    const ssize_t result = read((int)fd, NULL, 0);
    /* measured region ends */
    return result == 0;
}

MEASURE_OWN_CALL("read0", own_read)
