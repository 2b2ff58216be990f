#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    (void)count;
    (void)page;
    pages[0] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
