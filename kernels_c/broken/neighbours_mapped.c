/*
 * Wrong on purpose: the pages of a file are read one after the other, each counted as a page fault.
 * Repaired: page_fault --variant file --samples 1000
 *
 * With one page fault, the OS kernel maps the neighbours too if they are in memory: on Linux up to
 * 64 KB. Most of the reads make no page fault, so the figure is a small part of the cost of one.
 */
#define _GNU_SOURCE
#include "../faults.h"

static struct faults faults;
static int file = -1;
static size_t page, bytes;

static void make_file(struct run *run)
{
    static const unsigned char nothing[1 << 12];
    page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (size_t)(largest_batch(run) + 1) * page;
    file = memfd_create("neighbours_mapped", MFD_CLOEXEC);
    must_be_free(bytes);
    for (size_t at = 0; at < bytes; at += sizeof nothing)
        if (file < 0 || pwrite(file, nothing, sizeof nothing, (off_t)at) != sizeof nothing)
            stop(STATUS_IMPOSSIBLE, "a file in memory: %s", strerror(errno));
}

static uint64_t read_pages(long batch)
{
    volatile unsigned char *const pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED)
        stop(STATUS_FAILED, "mmap: %s", strerror(errno));
    const long before = faults_before();
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch; i++)
        (void)pages[(size_t)i * page];
    const uint64_t end = counter_end();
    /* measured region ends */
    note_faults(&faults, batch, faults_now() - before, ANY_NUMBER);
    failed_calls |= munmap((void *)pages, bytes) != 0;
    return end - begin;
}

static void watch(const char *name)
{
    print_faults(name, &faults);
}

static const struct variant variants[] = {{.name = "file",
                                           .about = "read of a page of a file in memory",
                                           .interval = read_pages,
                                           .prepare = make_file,
                                           .cannot = faults_not_counted,
                                           .watch = watch,
                                           .memory = 1}};
static const long batches[] = {32, 64, 96, 128};
MEASURE(.name = "page_fault", .about = "what a page fault costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 1000)
