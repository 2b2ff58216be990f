#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    (void)page;
    for (long i = 0; i < count; i++)
        pages[i * 64] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
