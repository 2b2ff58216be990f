/*
 * What does a procedure call cost, and what does each argument add?
 *
 * k calls are between two readings: T(k) = overhead + k * (call + loop). The cost is the slope,
 * minus that of the empty loop, which is measured in the same run. The procedures receive their
 * arguments and do nothing with them; the compiler can neither inline nor merge them. With -O0,
 * every argument is stored. With -O2, only what the calling convention asks for is left: x86-64
 * passes the first six integers in registers, aarch64 and riscv64 the first eight, and all pass the
 * rest in memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "harness.h"

/* Not inlined, not cloned for constant arguments, each on a cache line of its own. */
#if defined(__clang__)
#    define PROCEDURE __attribute__((noinline, aligned(64)))
#else
#    define PROCEDURE __attribute__((noinline, noclone, aligned(64)))
#endif

#define INTERVAL(name, call)                                                                       \
    __attribute__((aligned(64))) static uint64_t name(long batch)                                  \
    {                                                                                              \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            call;                                                                                  \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        return end - begin;                                                                        \
    }

#define I(n) __attribute__((unused)) long a##n
#define TAKES(n, ...)                                                                              \
    PROCEDURE static void args##n(__VA_ARGS__)                                                     \
    {                                                                                              \
        __asm__ volatile("" : : : "memory");                                                       \
    }

TAKES(0, void)
TAKES(1, I(1))
TAKES(2, I(1), I(2))
TAKES(3, I(1), I(2), I(3))
TAKES(4, I(1), I(2), I(3), I(4))
TAKES(5, I(1), I(2), I(3), I(4), I(5))
TAKES(6, I(1), I(2), I(3), I(4), I(5), I(6))
TAKES(7, I(1), I(2), I(3), I(4), I(5), I(6), I(7))
TAKES(8, I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8))
TAKES(9, I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9))
TAKES(10, I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9), I(10))
TAKES(11, I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9), I(10), I(11))
TAKES(12, I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9), I(10), I(11), I(12))

TICKLAB_INLINE void inlined(void)
{
    __asm__ volatile("" : : : "memory");
}

/* The target of a call through a table or a pointer: a function of libc that does little. */
extern int toupper(int);
static int (*volatile far_away)(int);
static void (*volatile through_pointer)(void) = args0;
static volatile int letter;

INTERVAL(loop, (void)0)
INTERVAL(call0, args0())
INTERVAL(call1, args1(1))
INTERVAL(call2, args2(1, 2))
INTERVAL(call3, args3(1, 2, 3))
INTERVAL(call4, args4(1, 2, 3, 4))
INTERVAL(call5, args5(1, 2, 3, 4, 5))
INTERVAL(call6, args6(1, 2, 3, 4, 5, 6))
INTERVAL(call7, args7(1, 2, 3, 4, 5, 6, 7))
INTERVAL(call8, args8(1, 2, 3, 4, 5, 6, 7, 8))
INTERVAL(call9, args9(1, 2, 3, 4, 5, 6, 7, 8, 9))
INTERVAL(call10, args10(1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
INTERVAL(call11, args11(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
INTERVAL(call12, args12(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
INTERVAL(indirect, through_pointer())
INTERVAL(call_inlined, inlined())
INTERVAL(by_table, letter = toupper('a'))
INTERVAL(by_name, letter = far_away('a'))

static void look_up(struct run *run)
{
    (void)run;
    void *found = dlsym(RTLD_DEFAULT, "toupper");
    memcpy((void *)&far_away, &found, sizeof found);
    if (found == NULL)
        stop(STATUS_IMPOSSIBLE, "toupper is not to be found in the C library: %s", dlerror());
}

#define NET_OF_LOOP .baseline = "loop"
#define WITH_ARGUMENTS(n)                                                                          \
    {.name = "args" #n, .about = #n " integer arguments", .interval = call##n, NET_OF_LOOP}

static const struct variant variants[] = {
    WITH_ARGUMENTS(0),
    {.name = "loop", .about = "the empty loop", .interval = loop},
    WITH_ARGUMENTS(1),
    WITH_ARGUMENTS(2),
    WITH_ARGUMENTS(3),
    WITH_ARGUMENTS(4),
    WITH_ARGUMENTS(5),
    WITH_ARGUMENTS(6),
    WITH_ARGUMENTS(7),
    WITH_ARGUMENTS(8),
    WITH_ARGUMENTS(9),
    WITH_ARGUMENTS(10),
    WITH_ARGUMENTS(11),
    WITH_ARGUMENTS(12),
    {.name = "indirect",
     .about = "no argument, through a pointer",
     .interval = indirect,
     NET_OF_LOOP},
    {.name = "plt",
     .about = "toupper() of the C library, by the linkage table",
     .interval = by_table,
     NET_OF_LOOP},
    {.name = "shared-object",
     .about = "toupper() of the C library, by a pointer to it",
     .interval = by_name,
     .prepare = look_up,
     NET_OF_LOOP},
    {.name = "inlined",
     .about = "a procedure that the compiler inlines: nothing is called",
     .interval = call_inlined,
     NET_OF_LOOP},
};

static const long batches[] = {256, 512, 1024, 2048};

MEASURE(.name = "procedure_call", .about = "what a procedure call and its arguments cost",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
