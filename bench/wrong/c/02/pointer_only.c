#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    const volatile unsigned char *page = code;
    (void)page; /* now we have its page */
}
MEASURE_OWN_FIRST_CALL(get_ready)
