#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    const size_t bytes = (size_t)count * page;
    volatile unsigned char *more =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    for (long i = 0; i < count; i++) {
        pages[(size_t)i * page] = 1;
        more[(size_t)i * page] = 1;
    }
    (void)munmap((void *)(uintptr_t)more, bytes);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
