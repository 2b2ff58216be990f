#include "own_first_call.h"
#include <unistd.h>

static void get_ready(const volatile unsigned char *code)
{
    (void)code;
    usleep(2000); /* give the OS time to load it */
}
MEASURE_OWN_FIRST_CALL(get_ready)
