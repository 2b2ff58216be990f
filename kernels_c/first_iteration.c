/*
 * Why is the first time slow?
 *
 * A sample holds k operations. Before it, each of them loses one thing that a first time lacks: its
 * page, its line of data, its line of code, or its predictable branch. The baseline is the same k
 * operations with nothing taken away. So T(k) = overhead + k * (cold + warm) gives the cost of one
 * page fault, one miss or one wrong prediction as a slope. All lines and pages are visited in an
 * order that no prefetcher follows.
 *
 * "call", "system-call" and "lazy-binding" are real first times: only the first sample of the
 * process is cold, and all samples are kept. The timed region itself has run before, with k = 0.
 */
#define _GNU_SOURCE
#include <unistd.h>
#if defined(__GLIBC__)
#    include <dlfcn.h>
#    include <link.h>
#endif

#include "cache_flush.h"
#include "remote_call.h"
#include "trap.h"

#define INTERVAL(name, get_ready, operation)                                                       \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        get_ready;                                                                                 \
        register void *at = chain != NULL ? chain[0] : NULL;                                       \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left), "+r"(at));                                           \
            operation;                                                                             \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

static uint64_t random_state;
static long page_size;
static volatile unsigned char *pages; /* touched, and then taken away again */
static size_t pages_bytes;
static void **chain; /* lines of data: each holds the address of the next */
static unsigned char *bits;

/* Each line is on the next page, and one line further in it: lines at the same place of their
 * pages would share few cache sets. */
TICKLAB_INLINE size_t stride(void)
{
    return (size_t)page_size + 64;
}

static void take_pages_away(void)
{
#if defined(__linux__)
    failed_calls |= madvise((void *)pages, pages_bytes, MADV_DONTNEED) != 0;
#else
    failed_calls |= mmap((void *)pages, pages_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) != pages;
#endif
}

static void touch_pages(long batch)
{
    for (long i = 1; i <= batch; i++)
        pages[(size_t)i * stride()] = 1;
}

static void follow_chain(long batch)
{
    for (void *volatile *at = chain[0]; batch > 0; batch--)
        at = *at;
}

static void draw_bits(long batch, int mask)
{
    for (long i = 0; i < 2 * (batch + 1); i++)
        bits[i] = (unsigned char)((next_random(&random_state) >> 32) & (uint64_t)mask);
}

INTERVAL(touch_absent, take_pages_away(), pages[(size_t)left * stride()] = 1)
INTERVAL(touch_present, touch_pages(batch), pages[(size_t)left * stride()] = 1)
INTERVAL(load_flushed, flush_lines(chain, batch), at = *(void *volatile *)at)
INTERVAL(load_cached, follow_chain(batch), at = *(void *volatile *)at)

#if HAVE_REMOTE
/* Code that no compiler places: many procedures that return at once, each on a pair of lines of
 * its own. */
enum { PROCEDURES = 1024, APART = 128 };
/* They are inside a function that nobody calls, so that they are placed among the code. */
__attribute__((used, noinline)) static void lay_procedures(void)
{
    __asm__ volatile(".p2align 7\n"
                     "many_procedures:\n\t.rept 1024\n\tret\n\t.p2align 7\n\t.endr\n");
}
extern __attribute__((visibility("hidden"))) procedure many_procedures __asm__("many_procedures");
static procedure *to_call[PROCEDURES + 1];

/* Choose other procedures than last time, so that no branch predictor knows where the calls go. */
static void draw_procedures(long batch)
{
    for (long i = 1; i <= batch; i++) {
        const long other = i + (long)(next_random(&random_state) % (uint64_t)(PROCEDURES + 1 - i));
        procedure *const swap = to_call[i];
        to_call[i] = to_call[other];
        to_call[other] = swap;
    }
    for (long i = 1; i <= batch; i++)
        to_call[i]();
}

static void draw_and_flush(long batch)
{
    draw_procedures(batch);
    flush_lines((void *const *)to_call + 1, batch);
}

