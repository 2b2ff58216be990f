/*
 * The peer of system_call.c: as many calls as asked for, one interval around all of them, nothing
 * subtracted, by clock_gettime. Prints ns per call: of the whole interval; the median over its parts
 * of a hundred calls, between which the clock is read too, which adds a quarter of a per cent; and
 * of the CPU time. The whole holds every interrupt and every other program that had the CPU
 * meanwhile, the CPU time the interrupts, and what a hypervisor took; the median neither, as long as
 * fewer than half of the parts were met. Shares no line with the C kernels.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int by_length(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/*
 * getppid three ways without the C library, to see what a return costs whose call lies before the
 * trap: in line, with no return; in a function that returns; in one that leaves by a jump instead.
 */
#if defined(__x86_64__) && defined(__linux__)
static inline __attribute__((always_inline)) long trap(void)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(110L) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noinline)) static long trap_and_return(void)
{
    return trap();
}

__attribute__((naked, noinline)) static long trap_and_jump(void)
{
    __asm__ volatile("mov $110, %eax\n\tsyscall\n\tpop %rdx\n\tjmp *%rdx");
}
#    define WITHOUT_LIBRARY 1
#else
#    define WITHOUT_LIBRARY 0
#endif

#define TIMED(call)                                                                                \
    do {                                                                                           \
        at[0] = now(CLOCK_MONOTONIC);                                                              \
        for (long part = 0; part < parts; part++) {                                                \
            for (int i = 0; i < EACH; i++)                                                         \
                result = call;                                                                     \
            at[part + 1] = now(CLOCK_MONOTONIC);                                                   \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const long parts = (argc > 2 ? atol(argv[2]) : 10000000) / EACH;
    const int zero = open("/dev/zero", O_RDONLY);
    volatile long result;
    if (parts < 1 || zero < 0)
        return 2;
    double *at = calloc((size_t)parts + 1, sizeof *at), *length = calloc((size_t)parts, sizeof *at);
    if (at == NULL || length == NULL)
        return 3;
    for (long part = 0; part < parts; part++)
        at[part + 1] = 1; /* no page of it is met first in the timed loop */
    const double cpu_begin = now(CLOCK_PROCESS_CPUTIME_ID);
    if (strcmp(name, "getppid-libc") == 0)
        TIMED(getppid());
    else if (strcmp(name, "getpid-libc") == 0)
        TIMED(getpid());
    else if (strcmp(name, "read0-libc") == 0)
        TIMED(read(zero, NULL, 0));
#if WITHOUT_LIBRARY
    else if (strcmp(name, "getppid-trap") == 0)
        TIMED(trap());
    else if (strcmp(name, "getppid-trap-return") == 0)
        TIMED(trap_and_return());
    else if (strcmp(name, "getppid-trap-jump") == 0)
        TIMED(trap_and_jump());
#endif
    else
        return 2;
    (void)result;
    const double cpu_time = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
    for (long part = 0; part < parts; part++)
        length[part] = at[part + 1] - at[part];
    qsort(length, (size_t)parts, sizeof length[0], by_length);
    const double calls = (double)parts * EACH;
    printf("%.4f %.4f %.4f\n", (at[parts] - at[0]) / calls, length[parts / 2] / EACH,
           cpu_time / calls);
    free(at);
    free(length);
    return 0;
}
