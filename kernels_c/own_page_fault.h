/*
 * The plumbing of lab 10's exercise: pages that a student's function brings before their first use.
 *
 *     static void get_ready(volatile unsigned char *pages, long count, size_t page)
 *     {
 *         bring `count` pages of `page` bytes each: later writes to them must make no page fault
 *     }
 *     MEASURE_OWN_PAGE_FAULT(get_ready)
 *
 * Each sample has a new mapping. "bring" times get_ready(). "own" calls it before the timed region,
 * and times the first writes after it; "unprepared" times the same writes without it. The run
 * counts page faults, and after each sample of "bring" the pages that are in the page table: a page
 * that was only read is there, and a later write still makes a page fault. The run judges nothing.
 */
#ifndef TICKLAB_OWN_PAGE_FAULT_H
#define TICKLAB_OWN_PAGE_FAULT_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "beside.h"
#include "faults.h"

static volatile unsigned char *own_pages;
static size_t own_page, own_bytes;
static struct faults faults_own, faults_bring, faults_unprepared;
static long faults_of_ready;    /* those that get_ready() made before the samples of "own" */
static long pages_there;        /* pages that were there after the samples of "bring" */
static unsigned char *own_seen; /* what the OS says of each page; NULL where it cannot be asked */

/* How many of the first `count` pages are in the page table; -1 if the OS does not say. */
static long own_pages_there(long count)
{
    long there = 0;
    if (mincore((void *)(uintptr_t)own_pages, (size_t)count * own_page, (void *)own_seen) != 0)
        return -1;
    for (long i = 0; i < count; i++)
        there += own_seen[i] & 1;
    return there;
}

/* Try it with two new pages, one of which is written to. Some emulators say the same of all. */
static void try_to_ask(void)
{
    own_seen = calloc(own_bytes / own_page, 1);
    if (own_seen == NULL)
        stop(STATUS_FAILED, "no memory");
    const long before = own_pages_there(2);
    own_pages[0] = 1;
    if (before == 0 && own_pages_there(2) == 1)
        return;
    free(own_seen);
    own_seen = NULL;
}

static void note_there(long count)
{
    const long there = own_seen == NULL ? 0 : own_pages_there(count);
    if (there < 0)
        stop(STATUS_FAILED, "mincore: %s", strerror(errno));
    pages_there += there;
}

enum { PAGES_AGAIN = 24 }; /* that get_ready() is timed with where all pages are there */

static void prepare_own_pages(struct run *run)
{
    const long most = largest_batch(run) > PAGES_AGAIN ? largest_batch(run) : PAGES_AGAIN;
    own_page = (size_t)sysconf(_SC_PAGESIZE);
    own_bytes = (size_t)(most + 1) * own_page;
    if (own_pages != NULL)
        return;
    own_pages = untouched_pages(own_bytes);
    try_to_ask();
}

static void map_own_pages(void)
{
    if (mmap((void *)own_pages, own_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) != own_pages)
        stop(STATUS_FAILED, "mmap: %s", strerror(errno));
#if defined(MADV_NOHUGEPAGE)
    if (madvise((void *)own_pages, own_bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
        stop(STATUS_FAILED, "pages of the smallest size: madvise: %s", strerror(errno));
#endif
}

TICKLAB_INLINE uint64_t write_each(long batch, struct faults *faults)
{
    volatile unsigned char *const pages = own_pages;
    const size_t page = own_page;
    const long before = faults_before();
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        pages[(size_t)(left - 1) * page] = 1;
    }
    /* Without it, 32 writes still waited in the store buffer when the counter was read. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const uint64_t end = counter_end();
    note_faults(faults, batch, faults_now() - before, ANY_NUMBER);
    return end - begin;
}

static uint64_t write_unprepared(long batch)
{
    map_own_pages();
    return write_each(batch, &faults_unprepared);
}

static void watch_own(const char *name)
{
    print_faults(name, &faults_own);
    printf("# variant.%s.ready_faults: %ld\n", name, faults_of_ready);
}

static void watch_bring(const char *name)
{
    print_faults(name, &faults_bring);
    if (own_seen != NULL)
        printf("# variant.%s.there: %ld\n", name, pages_there);
}

static void watch_unprepared(const char *name)
{
    print_faults(name, &faults_unprepared);
}

/* As in page_fault.c. */
static const long own_batches[] = {32, 64, 96, 128};

#define OF_PAGES(function, watched)                                                                \
    .interval = function, .prepare = prepare_own_pages, .cannot = faults_not_counted,              \
    .watch = watched, .memory = 1

static long faults_again; /* those that get_ready() makes where all pages are there */

static uint64_t write_again_there(long batch)
{
    static struct faults of_no_variant; /* these writes are no samples */
    (void)write_unprepared(batch);
    return write_each(batch, &of_no_variant);
}

/* One that maps the pages anew or gives them back makes page faults again: nothing to compare. */
static void print_again(const char *name, struct beside ticks)
{
    if (faults_again < CALIBRATION_ROUNDS)
        print_beside(name, ticks);
}

#define MEASURE_OWN_PAGE_FAULT(own_ready)                                                          \
    static uint64_t bring_pages(long batch)                                                        \
    {                                                                                              \
        map_own_pages();                                                                           \
        const long before = faults_before();                                                       \
        const uint64_t begin = counter_begin();                                                    \
        own_ready(own_pages, batch, own_page);                                                     \
        const uint64_t end = counter_end();                                                        \
        note_faults(&faults_bring, batch, faults_now() - before, ANY_NUMBER);                      \
        note_there(batch);                                                                         \
        write_again(&faults_bring, own_pages, batch, own_page, ANY_NUMBER);                        \
        return end - begin;                                                                        \
    }                                                                                              \
    /* With all pages there, it takes what it does beside the page faults. */                      \
    static uint64_t bring_again(long batch)                                                        \
    {                                                                                              \
        (void)write_unprepared(batch);                                                             \
        const long before = faults_before();                                                       \
        const uint64_t begin = counter_begin();                                                    \
        own_ready(own_pages, batch, own_page);                                                     \
        const uint64_t end = counter_end();                                                        \
        faults_again += faults_now() - before;                                                     \
        return end - begin;                                                                        \
    }                                                                                              \
    static void watch_and_time(const char *name)                                                   \
    {                                                                                              \
        watch_bring(name);                                                                         \
        print_again(name, timed_beside(bring_again, write_again_there, PAGES_AGAIN));              \
    }                                                                                              \
    static uint64_t write_prepared(long batch)                                                     \
    {                                                                                              \
        map_own_pages();                                                                           \
        const long before = faults_before();                                                       \
        own_ready(own_pages, batch, own_page);                                                     \
        faults_of_ready += faults_now() - before;                                                  \
        return write_each(batch, &faults_own);                                                     \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {                                                 \
            {.name = "bring", .about = "your get_ready()", OF_PAGES(bring_pages, watch_and_time)}, \
            {.name = "own",                                                                        \
             .about = "first write to a page, after your get_ready()",                             \
             OF_PAGES(write_prepared, watch_own)},                                                 \
            {.name = "unprepared",                                                                 \
             .about = "first write to a page, without it",                                         \
             OF_PAGES(write_unprepared, watch_unprepared)}};                                       \
        static const struct c_kernel kernel = {                                                    \
            .name = "own_page_fault",                                                              \
            .about = "what page faults cost that you make in advance",                             \
            LISTED_VARIANTS(variants),                                                             \
            LISTED_BATCHES(own_batches),                                                           \
            .samples = 1000};                                                                      \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
