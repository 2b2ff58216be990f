#include "own_first_call.h"
static void like_it(void) {}

static void get_ready(const volatile unsigned char *code)
{
    (void)*(const volatile unsigned char *)(uintptr_t)&like_it;
}
MEASURE_OWN_FIRST_CALL(get_ready)
