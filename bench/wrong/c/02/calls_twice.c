#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    void (*run)(void) = (void (*)(void))(uintptr_t)code;
    (void)*code;
    for (int i = 0; i < 10; i++)
        run();
}
MEASURE_OWN_FIRST_CALL(get_ready)
