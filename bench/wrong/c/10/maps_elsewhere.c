#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    const size_t bytes = (size_t)count * page;
    (void)pages;
    void *all =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_POPULATE, -1, 0);
    if (all != MAP_FAILED)
        (void)munmap(all, bytes);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
