#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    ((void (*)(void))(uintptr_t)code)(); /* warm it up */
}
MEASURE_OWN_FIRST_CALL(get_ready)
