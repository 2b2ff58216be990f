#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (size_t at = 0; at < (size_t)count * page; at++)
        pages[at] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
