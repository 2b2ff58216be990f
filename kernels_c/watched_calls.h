/*
 * A function of a student, followed from one system call to the next (watched.h).
 */
#ifndef TICKLAB_WATCHED_CALLS_H
#define TICKLAB_WATCHED_CALLS_H

#include "watched.h"

#if HAVE_WATCH

/* What PTRACE_GET_SYSCALL_INFO tells: linux/ptrace.h, which glibc's own header does not go with. */
struct call_stop {
    uint8_t kind, unused[3];
    uint32_t machine;
    uint64_t at, stack;
    union {
        struct {
            uint64_t call, argument[6];
        } entry;
        struct {
            int64_t result;
            uint8_t is_error;
        } exit;
    };
};
enum { STOP_ENTRY = 1, STOP_EXIT = 2, GET_SYSCALL_INFO = 0x420e };

#    define MOST_TRAPS 8

/* The system calls of a child, and how many of them failed, and were of these kinds. */
struct system_calls {
    long all, failed, reads, empty_reads, creations, waits, sleeps, mappings;
    long given_reads;             /* of `given_descriptor` */
    uint64_t exit_with;           /* what the child ended with */
    uint64_t trap_at[MOST_TRAPS]; /* where the instructions behind its traps are */
    int traps;
};

static long given_descriptor = -1;

/* Whether this call reads; on x86 also by the numbers of `int $0x80`, where it is 3. */
static int is_read(const struct call_stop *entry)
{
    const uint64_t call = entry->entry.call;
    return entry->machine == 0x40000003u ? call == 3 : call == SYS_read || call == SYS_pread64;
}

static void note_trap(struct system_calls *seen, uint64_t at)
{
    for (int i = 0; i < seen->traps; i++)
        if (seen->trap_at[i] == at)
            return;
    if (seen->traps < MOST_TRAPS)
        seen->trap_at[seen->traps++] = at;
}

static void note_kind(struct system_calls *seen, uint64_t call)
{
    switch (call) {
#    if defined(SYS_fork)
    case SYS_fork:
    case SYS_vfork:
#    endif
#    if defined(SYS_clone3)
    case SYS_clone3:
#    endif
    case SYS_clone: seen->creations++; break;
    case SYS_wait4:
    case SYS_waitid: seen->waits++; break;
#    if defined(SYS_pause)
    case SYS_pause:
    case SYS_poll:
    case SYS_select:
#    endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_clock_nanosleep:
    case SYS_nanosleep: seen->sleeps++; break;
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_brk: seen->mappings++; break;
    default: break;
    }
}

/* Let the child go on to its next system call, or to the end of one; it hears of no other task. */
static int stops_at_call(pid_t child)
{
    int status = 0;
    do {
        if (syscall(SYS_ptrace, (long)PTRACE_SYSCALL, (long)child, 0L, 0L) != 0 ||
            waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            return 0;
    } while (WSTOPSIG(status) == SIGCHLD);
    return WSTOPSIG(status) == (SIGTRAP | 0x80);
}

static inline int watch_system_calls(void (*work)(void), struct system_calls *seen)
{
    const pid_t child = watched_child(work);
    if (child == 0)
        return 0;
    struct call_stop stop, entry = {0};
    int ended = 0;
    memset(seen, 0, sizeof *seen);
    for (long i = 0; i < MOST_STEPS && !ended; i++) {
        memset(&stop, 0, sizeof stop);
        if (!stops_at_call(child) ||
            syscall(SYS_ptrace, (long)GET_SYSCALL_INFO, (long)child, sizeof stop, &stop) <= 0)
            break;
        if (stop.kind == STOP_ENTRY) {
            entry = stop;
            ended = stop.entry.call == SYS_exit_group;
            seen->exit_with = stop.entry.argument[0];
        } else if (stop.kind == STOP_EXIT && entry.kind == STOP_ENTRY) {
            seen->all++;
            note_trap(seen, entry.at);
            seen->failed += stop.exit.is_error;
            note_kind(seen, entry.entry.call);
            if (!stop.exit.is_error && is_read(&entry)) {
                seen->reads++;
                seen->empty_reads += entry.entry.argument[2] == 0;
                seen->given_reads += (int)entry.entry.argument[0] == (int)given_descriptor;
            }
        }
    }
    end_watching(child);
    return ended;
}

#endif
#endif
