/*
 * What a function of a student does if the calls in it do nothing. A child is followed instruction by
 * instruction (watched_steps.h); each call of a library, and each trap, returns at once with a result
 * that the run chooses. What the child then counts, it does not count by these calls.
 */
#ifndef TICKLAB_LEFT_OUT_H
#define TICKLAB_LEFT_OUT_H

#include "watched_steps.h"

#if HAVE_WATCH

enum { MOST_FUNCTIONS = 32 };

/* The library functions that are called. */
struct called {
    uint64_t at[MOST_FUNCTIONS];
    int count;
};

static inline int is_called(const struct called *called, uint64_t at)
{
    for (int i = 0; i < called->count; i++)
        if (called->at[i] == at)
            return 1;
    return 0;
}

/* All registers of a child, and those that matter here by one name on each machine. */
#    if defined(__x86_64__)
#        define PLACE(all)  (all).rip
#        define RESULT(all) (all).rax
#        define TRAP_LENGTH 2
static const unsigned char breakpoint[] = {0xcc};
enum { BEHIND_BREAKPOINT = 1 };
#    else
#        define PLACE(all)  (all).pc
#        define RESULT(all) (all).regs[0]
#        define TRAP_LENGTH 4
static const unsigned char breakpoint[] = {0x00, 0x00, 0x20, 0xd4};
enum { BEHIND_BREAKPOINT = 0 };
#    endif

static inline int read_all(pid_t child, struct user_regs_struct *all)
{
    struct iovec to = {all, sizeof *all};
    return syscall(SYS_ptrace, (long)PTRACE_GETREGSET, (long)child, (long)NT_PRSTATUS, &to) == 0;
}

static inline int write_all(pid_t child, struct user_regs_struct *all)
{
    struct iovec from = {all, sizeof *all};
    return syscall(SYS_ptrace, (long)PTRACE_SETREGSET, (long)child, (long)NT_PRSTATUS, &from) == 0;
}

/* Let the child run to this place. */
static inline int runs_to(pid_t child, uint64_t at)
{
    int status = 0;
    struct user_regs_struct all;
    const long before = ptrace(PTRACE_PEEKTEXT, child, (void *)at, NULL);
    long with = before;
    memcpy(&with, breakpoint, sizeof breakpoint);
    if (ptrace(PTRACE_POKETEXT, child, (void *)at, (void *)with) != 0 ||
        ptrace(PTRACE_CONT, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP || !read_all(child, &all) ||
        PLACE(all) != at + BEHIND_BREAKPOINT)
        return 0;
    PLACE(all) = at;
    return write_all(child, &all) &&
           ptrace(PTRACE_POKETEXT, child, (void *)at, (void *)before) == 0;
}

/* Where the function returns to that the child has just been called. */
static inline uint64_t returns_to(pid_t child, const struct user_regs_struct *all)
{
#    if defined(__x86_64__)
    return (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)all->rsp, NULL);
#    else
    (void)child;
    return all->regs[30];
#    endif
}

/* Let the child go on behind a call or a trap as if it had returned `result`. */
static inline int leaves_out(pid_t child, struct user_regs_struct *all, uint64_t behind,
                             long result)
{
#    if defined(__x86_64__)
    all->rsp += behind != PLACE(*all) + TRAP_LENGTH ? sizeof(uint64_t) : 0;
#    endif
    PLACE(*all) = behind;
    RESULT(*all) = (uint64_t)result;
    return write_all(child, all);
}

/* Follow the child to the return of `function`. Its library calls but those in `kept`, and its traps,
 * are left out; returns how many, -1 if it does not return. If `noted` is not NULL, nothing is left
 * out, and the library functions that are called are noted. */
static inline long follow_without(pid_t child, uint64_t (*function)(void),
                                  const struct called *kept, struct called *noted, long result)
{
    struct user_regs_struct all;
    if (!runs_to(child, (uintptr_t)function) || !read_all(child, &all))
        return -1;
    const uint64_t end = returns_to(child, &all);
    long left_out = 0;
    for (long i = 0; i < MOST_STEPS; i++) {
        if (!read_all(child, &all))
            return -1;
        const uint64_t at = PLACE(all);
        if (at == end)
            return left_out;
        const uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)at, NULL);
        if (!is_own_code(at) && (noted != NULL || is_called(kept, at))) {
            if (noted != NULL && !is_called(noted, at) && noted->count < MOST_FUNCTIONS)
                noted->at[noted->count++] = at;
            if (!runs_to(child, returns_to(child, &all)))
                return -1;
        } else if (!is_own_code(at) || (noted == NULL && decoded(word).is_trap)) {
            const uint64_t behind = is_own_code(at) ? at + TRAP_LENGTH : returns_to(child, &all);
            if (!leaves_out(child, &all, behind, result))
                return -1;
            left_out++;
        } else if (one_step(child) != STEPPED) {
            return -1;
        }
    }
    return -1;
}

/* What the child ends with, from 0 to 255; -1 if it does not end by itself. */
static inline int ends_with(pid_t child)
{
    int status = 0;
    if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
        return -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    end_watching(child);
    return -1;
}

/* The library functions that `function` calls; whether that is known. */
static inline int note_called(void (*work)(void), uint64_t (*function)(void), struct called *noted)
{
    const pid_t child = watched_child(work);
    noted->count = 0;
    const int all = child != 0 && follow_without(child, function, NULL, noted, 0) >= 0;
    if (child != 0)
        end_watching(child);
    return all;
}

/* What the child ends with that runs `function` without its calls but those in `kept`; -1 if that is
 * not known. `left_out` says how many were left out. */
static inline int ends_without_calls(void (*work)(void), uint64_t (*function)(void),
                                     const struct called *kept, long result, long *left_out)
{
    const pid_t child = watched_child(work);
    if (child == 0)
        return -1;
    *left_out = follow_without(child, function, kept, NULL, result);
    if (*left_out >= 0)
        return ends_with(child);
    end_watching(child);
    return -1;
}

#endif
#endif
