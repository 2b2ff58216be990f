/*
 * The state of the core while the samples are taken, measured in rounds spread over the run.
 *
 * Each round times additions. In a chain, each addition waits for the one before and takes one core
 * cycle. So the rounds show how many ticks a core cycle takes. Independent additions show how many
 * of them the core can do in a cycle: its width. If another hardware thread of the same physical
 * core is busy, the two share that width. Then this number falls to about half, while the chain
 * takes as long as before.
 *
 * A thread that often waits for memory leaves the additions nearly their whole width, but it keeps
 * its part of the queues between the stages of the core. Stores show that: next to such a thread a
 * core did 3.7 of 4 additions in a cycle, 1.5 of 2 stores, and formatted a number in 240 cycles
 * instead of 151.
 */
#ifndef TICKLAB_CORE_ROUNDS_H
#define TICKLAB_CORE_ROUNDS_H

#include <stdio.h>
#include <string.h>

#include "calibration.h"

enum { CORE_ROUNDS = 41 };

/* The additions, or the stores, of one attempt: 4,096 core cycles at four in a cycle, which is
 * longer than the step of a coarse counter. */
enum { WIDE_ADDITIONS = 16384, WIDE_A_TURN = 256 };

/* Turns of 256 additions in 8 chains that do not wait for each other: more than a core of today
 * adds in a cycle. The loop is part of the assembly, so it is the same without optimisation. */
#if defined(__x86_64__)
#    define WIDE_LOOP                                                                              \
        ".p2align 5\n77:\n\t.rept 32\n\tadd %1, %1\n\tadd %2, %2\n\tadd %3, %3\n\tadd %4, %4\n\t"  \
        "add %5, %5\n\tadd %6, %6\n\tadd %7, %7\n\tadd %8, %8\n\t.endr\n\tdec %0\n\tjnz 77b"
#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#    if defined(__aarch64__)
#        define WIDE_END "subs %0, %0, #1\n\tb.ne 77b"
#    else
#        define WIDE_END "addi %0, %0, -1\n\tbnez %0, 77b"
#    endif
#    define WIDE_LOOP                                                                              \
        ".p2align 5\n77:\n\t.rept 32\n\tadd %1, %1, %1\n\tadd %2, %2, %2\n\tadd %3, %3, %3\n\t"    \
        "add %4, %4, %4\n\tadd %5, %5, %5\n\tadd %6, %6, %6\n\tadd %7, %7, %7\n\t"                 \
        "add %8, %8, %8\n\t.endr\n\t" WIDE_END
#endif

/* Turns of 256 stores to two places in one cache line. */
#if defined(__x86_64__)
#    define STORE_LOOP                                                                             \
        ".p2align 5\n77:\n\t.rept 128\n\tmovq %0, (%1)\n\tmovq %0, 8(%1)\n\t.endr\n\t"             \
        "dec %0\n\tjnz 77b"
#elif defined(__aarch64__)
#    define STORE_LOOP                                                                             \
        ".p2align 5\n77:\n\t.rept 128\n\tstr %0, [%1]\n\tstr %0, [%1, #8]\n\t.endr\n\t" WIDE_END
#elif defined(__riscv) && __riscv_xlen == 64
#    define STORE_LOOP                                                                             \
        ".p2align 5\n77:\n\t.rept 128\n\tsd %0, 0(%1)\n\tsd %0, 8(%1)\n\t.endr\n\t" WIDE_END
#endif

/* What a round times is in the program once, so that the first call brings it into the caches for
 * all others. A copy for each call would be cold in each: 3 KB of code from memory took 4,000 ticks,
 * beside 5,000 of 8,192 additions. */
#define TIMED_IN_A_ROUND __attribute__((noinline)) static uint64_t

#ifdef WIDE_LOOP
TIMED_IN_A_ROUND wide_ticks_once(void)
{
    uint64_t turns = WIDE_ADDITIONS / WIDE_A_TURN;
    uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1;
    const uint64_t begin = counter_begin();
    __asm__ volatile(WIDE_LOOP
                     : "+r"(turns), "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g),
                       "+r"(h)
                     :
                     : "memory", "cc");
    return counter_end() - begin;
}

TIMED_IN_A_ROUND store_ticks_once(void)
{
    static uint64_t places[8] __attribute__((aligned(64)));
    uint64_t turns = WIDE_ADDITIONS / WIDE_A_TURN;
    const uint64_t begin = counter_begin();
    __asm__ volatile(STORE_LOOP : "+r"(turns) : "r"(places) : "memory", "cc");
    return counter_end() - begin;
}

/* The shorter of two attempts: an interrupt hits only one, and must not look like a neighbour. */
static uint64_t wide_ticks(void)
{
    const uint64_t one = wide_ticks_once(), other = wide_ticks_once();
    return one < other ? one : other;
}

static uint64_t store_ticks(void)
{
    const uint64_t one = store_ticks_once(), other = store_ticks_once();
    return one < other ? one : other;
}
#else
static uint64_t wide_ticks(void) /* unknown here: in C, the compiler would decide the width */
{
    return 0;
}

static uint64_t store_ticks(void)
{
    return 0;
}
#endif

/* Ticks of `thousands` times 1024 dependent additions. The loop adds nothing, because the core
 * executes it while the additions wait for each other. */
