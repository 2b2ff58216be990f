/*
 * Wrong on purpose: each page of a new mapping is read, and none is written to.
 * Repaired: page_fault --variant anonymous --samples 1000
 *
 * A page that was never written to holds zeros. For a read, the OS kernel maps one page of zeros
 * that all processes share: it finds no memory and fills none. The first write makes a page fault
 * of its own later.
 */
#define _GNU_SOURCE
#include "../faults.h"

static struct faults faults;

static uint64_t read_pages(long batch)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)(batch + 1) * page;
    volatile unsigned char *const pages = untouched_pages(bytes);
    const long before = faults_before();
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch; i++)
        (void)pages[(size_t)i * page];
    const uint64_t end = counter_end();
    /* measured region ends */
    note_faults(&faults, batch, faults_now() - before, ANY_NUMBER);
    write_again(&faults, pages, batch, page, ANY_NUMBER);
    failed_calls |= munmap((void *)pages, bytes) != 0;
    return end - begin;
}

static void watch(const char *name)
{
    print_faults(name, &faults);
}

static const struct variant variants[] = {{.name = "anonymous",
                                           .about = "first touch of a page of new memory",
                                           .interval = read_pages,
                                           .cannot = faults_not_counted,
                                           .watch = watch,
                                           .memory = 1}};
static const long batches[] = {4, 8, 12, 16};
MEASURE(.name = "page_fault", .about = "what a page fault costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 1000)
