/*
 * What a student's function takes without its system calls. How long a system call takes differs
 * from place to place in a program by a third, and hides what is done beside it. So a child puts an
 * instruction that gives 0 in place of each trap that was seen, and times what is left.
 */
#ifndef TICKLAB_WITHOUT_CALLS_H
#define TICKLAB_WITHOUT_CALLS_H

#include "beside.h"
#include "watched_calls.h"

#if HAVE_WATCH
#    include <sys/mman.h>

enum { SHORT_WATCH_MS = 300 }; /* it takes a millisecond */

#    if defined(__x86_64__)
#        define TRAP_BYTES 2
static const unsigned char gives_0[TRAP_BYTES] = {0x31, 0xc0}; /* xor %eax, %eax */
#    else
#        define TRAP_BYTES 4
static const unsigned char gives_0[TRAP_BYTES] = {0x00, 0x00, 0x80, 0xd2}; /* mov x0, #0 */
#    endif

/* Whether all traps that were seen are left out from now on, in this process. */
TICKLAB_INLINE int leave_out_traps(const struct system_calls *seen)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < seen->traps; i++) {
        unsigned char *trap = (unsigned char *)(uintptr_t)(seen->trap_at[i] - TRAP_BYTES);
        unsigned char *begin = (unsigned char *)((uintptr_t)trap / page * page);
        const size_t bytes = (size_t)(trap + TRAP_BYTES - begin);
        if (mprotect(begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return 0; /* some systems allow no change of code */
        memcpy(trap, gives_0, TRAP_BYTES);
        __builtin___clear_cache((char *)trap, (char *)trap + TRAP_BYTES);
    }
    return seen->traps < MOST_TRAPS;
}

/* Print how many ticks an operation of `own` takes more than one of `empty`, without the system
 * calls that were seen; nothing where this cannot be known. */
TICKLAB_INLINE void time_without_calls(const char *name, const struct system_calls *seen,
                                       uint64_t (*own)(long), uint64_t (*empty)(long), long batch)
{
    int status = 0;
    double *left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    if (left == MAP_FAILED)
        return;
    const pid_t child = fork();
    if (child == 0) {
        longest_watch_ms = SHORT_WATCH_MS; /* what waits for a result may wait for ever */
        end_in_time();
        if (!leave_out_traps(seen))
            _exit(1);
        const struct beside beside = timed_beside(own, empty, batch);
        *left = beside.own - beside.kit;
        _exit(0);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0)
        printf("# variant.%s.beside_its_calls: %.2f\n", name, *left);
    (void)munmap(left, sizeof *left);
}

#endif
#endif
