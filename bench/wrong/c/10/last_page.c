#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    pages[(size_t)(count - 1) * page] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
