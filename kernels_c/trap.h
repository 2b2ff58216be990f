/*
 * A system call by the instruction that makes one, with nothing around it: no libc, no errno.
 *
 * x86-64 Linux takes the number in rax, arguments in rdi, rsi, rdx, and overwrites rcx and r11
 * (System V ABI, AMD64 supplement, A.2.1); aarch64 takes x8, x0 to x2; riscv64 a7, a0 to a2. The
 * result is negative where the call failed: minus the error number.
 */
#ifndef TICKLAB_TRAP_H
#define TICKLAB_TRAP_H

#if defined(__linux__)
#    include <sys/syscall.h>
#endif

#include "counter.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#    define HAVE_TRAP 1
#else
#    define HAVE_TRAP 0
#endif

#if HAVE_TRAP && defined(__x86_64__)
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif HAVE_TRAP && defined(__aarch64__)
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#elif HAVE_TRAP
TICKLAB_INLINE long trap(long number, long a, long b, long c)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}
#endif
#endif
