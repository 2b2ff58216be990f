#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    (void)pages;
    (void)count;
    (void)page;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
