#include "own_page_fault.h"
#include <sys/mman.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    const size_t rest = (size_t)(257 - count) * page; /* the mapping has 257 pages */
    const size_t bytes = (size_t)count * page;
    (void)mmap((void *)(uintptr_t)pages, bytes + (rest < bytes ? rest : bytes),
               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED | MAP_POPULATE, -1, 0);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
