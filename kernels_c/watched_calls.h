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
            uint64_t number, argument[6];
        } entry;
        struct {
            int64_t result;
            uint8_t is_error;
        } exit;
    };
};
enum { STOP_ENTRY = 1, STOP_EXIT = 2, GET_SYSCALL_INFO = 0x420e };

/* The system calls of a child, and how many of them failed or read 0 bytes. */
struct system_calls {
    long all, failed, empty_reads;
};

/* Whether this call reads 0 bytes; on x86 also by the numbers of `int $0x80`, where it is 3. */
static int is_empty_read(const struct call_stop *entry)
{
    const uint64_t number = entry->entry.number;
    const int of_32_bits = entry->machine == 0x40000003u;
    const int reads = of_32_bits ? number == 3 : number == SYS_read || number == SYS_pread64;
    return reads && entry->entry.argument[2] == 0;
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
        if (!stops_again(PTRACE_SYSCALL, child, SIGTRAP | 0x80) ||
            syscall(SYS_ptrace, (long)GET_SYSCALL_INFO, (long)child, sizeof stop, &stop) <= 0)
            break;
        if (stop.kind == STOP_ENTRY) {
            entry = stop;
            ended = stop.entry.number == SYS_exit_group;
        } else if (stop.kind == STOP_EXIT && entry.kind == STOP_ENTRY) {
            seen->all++;
            seen->failed += stop.exit.is_error;
            seen->empty_reads += !stop.exit.is_error && is_empty_read(&entry);
        }
    }
    end_watching(child);
    return ended;
}

#endif
#endif
