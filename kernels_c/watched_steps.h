/*
 * A function of a student, followed instruction by instruction (watched.h): its readings of the
 * counter, and the calls, loops and additions between the first and the last of them.
 */
#ifndef TICKLAB_WATCHED_STEPS_H
#define TICKLAB_WATCHED_STEPS_H

#include "watched.h"

#if HAVE_WATCH
#    include <elf.h>
#    include <sys/uio.h>
#    include <sys/user.h>

/* Where the program's own code begins and ends; the linker knows. What lies outside is a library's. */
extern const char __executable_start[], etext[];

struct registers {
    uint64_t at, stack, result, return_to; /* return_to: only where a register holds it */
    uint64_t counter;                      /* what a reading of the counter has left */
};

/* What an instruction is, as far as it matters here. `doubled` is the register that it adds to
 * itself; -1 if it is none. */
struct instruction {
    int is_reading, is_call, is_return, doubled, counter_in;
    int waits;        /* until all earlier instructions have finished: a fence, or rdtscp */
    int is_trap;      /* into the OS kernel */
    int is_product;   /* it multiplies or divides */
    int branch_bytes; /* of a branch with a condition; 0 if it is none */
};

/* What one run of a function did between its first and its last reading of the counter. */
struct steps {
    uint64_t first_reading, last_reading, result;
    long readings, calls, inside, inside_loops; /* inside: instructions of called functions */
    long additions, chains;                     /* a register added to itself; such registers */
    long additions_anywhere;                    /* before and after the readings as well */
    long rounds;                                /* of loops in the program's own code, anywhere */
    long traps, products;
    int end_waits; /* whether the first reading after the additions waits for them */
};

#    if defined(__x86_64__)
static struct instruction decoded(uint64_t word)
{
    unsigned char byte[8];
    memcpy(byte, &word, sizeof byte);
    int i = 0, extended = 0;
    while (i < 4 && (byte[i] == 0x66 || byte[i] == 0xf2 || byte[i] == 0xf3 || byte[i] == 0x3e))
        i++;
    if ((byte[i] & 0xf0) == 0x40)
        extended = byte[i++];
    const int operation = byte[i], operands = byte[i + 1];
    const int source = (operands >> 3 & 7) | (extended & 4) << 1;
    const int target = (operands & 7) | (extended & 1) << 3;
    const int adds = (operation == 0x01 || operation == 0x03) && operands >> 6 == 3;
    const int is_fence = operands == 0xae && (byte[i + 2] == 0xe8 || byte[i + 2] == 0xf0);
    const int is_rdtscp = operands == 0x01 && byte[i + 2] == 0xf9;
    return (struct instruction){
        .is_reading = operation == 0x0f && (operands == 0x31 || is_rdtscp),
        .is_call = operation == 0xe8 || (operation == 0xff && (operands >> 3 & 6) == 2),
        .is_return = operation == 0xc3 || operation == 0xc2,
        .waits = operation == 0x0f && (operands == 0xa2 || is_fence || is_rdtscp),
        .is_trap = operation == 0x0f && (operands == 0x05 || operands == 0x34),
        .is_product = operation == 0x69 || operation == 0x6b ||
                      (operation == 0x0f && (operands == 0xaf || operands == 0x5e)) ||
                      ((operation == 0xf7 || operation == 0xf6) && (operands & 0x20) != 0),
        .branch_bytes = (operation & 0xf0) == 0x70                       ? i + 2
                        : operation == 0x0f && (operands & 0xf0) == 0x80 ? i + 6
                                                                         : 0,
        .doubled = adds && source == target ? target : -1};
}
#    else
static struct instruction decoded(uint64_t word)
{
    const uint32_t code = (uint32_t)word;
    const int target = code & 31, first = code >> 5 & 31, second = code >> 16 & 31;
    const int adds = (code & 0xffe0fc00u) == 0x8b000000u;
    const uint32_t counter = code & 0xffffffe0u;
    return (struct instruction){
        .is_reading = counter == 0xd53be040u || counter == 0xd53be0c0u,
        .is_call = (code & 0xfc000000u) == 0x94000000u || (code & 0xfffffc1fu) == 0xd63f0000u,
        .is_return = (code & 0xfffffc1fu) == 0xd65f0000u || code == 0xd65f0bffu,
        .waits = (code & 0xfffff0ffu) == 0xd50330dfu || counter == 0xd53be0c0u,
        .is_trap = (code & 0xffe0001fu) == 0xd4000001u,
        .is_product = (code & 0x7fe0f800u) == 0x1ac00800u || (code & 0x7fe08000u) == 0x1b000000u,
        .branch_bytes =
            (code & 0xff000010u) == 0x54000000u || (code & 0x7c000000u) == 0x34000000u ? 4 : 0,
        .doubled = adds && target == first && target == second ? target : -1,
        .counter_in = target};
}
#    endif

static int registers_of(pid_t child, int counter_in, struct registers *known)
{
    struct user_regs_struct all;
    struct iovec to = {&all, sizeof all};
    if (syscall(SYS_ptrace, (long)PTRACE_GETREGSET, (long)child, (long)NT_PRSTATUS, &to) != 0)
        return 0;
#    if defined(__x86_64__)
    (void)counter_in;
    *known = (struct registers){all.rip, all.rsp, all.rax, 0, all.rdx << 32 | (uint32_t)all.rax};
#    else
    *known = (struct registers){all.pc, all.sp, all.regs[0], all.regs[30],
                                counter_in < 31 ? all.regs[counter_in] : 0};
#    endif
    return 1;
}

