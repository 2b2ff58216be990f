#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count; i++)
        (void)pages[(size_t)i * page];
}
MEASURE_OWN_PAGE_FAULT(get_ready)
