/*
 * Wrong on purpose: the file's name is misspelt, open() fails, and every read after it fails at
 *   once; nothing looks at a result.
 * Repaired: system_call --variant read0,invalid
 * Run with: --variant read0,invalid
 *
 * A call that is refused at the door costs little more than a call that does not exist.
 */
#include "../own_call.h"

static int file;

static __attribute__((constructor)) void open_file(void)
{
    file = open("/dev/zer0", O_RDONLY | O_CLOEXEC);
}

TICKLAB_INLINE int own_read(long unused)
{
    (void)unused;
    /* measured region begins */
#if HAVE_TRAP
    trap(SYS_read, file, 0, 0);
#else
    (void)!read(file, NULL, 0);
#endif
    /* measured region ends */
    return 1;
}

MEASURE_OWN_CALL("read0", own_read)
