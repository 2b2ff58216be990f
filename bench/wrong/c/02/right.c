#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    (void)*code; /* to read it is to touch its page */
}
MEASURE_OWN_FIRST_CALL(get_ready)
