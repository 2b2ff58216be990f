/*
 * Wrong on purpose: the arguments of read() lie in registers where the OS kernel does not look, and
 *   nothing looks at the result.
 * Repaired: system_call --variant read0,invalid
 * Run with: --variant read0,invalid
 *
 * Report C loads rbx, rcx and rdx, as the 32-bit `int 0x80` wants them; `syscall` takes rdi, rsi
 * and rdx, and overwrites rcx. On aarch64, and elsewhere, everything lies one register too far.
 */
#include "../own_call.h"

TICKLAB_INLINE int own_read(long fd)
{
    long buffer = 0, size = 0, result = 0;
    /* measured region begins */
#if defined(__x86_64__) && defined(__linux__)
    __asm__ volatile("syscall"
                     : "=a"(result), "+c"(buffer)
                     : "a"(SYS_read), "b"(fd), "d"(size)
                     : "r11", "memory");
#elif defined(__aarch64__) && defined(__linux__)
    register long x8 __asm__("x8") = SYS_read, x1 __asm__("x1") = fd;
    register long x2 __asm__("x2") = buffer, x3 __asm__("x3") = size;
    register long x0 __asm__("x0");
    __asm__ volatile("svc 0" : "=r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    result = x0;
#else
    result = trap(SYS_read, (long)&size, fd, buffer); /* as there: each one place too far */
#endif
    /* measured region ends */
    (void)result;
    return 1;
}

MEASURE_OWN_CALL("read0", own_read)
