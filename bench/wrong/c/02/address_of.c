#include "own_first_call.h"
#include <string.h>

static void get_ready(const volatile unsigned char *code)
{
    unsigned char copy[sizeof code];
    memcpy(copy, &code, sizeof code);
}
MEASURE_OWN_FIRST_CALL(get_ready)
