/*
 * What do ten operations of all kinds cost, if each is made slower by -DEXTRA=N core cycles?
 *
 * N additions wait for the operation and for each other, and the next operation waits for them. The
 * code is as long without them, so everything lies at the same addresses.
 */
#define _GNU_SOURCE
#include <ctype.h>

#include "echo.h"
#include "numbers.h"

#if !defined(EXTRA)
#    define EXTRA 0
#endif
#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)
#if defined(__x86_64__)
#    define JUMP     "jmp"
#    define ADDITION "add %1, %0"
#else
#    define JUMP     "b"
#    define ADDITION "add %0, %0, %1"
#endif

enum { INPUTS = 1024, LETTERS = 64, HOPS = 8, PAGE = 4096 };
enum { NEAR = (256 << 10) / 64, FAR = (64 << 20) / 64 }; /* cache lines to walk through */
static char texts[INPUTS][LETTERS], pages[2][PAGE];
static int lists[INPUTS][NUMBERS], copy[NUMBERS];
static struct line {
    struct line *next;
    char nothing[56];
} *near_one, *far_one;
static volatile uint64_t zero;
static uint64_t state = 1;

static struct line *circle(long lines)
{
    struct line *all = aligned_alloc(64, (size_t)lines * sizeof *all);
    if (all == NULL)
        stop(STATUS_FAILED, "no memory for %ld lines", lines);
    for (long i = 0; i < lines; i++)
        all[i].next = &all[i];
    for (long i = lines - 1; i > 0; i--) { /* one circle through all: Sattolo, 1986 */
        const long other = (long)(next_random(&state) % (uint64_t)i);
        struct line *swap = all[i].next;
        all[i].next = all[other].next;
        all[other].next = swap;
    }
    return all;
}

static void make_inputs(struct run *run)
{
    state = run->random;
    for (int i = 0; i < INPUTS * LETTERS; i++)
        texts[i / LETTERS][i % LETTERS] = (char)('0' + next_random(&state) % 10);
    draw(lists, INPUTS, &state);
}

static void make_near(struct run *run)
{
    state = run->random;
    near_one = circle(NEAR);
}

static void make_far(struct run *run)
{
    state = run->random;
    far_one = circle(FAR);
}

static uint64_t chain(void)
{
    uint64_t product = state | 1;
    for (int i = 0; i < 80; i++)
        product *= 2685821657736338717u;
    return product;
}

static uint64_t hash(void)
{
    uint64_t sum = 0;
    const char *text = texts[next_random(&state) >> 54];
    for (int i = 0; i < LETTERS; i++)
        sum = 31 * sum + (uint64_t)text[i];
    return sum;
}

/* A number in decimal digits, of another length each time. */
static uint64_t parse(void)
{
    const uint64_t which = next_random(&state);
    const char *text = texts[which >> 54] + which % 64;
    uint64_t number = 0;
    for (int i = 0; i < 40 && isdigit((unsigned char)*text) && *text != '0'; i++)
        number = 10 * number + (uint64_t)(*text++ - '0');
    return number;
}

static uint64_t sort_40(void)
{
    memcpy(copy, lists[next_random(&state) >> 54], sizeof copy);
    return (uint64_t)sort(copy);
}

static uint64_t copy_4k(void)
{
    pages[0][state % PAGE]++;
    memcpy(pages[1], pages[0], PAGE);
    __asm__ volatile("" : : : "memory");
    return (uint64_t)pages[1][7];
}

static uint64_t format(void)
{
    char text[32];
    return (uint64_t)snprintf(text, sizeof text, "%lu", (unsigned long)next_random(&state));
}

static uint64_t walk(struct line **at)
{
    struct line *here = (struct line *)((uintptr_t)*at + (state & zero));
    for (int i = 0; i < HOPS; i++)
        here = here->next;
    *at = here;
    return (uintptr_t)here;
}

static uint64_t to_itself(void)
{
    return send_and_receive(&to_oneself) ? 1 : failed_calls++;
}

static uint64_t switch_twice(void)
{
    return send_and_receive(&to_peer) ? 1 : failed_calls++;
}

/* `value`, so many cycles later. The next operation needs `state`. */
static __attribute__((always_inline)) inline uint64_t later(uint64_t value)
{
    const uint64_t nothing = zero; /* a processor may do an addition of the constant 0 in no time */
    __asm__ volatile(JUMP " 1f\n"
                          ".rept 1024 - " NUMBER(EXTRA) "\n" ADDITION "\n.endr\n1:\n"
                                                        ".rept " NUMBER(EXTRA) "\n" ADDITION
                                                                               "\n.endr"
                     : "+r"(value)
                     : "r"(nothing));
    state ^= value & zero;
    return value;
}

SAMPLE(chains, later(chain()))
SAMPLE(hashes, later(hash()))
SAMPLE(parses, later(parse()))
SAMPLE(sorts, later(sort_40()))
SAMPLE(copies, later(copy_4k()))
SAMPLE(formats, later(format()))
SAMPLE(near_walks, later(walk(&near_one)))
SAMPLE(far_walks, later(walk(&far_one)))
SAMPLE(pipes, later(to_itself()))
SAMPLE(switches, later(switch_twice()))

static const struct variant variants[] = {
    {.name = "chain", .about = "80 multiplications", .interval = chains, .prepare = make_inputs},
    {.name = "hash", .about = "a hash of 64 letters", .interval = hashes, .prepare = make_inputs},
    {.name = "parse", .about = "digits to a number", .interval = parses, .prepare = make_inputs},
    {.name = "sort", .about = "40 numbers sorted", .interval = sorts, .prepare = make_inputs},
    {.name = "copy", .about = "memcpy of 4 KiB", .interval = copies, .prepare = make_inputs},
    {.name = "format", .about = "snprintf of a number", .interval = formats},
    {.name = "near", .about = "8 hops in 256 KiB", .interval = near_walks, .prepare = make_near},
    {.name = "far", .about = "8 hops in 64 MiB", .interval = far_walks, .prepare = make_far},
    {.name = "pipe",
     .about = "8 bytes through a pipe",
     .interval = pipes,
     .prepare = open_own_pipe},
    {.name = "switch",
     .about = "to another process and back",
     .interval = switches,
     .cannot = no_pinning,
     .prepare = start_echo_on_one_cpu,
     .finish = end_echo,
     TWO_ON_ONE_CPU},
};
static const long batches[] = {4, 8, 16, 32};
MEASURE(.name = "a_or_b", .about = "what ten operations cost", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
