#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    volatile unsigned char *volatile here = pages;
    for (long i = 0; i < count; i++)
        here = pages + (size_t)i * page;
    (void)here;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
