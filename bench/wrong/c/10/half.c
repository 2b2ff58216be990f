#include "own_page_fault.h"

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count / 2; i++)
        pages[(size_t)i * page] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
