/* The code is read by its name, and not called. */
#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    (void)code;
    (void)*(const volatile char *)(uintptr_t)remote_procedure;
}
MEASURE_OWN_FIRST_CALL(get_ready)
