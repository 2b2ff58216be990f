/* A byte of the code is copied. */
#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    char copy[1];
    memcpy(copy, (const void *)code, sizeof copy);
    __asm__ volatile("" : : "r"(copy) : "memory");
}
MEASURE_OWN_FIRST_CALL(get_ready)
