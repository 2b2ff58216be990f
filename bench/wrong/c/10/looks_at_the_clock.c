#include "own_page_fault.h"
#include <string.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    static volatile uint64_t took;
    for (long i = 0; i < count; i++)
        for (int half = 0; half < 2; half++) {
            const uint64_t begin = counter_begin();
            pages[(size_t)i * page + (size_t)half * (page / 2)] = 1;
            took = counter_end() - begin;
        }
}
MEASURE_OWN_PAGE_FAULT(get_ready)
