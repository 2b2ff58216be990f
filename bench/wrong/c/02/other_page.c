#include "own_first_call.h"
static const volatile unsigned char code_page[8192];

static void get_ready(const volatile unsigned char *code)
{
    (void)*code_page; /* touch the page */
    (void)code;
}
MEASURE_OWN_FIRST_CALL(get_ready)
