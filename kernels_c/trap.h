/*
 * A system call by the trap instruction alone, without libc and errno.
 *
 * x86-64 Linux takes the number in rax and the arguments in rdi, rsi and rdx, and overwrites rcx
 * and r11 (System V ABI, AMD64 supplement, A.2.1). aarch64 takes them in x8 and x0 to x2, riscv64
 * in a7 and a0 to a2. If the call fails, the result is minus the error number.
 *
 * Elsewhere, and with -DTICKLAB_NO_TRAP, the function syscall() of the C library makes the call. It
 * holds the instruction of its machine, and puts the error number into errno. The run says so.
 */
#ifndef TICKLAB_TRAP_H
#define TICKLAB_TRAP_H

#include <errno.h>
#include <signal.h>
#include <unistd.h>
#if defined(__linux__) || __has_include(<sys/syscall.h>)
#    include <sys/syscall.h>
#elif defined(__APPLE__) /* if Apple's headers are missing: bsd/kern/syscalls.master of XNU */
#    define SYS_read         3
#    define SYS_getpid       20
#    define SYS_setuid       23
#    define SYS_getuid       24
#    define SYS_getppid      39
#    define SYS_gettimeofday 116
#endif

#include "conditions.h"
#include "counter.h"

/* On 32 bits, the C library may name some calls only with the width of their times. */
#if !defined(SYS_gettimeofday) && defined(SYS_gettimeofday_time32)
#    define SYS_gettimeofday SYS_gettimeofday_time32
#endif
#if !defined(SYS_clock_gettime) && defined(SYS_clock_gettime64)
#    define SYS_clock_gettime SYS_clock_gettime64
#elif !defined(SYS_clock_gettime)
#    define SYS_clock_gettime 100000 /* no such call: it fails, and so does its run */
#endif

#if defined(SYS_getppid)
#    define HAVE_TRAP 1
#else
#    define HAVE_TRAP 0
#endif
#if defined(__linux__) && !defined(TICKLAB_NO_TRAP) &&                                             \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#    define HAVE_TRAP_INSTRUCTION 1
#else
#    define HAVE_TRAP_INSTRUCTION 0
#endif

#if HAVE_TRAP_INSTRUCTION && defined(__x86_64__)
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif HAVE_TRAP_INSTRUCTION && defined(__aarch64__)
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#elif HAVE_TRAP_INSTRUCTION
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}
#elif HAVE_TRAP
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* Apple deprecates syscall() */
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    const long result = syscall(number, a, b, c);
    return result == -1 ? -errno : result;
}
#    pragma GCC diagnostic pop

__attribute__((constructor)) static void trap_by_the_library(void)
{
    calls_go_by = "syscall() of the C library";
#    if !defined(__linux__)
    signal(SIGSYS, SIG_IGN); /* a call number that does not exist would end the process */
#    endif
    (void)trap(SYS_getpid, 0, 0, 0); /* the linker binds it now, and not when it is timed */
}
#endif
#endif
