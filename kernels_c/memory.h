/*
 * Memory that is resident: pages that only this process has, each of the smallest size.
 */
#ifndef TICKLAB_MEMORY_H
#define TICKLAB_MEMORY_H

#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

/* The number after `key` at the beginning of a line of a file; -1 if none can be read. */
static long long number_in(const char *path, const char *key)
{
    char line[256];
    long long number = -1;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), "%lld", &number) != 1)
            number = -1;
    if (fclose(file) != 0)
        return -1;
    return number;
}

/* Stop if the machine, or this process, cannot get so much memory: the OS would kill a process. */
static void must_be_free(size_t bytes)
{
    const long long available = number_in("/proc/meminfo", "MemAvailable:");
    const long long limit = number_in("/sys/fs/cgroup/memory.max", "");
    const long long older_limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
    const long long wanted = (long long)bytes + (16 << 20);
    if ((available >= 0 && wanted > available * 1024) || (limit >= 0 && wanted > limit) ||
        (older_limit >= 0 && wanted > older_limit))
        stop(STATUS_IMPOSSIBLE, "%zu MB of memory: this machine has not so much to give now",
             bytes >> 20);
}

/* Address space of `bytes`, in pages of the smallest size. None of the pages is resident yet. */
TICKLAB_INLINE unsigned char *untouched_pages(size_t bytes)
{
    if (bytes == 0)
        return NULL;
    must_be_free(bytes);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED)
        stop(STATUS_IMPOSSIBLE, "%zu MB of memory: %s", bytes >> 20, strerror(errno));
#if defined(MADV_NOHUGEPAGE)
    /* Only an OS kernel without huge pages refuses this. */
    if (madvise(pages, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
        stop(STATUS_IMPOSSIBLE, "pages of the smallest size: madvise: %s", strerror(errno));
#endif
    return pages;
}

/* Write to each page, so that the OS has to provide it. */
TICKLAB_INLINE void touch(volatile unsigned char *pages, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += page)
        pages[at] = 1;
}

#endif
