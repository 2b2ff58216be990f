/* Every byte of the page is read and summed. */
#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    unsigned sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += code[i];
    __asm__ volatile("" : : "r"(sum));
}
MEASURE_OWN_FIRST_CALL(get_ready)
