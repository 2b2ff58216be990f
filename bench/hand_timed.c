/*
 * The peer of system_call.c: as many calls as asked for, one interval around all of them, nothing
 * subtracted, by clock_gettime; and the CPU time of the same interval, which tells whether another
 * program had the CPU meanwhile. Shares no line with the C kernels.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec at;
    if (clock_gettime(clock, &at) != 0)
        exit(3);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

#define TIMED(call)                                                                                \
    do {                                                                                           \
        const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);             \
        for (long i = 0; i < count; i++)                                                           \
            result = call;                                                                         \
        const double wall_end = now(CLOCK_MONOTONIC), cpu_end = now(CLOCK_PROCESS_CPUTIME_ID);     \
        printf("%.4f %.4f\n", (wall_end - wall) / (double)count, (cpu_end - cpu) / (double)count); \
    } while (0)

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const long count = argc > 2 ? atol(argv[2]) : 10000000;
    const int zero = open("/dev/zero", O_RDONLY);
    volatile long result;
    if (count < 1 || zero < 0)
        return 2;
    if (strcmp(name, "getppid-libc") == 0)
        TIMED(getppid());
    else if (strcmp(name, "getpid-libc") == 0)
        TIMED(getpid());
    else if (strcmp(name, "read0-libc") == 0)
        TIMED(read(zero, NULL, 0));
    else
        return 2;
    (void)result;
    return 0;
}