/* A conditional branch that the compiler can neither see nor turn into something else. */
#    if defined(__x86_64__)
#        define BRANCH_ON(bit) "test %" #bit ", %" #bit "\n\tjz 1f\n\tnop\n\tnop\n1:\n\t"
#    elif defined(__aarch64__)
#        define BRANCH_ON(bit) "cbz %w" #bit ", 1f\n\tnop\n\tnop\n1:\n\t"
#    else
#        define BRANCH_ON(bit) "beqz %" #bit ", 1f\n\tnop\n\tnop\n1:\n\t"
#    endif
#    define TWO_BRANCHES(pair)                                                                     \
        __asm__ volatile(BRANCH_ON(0) BRANCH_ON(1)                                                 \
                         :                                                                         \
                         : "r"((unsigned)(pair)[0]), "r"((unsigned)(pair)[1])                      \
                         : "cc")

INTERVAL(call_flushed, draw_and_flush(batch), to_call[left]())
INTERVAL(call_cached, draw_procedures(batch), to_call[left]())
INTERVAL(branch_random, draw_bits(batch, 1), TWO_BRANCHES(bits + 2 * left))
INTERVAL(branch_constant, draw_bits(batch, 0), TWO_BRANCHES(bits + 2 * left))

static int called_before;

static void take_away_once(long batch)
{
    if (is_first(&called_before, batch))
        take_code_away(remote_procedure);
}

INTERVAL(first_call, take_away_once(batch), remote_procedure())
#endif

#if HAVE_TRAP
/* A call that neither libc nor the harness has made before. */
INTERVAL(first_trap, (void)0, failed |= trap(SYS_getuid, 0, 0, 0) < 0)
#endif

#if defined(__GLIBC__)
/* A function of libc that nothing else here calls. The compiler does not know this name. If it
 * knew that the function has no effects, it would call it once, and outside the loop. */
extern int late_toupper(int letter) __asm__("toupper");
INTERVAL(first_of_libc, (void)0, failed |= late_toupper('a') != 'A')

/* Look at the program itself, which comes first: is it bound when it starts? 1 ends the search. */
static int look_at_binding(struct dl_phdr_info *program, size_t size, void *why)
{
    (void)size;
    const char *found = "linked statically: nothing is left to bind";
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];
        if (part->p_type == PT_INTERP)
            found = NULL;
        if (part->p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *entry = (const void *)(program->dlpi_addr + part->p_vaddr);
             entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_BIND_NOW ||
                (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_BIND_NOW) ||
                (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_NOW))
                found = "linked with -z now: all is bound at start";
    }
    *(const char **)why = found;
    return 1;
}

static const char *bound_at_start(void)
{
    const char *why = NULL, *asked = getenv("LD_BIND_NOW");
    if (dl_iterate_phdr(look_at_binding, &why) != 1)
        return "the program's own headers cannot be read";
    if (why == NULL && asked != NULL && asked[0] != '\0')
        why = "LD_BIND_NOW is set: all is bound at start";
    return why;
}
#endif

static void prepare_pages(struct run *run)
{
    page_size = sysconf(_SC_PAGESIZE);
    pages_bytes = (size_t)(largest_batch(run) + 2) * stride();
    if (pages == NULL)
        pages = untouched_pages(pages_bytes);
}

/* One page for each line, in random order, because prefetchers stop at the end of a page. */
static void prepare_chain(struct run *run)
{
    const long count = largest_batch(run) + 1;
    if (chain != NULL)
        return;
    page_size = sysconf(_SC_PAGESIZE);
    unsigned char *memory = untouched_pages((size_t)(count + 1) * stride());
    chain = (void **)untouched_pages((size_t)(count + 1) * sizeof *chain);
    for (long i = 0; i < count; i++) {
        const long other = (long)(next_random(&run->random) % (uint64_t)(i + 1));
        chain[i] = chain[other];
        chain[other] = memory + (size_t)i * stride();
    }
    for (long i = 0; i < count; i++)
        *(void **)chain[i] = chain[i + 1];
}

static void prepare_bits(struct run *run)
{
    random_state = run->random;
    if (bits == NULL)
        bits = untouched_pages(2 * (size_t)(largest_batch(run) + 1));
}

