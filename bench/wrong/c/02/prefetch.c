#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    __builtin_prefetch((const void *)code);
}
MEASURE_OWN_FIRST_CALL(get_ready)
