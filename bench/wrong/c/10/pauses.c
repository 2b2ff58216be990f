#include "own_page_fault.h"
#include <string.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count; i++) {
        pages[(size_t)i * page] = 1;
        for (int wait = 0; wait < 40; wait++)
            __builtin_ia32_pause();
    }
}
MEASURE_OWN_PAGE_FAULT(get_ready)
