/* Finding: other-page-touched. Some pages behind the code are touched. */
#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    for (int i = 1; i < 4; i++)
        (void)code[4096 * i];
}
MEASURE_OWN_FIRST_CALL(get_ready)
