/*
 * The peer of page_fault.c: a mapping of a hundred pages, one interval around the first write to
 * each of them, nothing subtracted, by clock_gettime; then the next mapping. Prints ns per page: the
 * mean; the median over the mappings, which leaves out those that something interrupted; and of the
 * CPU time of the writes. A mapping in which the OS did not count a hundred page faults is an error,
 * but for a few. Shares no line with the C kernels.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 100 };

static double now(clockid_t clock)
{
    struct timespec at;
    if (clock_gettime(clock, &at) != 0)
        exit(3);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static long faults(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        exit(3);
    return usage.ru_minflt;
}

static int by_length(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    const long parts = (argc > 1 ? atol(argv[1]) : 1000000) / EACH, size = sysconf(_SC_PAGESIZE);
    double whole = 0, cpu_time = 0;
    long odd = 0;
    if (parts < 1)
        return 2;
    double *length = calloc((size_t)parts, sizeof *length);
    if (length == NULL)
        return 3;
    for (long part = 0; part < parts; part++)
        length[part] = 1; /* no page of it is met first in the timed loop */
    for (long part = 0; part < parts; part++) {
        char *pages = mmap(NULL, (size_t)(EACH * size), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED || madvise(pages, (size_t)(EACH * size), MADV_NOHUGEPAGE) != 0)
            return 3;
        const long before = faults();
        const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
        for (int i = 0; i < EACH; i++)
            *(volatile char *)(pages + i * size) = 1;
        length[part] = now(CLOCK_MONOTONIC) - begin;
        cpu_time += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        odd += faults() - before != EACH;
        whole += length[part];
        if (munmap(pages, (size_t)(EACH * size)) != 0)
            return 3;
    }
    if (odd > parts / 100)
        return 4;
    qsort(length, (size_t)parts, sizeof length[0], by_length);
    const double touched = (double)parts * EACH;
    printf("%.4f %.4f %.4f\n", whole / touched, length[parts / 2] / EACH, cpu_time / touched);
    free(length);
    return 0;
}
