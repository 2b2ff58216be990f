#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    for (long i = 0; i < count; i++) {
        (void)madvise((void *)(uintptr_t)(pages + (size_t)i * page), page, MADV_WILLNEED);
        (void)madvise((void *)(uintptr_t)(pages + (size_t)i * page), page, MADV_NORMAL);
        pages[(size_t)i * page] = 1;
    }
}
MEASURE_OWN_PAGE_FAULT(get_ready)
