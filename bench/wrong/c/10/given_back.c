#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count; i++)
        pages[(size_t)i * page] = 1;
    (void)madvise((void *)(uintptr_t)pages, (size_t)count * page, MADV_DONTNEED);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