#if HAVE_REMOTE
static void prepare_procedures(struct run *run)
{
    random_state = run->random;
    if (largest_batch(run) > PROCEDURES)
        stop(STATUS_USAGE, "--batch %ld: there are %d procedures to call", largest_batch(run),
             PROCEDURES);
    for (long i = 0; i < PROCEDURES; i++) {
        const uintptr_t address = (uintptr_t)many_procedures + (uintptr_t)(i * APART);
        to_call[i + 1] = (procedure *)address;
    }
    draw_procedures(PROCEDURES);
}
#endif

/* Run the timed region once with nothing in it, so that only the operation is new. */
#define RUN_EMPTY(interval)                                                                        \
    static void prepare_##interval(struct run *run)                                                \
    {                                                                                              \
        (void)run;                                                                                 \
        (void)interval(0);                                                                         \
    }
#if HAVE_REMOTE
RUN_EMPTY(first_call)
#    define IN_ASSEMBLY(function, ...) .interval = function, __VA_ARGS__
#else
#    define IN_ASSEMBLY(function, ...) .missing = "not written in this processor's language"
#endif
#if HAVE_TRAP
RUN_EMPTY(first_trap)
#    define BY_TRAP(function) .interval = function, .prepare = prepare_##function, .traps = 1
#else
#    define BY_TRAP(function) .missing = "calls by the trap instruction are written for Linux only"
#endif
#if defined(__GLIBC__)
/* The function itself has run before, through a pointer: only the way to it is new. */
static void prepare_first_of_libc(struct run *run)
{
    int (*found)(int) = NULL;
    void *const address = dlsym(RTLD_DEFAULT, "toupper");
    (void)run;
    memcpy(&found, &address, sizeof found);
    if (found == NULL || found('a') != 'A')
        stop(STATUS_IMPOSSIBLE, "toupper is not to be found in the C library");
    (void)first_of_libc(0);
}
#    define BOUND_LATE(function)                                                                   \
        .interval = function, .prepare = prepare_##function, .cannot = bound_at_start
#else
#    define BOUND_LATE(function) .missing = "this C library binds all at start"
#endif

static const struct variant variants[] = {
    {.name = "page-fault",
     .about = "first touch of a page that is not there",
     .interval = touch_absent,
     .prepare = prepare_pages,
     .baseline = "page-present",
     .memory = 1},
    {.name = "page-present",
     .about = "the same touches again",
     .interval = touch_present,
     .prepare = prepare_pages},
    {.name = "data-cache",
     .about = "load of a line that is in no cache",
     .interval = load_flushed,
     .prepare = prepare_chain,
     .baseline = "data-cached",
     .memory = 1},
    {.name = "data-cached",
     .about = "the same loads again",
     .interval = load_cached,
     .prepare = prepare_chain},
    {.name = "instruction-cache",
     .about = "call of a procedure that is in no cache",
     IN_ASSEMBLY(call_flushed, .prepare = prepare_procedures),
     .baseline = "instructions-cached",
     .memory = 1},
    {.name = "instructions-cached",
     .about = "calls, as unpredictable, of procedures in the cache",
     IN_ASSEMBLY(call_cached, .prepare = prepare_procedures)},
    {.name = "branch-predictor",
     .about = "two branches on random bits: one of them predicted wrong on average",
     IN_ASSEMBLY(branch_random, .prepare = prepare_bits),
     .baseline = "branches-predicted"},
    {.name = "branches-predicted",
     .about = "the same two branches, always alike",
     IN_ASSEMBLY(branch_constant, .prepare = prepare_bits)},
    {.name = "call",
     .about = "call of a procedure whose page is not there: cold once",
     IN_ASSEMBLY(first_call, .prepare = prepare_first_call),
     .estimand = ESTIMAND_FIRST_TIME,
     .memory = 1},
    {.name = "system-call",
     .about = "getuid by the trap instruction: cold once",
     BY_TRAP(first_trap),
     .system_calls = HAVE_TRAP,
     .estimand = ESTIMAND_FIRST_TIME},
    {.name = "lazy-binding",
     .about = "toupper() of the C library, bound by its first call: cold once",
     BOUND_LATE(first_of_libc),
     .estimand = ESTIMAND_FIRST_TIME},
};

static const long batches[] = {8, 16, 32, 64};

MEASURE(.name = "first_iteration", .about = "what is slow about the first time",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 1000)
