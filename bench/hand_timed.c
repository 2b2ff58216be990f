/*
 * The peer of system_call.c: as many calls as asked for, one interval around all of them, nothing
 * subtracted, by clock_gettime. Prints ns per call: of the whole interval, and the median over its
 * thousandths, between which the clock is read too. The whole holds every interrupt and every other
 * program that had the CPU meanwhile, the median does not. Shares no line with the C kernels.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 1000 };

static double now(void)
{
    struct timespec at;
    if (clock_gettime(CLOCK_MONOTONIC, &at) != 0)
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
        at[0] = now();                                                                             \
        for (int part = 0; part < PARTS; part++) {                                                 \
            for (long i = 0; i < each; i++)                                                        \
                result = call;                                                                     \
            at[part + 1] = now();                                                                  \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const long each = (argc > 2 ? atol(argv[2]) : 10000000) / PARTS;
    const int zero = open("/dev/zero", O_RDONLY);
    volatile long result;
    static double at[PARTS + 1], length[PARTS];
    if (each < 1 || zero < 0)
        return 2;
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
    for (int part = 0; part < PARTS; part++)
        length[part] = at[part + 1] - at[part];
    qsort(length, PARTS, sizeof length[0], by_length);
    printf("%.4f %.4f\n", (at[PARTS] - at[0]) / PARTS / (double)each,
           length[PARTS / 2] / (double)each);
    return 0;
}