/* What is counted so far; it becomes part of `steps` at each reading, so what follows the last
 * reading does not count. */
struct so_far {
    long calls, depth, inside, inside_loops, traps, products, doubled[32];
    int waited; /* whether an instruction since the last addition waits for it */
};

static void note_reading(struct steps *seen, const struct so_far *so_far, uint64_t value)
{
    if (seen->readings == 0)
        seen->first_reading = value;
    seen->last_reading = value;
    seen->readings++;
    seen->calls = so_far->calls;
    seen->inside = so_far->inside;
    seen->inside_loops = so_far->inside_loops;
    seen->traps = so_far->traps;
    seen->products = so_far->products;
    const long before = seen->additions;
    seen->additions = seen->chains = 0;
    for (int i = 0; i < 32; i++) {
        seen->additions += so_far->doubled[i];
        seen->chains += so_far->doubled[i] >= 32;
    }
    if (seen->additions > before)
        seen->end_waits = so_far->waited;
}

static void note_instruction(struct so_far *so_far, struct instruction now)
{
    so_far->calls += now.is_call;
    so_far->depth += now.is_call - (now.is_return && so_far->depth > 0);
    so_far->inside += so_far->depth > 0 && !now.is_call;
    so_far->traps += now.is_trap;
    so_far->products += now.is_product;
    if (now.doubled >= 0)
        so_far->doubled[now.doubled]++;
    so_far->waited = now.doubled < 0 && (so_far->waited || now.waits);
}

/* Whether the OS says that the child sleeps in a system call. */
static inline int is_asleep(pid_t child)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)child);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    const size_t length = fread(line, 1, sizeof line - 1, file);
    line[length] = '\0';
    const char *name_end = strrchr(line, ')');
    return fclose(file) == 0 && name_end != NULL && strncmp(name_end, ") S", 3) == 0;
}

/* Let the child execute one instruction. */
enum { ENDED, STEPPED, ASLEEP };

static inline int one_step(pid_t child)
{
    int status = 0;
    if (syscall(SYS_ptrace, (long)PTRACE_SINGLESTEP, (long)child, 0L, 0L) != 0)
        return ENDED;
    for (long looks = 1;; looks++) {
        const pid_t stopped = waitpid(child, &status, WNOHANG);
        if (stopped == child)
            return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP ? STEPPED : ENDED;
        if (stopped < 0)
            return ENDED;
        if (looks % 64 == 0 && is_asleep(child))
            return ASLEEP;
        (void)sched_yield();
    }
}

/* Follow `function`, which the child calls, to its return: ALL_SEEN; FELL_ASLEEP if it waits in a
 * system call, and CUT_SHORT if it takes more steps. Then `steps` holds what it did until there. */
enum { NOT_SEEN, ALL_SEEN, FELL_ASLEEP, CUT_SHORT };

static inline int is_own_code(uint64_t at)
{
    return at >= (uintptr_t)__executable_start && at < (uintptr_t)etext;
}

static inline int follow(pid_t child, uint64_t (*function)(void), struct steps *seen)
{
    struct so_far so_far = {0};
    struct instruction before = {.doubled = -1};
    struct registers at_begin = {0}, now;
    uint64_t last_at = 0;
    int begun = 0, stepped = STEPPED;
    for (long i = 0; i < MOST_STEPS && stepped == STEPPED; i++) {
        if (!registers_of(child, before.counter_in, &now))
            return NOT_SEEN;
        if (!begun && now.at == (uintptr_t)function) {
            begun = 1;
            at_begin = now;
        } else if (begun && (now.stack > at_begin.stack || now.at == at_begin.return_to)) {
            seen->result = now.result;
            return ALL_SEEN;
        }
        if (begun && before.is_reading)
            note_reading(seen, &so_far, now.counter);
        const int goes_back = now.at < last_at && !before.is_call && !before.is_return;
        so_far.inside_loops += so_far.depth > 0 && goes_back;
        seen->rounds += begun && goes_back && is_own_code(now.at) && is_own_code(last_at);
        const uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)now.at, NULL);
        before = decoded(word);
        last_at = now.at;
        seen->additions_anywhere += begun && before.doubled >= 0;
        if (begun && (seen->readings > 0))
            note_instruction(&so_far, before);
        stepped = one_step(child);
    }
    if (!begun || stepped == ENDED)
        return NOT_SEEN;
    if (stepped == ASLEEP)
        return FELL_ASLEEP;
    if (seen->readings > 0) {
        note_reading(seen, &so_far, seen->last_reading);
        seen->readings--;
    }
    return CUT_SHORT;
}

/* Run `function` in a child, by way of `work`, and note what it did; what follow() says of it. */
static inline int watch_steps(void (*work)(void), uint64_t (*function)(void), struct steps *seen)
{
    const pid_t child = watched_child(work);
    if (child == 0)
        return NOT_SEEN;
    memset(seen, 0, sizeof *seen);
    const int all = follow(child, function, seen);
    end_watching(child);
    return all;
}

#endif
#endif
