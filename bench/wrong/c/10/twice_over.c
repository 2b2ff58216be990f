#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    const size_t bytes = (size_t)count * page;
    for (int round = 0; round < 2; round++) {
        (void)madvise((void *)(uintptr_t)pages, bytes, MADV_DONTNEED);
        for (long i = 0; i < count; i++)
            pages[(size_t)i * page] = 1;
    }
}
MEASURE_OWN_PAGE_FAULT(get_ready)
