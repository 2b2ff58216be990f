#include "own_page_fault.h"

static unsigned char other[1 << 20];

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    (void)pages;
    for (long i = 0; i < count; i++)
        ((volatile unsigned char *)other)[(size_t)i * page] = 1;
}
MEASURE_OWN_PAGE_FAULT(get_ready)
