#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    (void)code;
}
MEASURE_OWN_FIRST_CALL(get_ready)