TIMED_IN_A_ROUND chain_ticks(int thousands)
{
    uint64_t link = 1;
    __asm__ volatile("" : "+r"(thousands)); /* no copy for each number */
    const uint64_t begin = counter_begin();
    for (int i = 0; i < thousands; i++)
        ADD_CHAIN(link, 1024);
    return counter_end() - begin;
}

/* The clock of the core can change within milliseconds, and a neighbour can come and go. So only
 * rounds among the samples show the conditions of the samples. */
struct core_rounds {
    uint64_t shorter[CORE_ROUNDS], longer[CORE_ROUNDS]; /* ticks of chains of 8,192 and 16,384 */
    uint64_t wide[CORE_ROUNDS], stores[CORE_ROUNDS];
    long taken[CORE_ROUNDS]; /* samples taken before the round */
    uint64_t ended, length;  /* of the last round: the counter, and its ticks */
    int count;
};

/* After a round the core has lost some of what it knew of the code of a sample: a system call took
 * 270 ns where each sample followed a round, and 80 ns else. So the next round waits for so many
 * times its length; those of very short runs come after the last sample. */
enum { ROUND_APART = 4 };

/* Run the rounds that are due when `taken` of `all` samples have been taken. The first round
 * comes before the first sample, and the last one after the last sample. There are none where the
 * core cycles of an addition are unknown. */
static void watch_core(struct core_rounds *rounds, long taken, long all)
{
    if (ADDITION_CYCLES == 0)
        return;
    while (rounds->count < CORE_ROUNDS && rounds->count <= taken * (CORE_ROUNDS - 1) / all) {
        const uint64_t begin = counter_end();
        if (taken < all && begin - rounds->ended < ROUND_APART * rounds->length)
            return;
        (void)chain_ticks(1); /* the samples may have driven its code out of the caches */
        rounds->shorter[rounds->count] = chain_ticks(8);
        rounds->longer[rounds->count] = chain_ticks(16);
        rounds->wide[rounds->count] = wide_ticks();
        rounds->stores[rounds->count] = store_ticks();
        rounds->taken[rounds->count++] = taken;
        rounds->ended = counter_end();
        rounds->length = rounds->ended - begin;
    }
}

static int by_length(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The ticks of a core cycle in most rounds: those of 16,384 dependent additions minus those of 8,192,
 * at one cycle each. Both are from the same round, because the clock may change between rounds. Only
 * the middle half of the rounds counts, because interrupts hardly ever hit it. */
static double usual_cycle(const struct core_rounds *rounds)
{
    double cycle[CORE_ROUNDS], sum = 0;
    for (int i = 0; i < CORE_ROUNDS; i++)
        cycle[i] = ((double)rounds->longer[i] - (double)rounds->shorter[i]) / 8192;
    qsort(cycle, CORE_ROUNDS, sizeof cycle[0], by_length);
    for (int i = CORE_ROUNDS / 4; i < CORE_ROUNDS - CORE_ROUNDS / 4; i++)
        sum += cycle[i];
    return sum / (CORE_ROUNDS - 2 * (CORE_ROUNDS / 4));
}

/* The ticks of a core cycle in one round, because the clock of the core changes between rounds. In
 * the difference of the two chains, what the readings add cancels. If the difference does not fit
 * the chains, an interrupt hit one of them, and the other one counts. If it hit both, the length in
 * most rounds counts. */
static double cycle_in_round(const struct core_rounds *rounds, int round, double overhead,
                             double usual)
{
    const double shorter = ((double)rounds->shorter[round] - overhead) / 8192;
    const double longer = ((double)rounds->longer[round] - overhead) / 16384;
    const double between = ((double)rounds->longer[round] - (double)rounds->shorter[round]) / 8192;
    const int fits = between > 0.98 * shorter && between < 1.02 * shorter;
    const double cycle = fits ? between : shorter < longer ? shorter : longer;
    return cycle > usual / 1.5 && cycle < usual * 1.5 ? cycle : usual;
}

/* The mean ticks of a core cycle. The samples are spread over the rounds. */
static double ticks_per_core_cycle(const struct core_rounds *rounds, double overhead)
{
    const double usual = usual_cycle(rounds);
    double sum = 0;
    for (int i = 0; i < CORE_ROUNDS; i++)
        sum += cycle_in_round(rounds, i, overhead, usual);
    return sum / (double)CORE_ROUNDS;
}

/* Print how many of the instructions that took `ticks` the core did in a cycle, round by round. */
static void print_a_cycle(const char *key, const struct core_rounds *rounds,
                          const uint64_t ticks[CORE_ROUNDS], double overhead)
{
    const double usual = usual_cycle(rounds);
    printf("# %s:", key);
    for (int i = 0; i < CORE_ROUNDS; i++) {
        const double taken = (double)ticks[i] - overhead;
        const double cycle = cycle_in_round(rounds, i, overhead, usual);
        printf(" %.2f", taken > 0 ? (double)WIDE_ADDITIONS * cycle / taken : 0);
    }
    printf("\n");
}

/* Print the independent additions and the stores per core cycle in each round, and the number of the
 * sample before each round. */
static void print_core_width(const struct core_rounds *rounds, long warmup, double overhead)
{
    if (rounds->wide[0] == 0)
        return;
    print_a_cycle("core_width", rounds, rounds->wide, overhead);
    print_a_cycle("core_stores", rounds, rounds->stores, overhead);
    printf("# core_width.after:");
    for (int i = 0; i < CORE_ROUNDS; i++)
        printf(" %ld", rounds->taken[i] - 1 - warmup);
    printf("\n");
}

#endif
