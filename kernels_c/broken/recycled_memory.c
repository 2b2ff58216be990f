/*
 * Wrong on purpose: the pages come from malloc, and go back by free before the next sample.
 * Repaired: page_fault --variant anonymous --samples 1000
 *
 * free keeps the memory in the process, and the next malloc gives the same pages again. They are
 * there from the first sample on, so hardly any write makes a page fault.
 */
#define _GNU_SOURCE
#include "../faults.h"

static struct faults faults;

static uint64_t write_pages(long batch)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile unsigned char *const pages = malloc((size_t)(batch + 1) * page);
    if (pages == NULL)
        stop(STATUS_IMPOSSIBLE, "malloc: %s", strerror(errno));
    const long before = faults_before();
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch; i++)
        pages[(size_t)i * page] = 1;
    const uint64_t end = counter_end();
    /* measured region ends */
    note_faults(&faults, batch, faults_now() - before, ANY_NUMBER);
    free((void *)pages);
    return end - begin;
}

static void watch(const char *name)
{
    print_faults(name, &faults);
}

static const struct variant variants[] = {{.name = "anonymous",
                                           .about = "first write to a page of new memory",
                                           .interval = write_pages,
                                           .cannot = faults_not_counted,
                                           .watch = watch,
                                           .memory = 1}};
static const long batches[] = {4, 8, 12, 16};
MEASURE(.name = "page_fault", .about = "what a page fault costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 1000)
