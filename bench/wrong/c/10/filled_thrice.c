#include "own_page_fault.h"
#include <string.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count; i++)
        for (int fill = 1; fill <= 3; fill++)
            memset((void *)(uintptr_t)(pages + (size_t)i * page), fill, page);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
