#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    (void)madvise((void *)(uintptr_t)pages, (size_t)count * page, MADV_WILLNEED);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
