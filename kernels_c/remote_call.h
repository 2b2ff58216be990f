/*
 * Procedures far from all other code, to be called for the first time.
 *
 * Each has a page of its own, which nobody has touched. But the OS maps more than the one page that
 * is asked for: 64 KB around it, or the whole large folio that holds it. So the page may be mapped
 * all the same. take_code_away() removes it from the page table of this process. The page stays in
 * the memory of the OS, so nothing is read from a disk.
 */
#ifndef TICKLAB_REMOTE_CALL_H
#define TICKLAB_REMOTE_CALL_H

#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
#    define HAVE_REMOTE 1

typedef void procedure(void);

/* They are inside a function that nobody calls, so that they are placed among the code. */
__attribute__((used, noinline)) static void lay_remote_procedures(void)
{
    __asm__ volatile("\t.p2align 14\n\t.space 65536\n"
                     "remote_procedure:\n\tret\n\t.p2align 14\n\t.space 65536\n"
                     "other_remote_procedure:\n\tret\n\t.p2align 14\n\t.space 65536\n");
}
extern __attribute__((visibility("hidden"))) procedure remote_procedure __asm__("remote_procedure");
extern __attribute__((visibility("hidden")))
procedure other_remote_procedure __asm__("other_remote_procedure");

/* Remove it from the page table of this process: the next access to the code causes a page
 * fault. */
TICKLAB_INLINE void take_code_away(procedure *code)
{
#    if defined(__linux__)
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = (uintptr_t)code & ~(page - 1);
    failed_calls |= madvise((void *)at, page, MADV_DONTNEED) != 0;
#    else
    (void)code;
#    endif
}

/* Whether this is the first sample that holds an operation; `before` is 0 until then. */
TICKLAB_INLINE int is_first(int *before, long batch)
{
    const int first = batch > 0 && !*before;
    *before |= first;
    return first;
}

#else
#    define HAVE_REMOTE 0
#endif
#endif
