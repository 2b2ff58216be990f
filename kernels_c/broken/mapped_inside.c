/*
 * Wrong on purpose: each page is mapped and unmapped between the readings, and all of it is called a
 *   page fault.
 * Repaired: page_fault --variant anonymous --samples 1000
 */
#define _GNU_SOURCE
#include "../faults.h"

static struct faults faults;

static uint64_t map_and_write(long batch)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t failed = 0;
    const long before = faults_before();
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch && !failed; i++) {
        unsigned char *const one =
            mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
        failed |= one == MAP_FAILED;
        if (!failed)
            *(volatile unsigned char *)one = 1;
        failed |= munmap(one, page) != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    note_faults(&faults, batch, faults_now() - before, ANY_NUMBER);
    failed_calls |= failed;
    return end - begin;
}

static void watch(const char *name)
{
    print_faults(name, &faults);
}

static const struct variant variants[] = {{.name = "anonymous",
                                           .about = "mmap, a write and munmap of one page",
                                           .interval = map_and_write,
                                           .cannot = faults_not_counted,
                                           .watch = watch,
                                           .memory = 1}};
static const long batches[] = {1, 2, 3, 4};
MEASURE(.name = "page_fault", .about = "what a page fault costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 1000)
