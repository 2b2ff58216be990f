/*
 * The plumbing of lab 02's exercise: two first calls. A student's function prepares one of them.
 *
 *     static void get_ready(const volatile unsigned char *code)
 *     {
 *         do what makes the first call of this code cheap, without calling it
 *     }
 *     MEASURE_OWN_FIRST_CALL(get_ready)
 *
 * "own" and "unprepared" each call a procedure that has a page of its own and has never run. Both
 * lose their page. Then get_ready() gets the address of the code that "own" calls.
 */
#ifndef TICKLAB_OWN_FIRST_CALL_H
#define TICKLAB_OWN_FIRST_CALL_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "remote_call.h"
#if defined(__linux__)
#    include <signal.h>
#    include <sys/wait.h>
#endif

/*
 * Which pages did get_ready() touch? After the last sample a child runs it once more, and gives it
 * the address of other memory. There each page appears only when it is itself touched; around code,
 * the OS maps 64 KB at once. The child's exit status is PAGE_TOUCHED if the page at the address is
 * there afterwards, plus OTHERS_TOUCHED if others are. That memory can be read and not run: a call
 * of it faults, and the exit status is CALLED.
 */
#if HAVE_REMOTE && defined(__linux__)
enum { PAGES_AROUND = 64, PAGE_TOUCHED = 1, OTHERS_TOUCHED = 2, NOT_KNOWN = 4, CALLED = 8 };

static const unsigned char *watched_memory;

/* Nothing but a call faults there: a write would have ended the run at its first sample. */
static void note_call(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_addr == (const void *)watched_memory)
        _exit(CALLED);
    signal(signal_number, SIG_DFL);
}

static int touched_by(void (*ready)(const volatile unsigned char *))
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 2 * PAGES_AROUND + 1;
    unsigned char there[2 * PAGES_AROUND + 1];
    unsigned char *memory =
        mmap(NULL, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mincore(memory, pages * page, there) != 0)
        return NOT_KNOWN;
    for (size_t i = 0; i < pages; i++)
        if (there[i] & 1)
            return NOT_KNOWN; /* here mincore() does not tell of this process */
    watched_memory = memory + PAGES_AROUND * page;
    const struct sigaction on_fault = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGSEGV, &on_fault, NULL) != 0 || sigaction(SIGBUS, &on_fault, NULL) != 0)
        return NOT_KNOWN;
    ready(watched_memory);
    if (mincore(memory, pages * page, there) != 0)
        return NOT_KNOWN;
    int others = 0;
    for (size_t i = 0; i < pages; i++)
        others |= i != PAGES_AROUND && (there[i] & 1);
    return (there[PAGES_AROUND] & 1 ? PAGE_TOUCHED : 0) | (others ? OTHERS_TOUCHED : 0);
}

static void watch_ready(const char *name, void (*ready)(const volatile unsigned char *))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(5); /* with other contents than code, get_ready() may not end */
        _exit(touched_by(ready));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return;
    const int seen = WEXITSTATUS(status);
    if (seen == CALLED)
        printf("# variant.%s.watched_called: 1\n", name);
    if (seen >= NOT_KNOWN)
        return;
    printf("# variant.%s.watched_page: %d\n# variant.%s.watched_other_pages: %d\n", name,
           (seen & PAGE_TOUCHED) != 0, name, (seen & OTHERS_TOUCHED) != 0);
}
#    define WATCH_READY(own_ready)                                                                 \
        static void run_own_ready(const volatile unsigned char *code)                              \
        {                                                                                          \
            own_ready(code);                                                                       \
        }                                                                                          \
        static void watch_own_ready(const char *name)                                              \
        {                                                                                          \
            watch_ready(name, run_own_ready);                                                      \
        }
#else
#    define WATCH_READY(own_ready)
#    define watch_own_ready NULL
#endif

#if HAVE_REMOTE
/* Where the code begins. The compiler must not know: it refuses to compute with an address that it
 * knows to be that of a function. */
TICKLAB_INLINE const volatile unsigned char *address_of(procedure *code)
{
    uintptr_t at = (uintptr_t)code;
    __asm__("" : "+r"(at));
    return (const volatile unsigned char *)at;
}

#    define FIRST_CALL(name, called, get_ready)                                                    \
        static uint64_t name(long batch)                                                           \
        {                                                                                          \
            static int before;                                                                     \
            if (is_first(&before, batch)) {                                                        \
                take_code_away(called);                                                            \
                get_ready(address_of(called));                                                     \
            }                                                                                      \
            const uint64_t begin = counter_begin();                                                \
            for (register long left = batch; left > 0; left--) {                                   \
                __asm__ volatile("" : "+r"(left));                                                 \
                called();                                                                          \
            }                                                                                      \
            const uint64_t end = counter_end();                                                    \
            return end - begin;                                                                    \
        }                                                                                          \
        /* Run the region once while it is empty: then only the call is new. */                    \
        static void prepare_##name(struct run *run)                                                \
        {                                                                                          \
            (void)run;                                                                             \
            (void)name(0);                                                                         \
        }
#    define FIRST_CALLS(own_ready)                                                                 \
        FIRST_CALL(own_call, remote_procedure, own_ready)                                          \
        FIRST_CALL(unprepared_call, other_remote_procedure, (void))
#    define BY_CALL(function) .interval = function, .prepare = prepare_##function
#else
#    define FIRST_CALLS(own_ready)                                                                 \
        __attribute__((unused)) static void (*const unused_here)(const volatile unsigned char *) = \
            own_ready;
#    define BY_CALL(function) .missing = "not written in this processor's language"
#endif

#define MEASURE_OWN_FIRST_CALL(own_ready)                                                          \
    FIRST_CALLS(own_ready)                                                                         \
    WATCH_READY(own_ready)                                                                         \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {                                                 \
            {.name = "own",                                                                        \
             .about = "first call of a procedure, after your get_ready()",                         \
             .estimand = ESTIMAND_FIRST_TIME,                                                      \
             .memory = 1,                                                                          \
             .watch = watch_own_ready,                                                             \
             BY_CALL(own_call)},                                                                   \
            {.name = "unprepared",                                                                 \
             .about = "first call of another, that nobody got ready",                              \
             .estimand = ESTIMAND_FIRST_TIME,                                                      \
             .memory = 1,                                                                          \
             BY_CALL(unprepared_call)}};                                                           \
        static const long batches[] = {1};                                                         \
        static const struct c_kernel kernel = {                                                    \
            .name = "own_first_call",                                                              \
            .about = "what is left of a first call when you got ready",                            \
            LISTED_VARIANTS(variants),                                                             \
            LISTED_BATCHES(batches),                                                               \
            .samples = 30};                                                                        \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
