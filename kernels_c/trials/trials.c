/*
 * What a time does not show of an operation: a process that times nothing finds it out.
 *
 * With -DTICKLAB_TRIALS and this file, a C kernel tries each variant after its preparation, and states
 * what was seen:
 *
 *   - Does the counter's upper half reach the sample? It is made to read 2^44 ticks.
 *   - Does each operation take the same way through its instructions? Then its input is the same.
 *     How often would a predictor of branches be wrong that sees this way for the first time?
 *   - Do later operations find what the first one left? What only the first ones changed is put
 *     back: an operation that now takes another way eats its input.
 *   - How many cache lines do the operations use, of those that hold something?
 *   - Does a sample that is made longer stay one, or does the C drop it and take another?
 *   - How many system calls does an operation make, and how many bytes do its writes move?
 *
 * A child of this process makes each trial, so all of them find what the preparation left. Nothing
 * is said of a variant with other tasks, other than its writes: they are not in the child.
 */
#define _GNU_SOURCE
/* This part of the program measures nothing. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../memory.h"
#include "../watched_steps.h"

#if HAVE_WATCH
#    include <sys/mman.h>
#    include <sys/resource.h>
#    include <sys/stat.h>
#    include <ucontext.h>

enum { MOST_FOLLOWED = 8000 }; /* instructions of an operation */

enum { MOST_WARM = 100, WARM_NS = 2000000, TRIED_WRITES = 10 };
enum { LONGEST_PAST = 16, CONTEXTS = 1 << 20 };
enum {
    LINE = 64,
    FEWEST_FILLED = 2048,
    MOST_USES = 1 << 14,
    PLACES = 1 << 15,
    MOST_OPEN = 8,
    FEWEST_SAMPLES = 2,
    HANDLERS_STACK = 1 << 16
};
/* The counter of a short and of a long sample. Both differ in their lower half too. */
static const uint64_t short_step = 1 << 6, long_step = (UINT64_C(1) << 44) + (1 << 7);
static const size_t most_copied = (size_t)64 << 20;

/* What the trials note, in memory that a child shares and that is none of the variant's. It has a
 * fixed address, so its users need no other memory, which may be closed to them. */
struct noted {
    signed char contexts[CONTEXTS]; /* how a branch went before; 0: it is not known */
    uintptr_t line[PLACES];         /* those that were used */
    long uses, samples, lines, lines_before, filled, put_back;
    unsigned char *open[MOST_OPEN]; /* pages that an instruction uses now */
    int opened;
    size_t page;
};
#    define NOTED ((struct noted *)0x5ee0000000)

static const struct variant *tried;
static long tried_batch;

/* The memory that holds what a variant works on: the program's own, its heap, and large parts that
 * it asked the OS for. Smaller parts belong to the C library. */
static struct memory {
    unsigned char *begin, *end;
} memory[64];
static int memories;

static void find_memory(void)
{
    extern char __data_start[], _end[];
    char line[512];
    FILE *const maps = fopen("/proc/self/maps", "r");
    memories = 0;
    memory[memories++] = (struct memory){(unsigned char *)__data_start,
                                         (unsigned char *)((uintptr_t)_end & ~(uintptr_t)7)};
    while (maps != NULL && memories < 64 && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        char rights[5] = "", name[64] = "";
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %63s", &begin, &end, rights, name) < 3)
            continue;
        /* The OS kernel writes next to errno, so that part stays open. */
        const uintptr_t next_to = ((uintptr_t)&errno & ~(uintptr_t)0xffff) - 0x10000;
        if (begin <= (uintptr_t)&errno && (uintptr_t)&errno < end)
            end = next_to > begin ? next_to : begin;
        const int is_heap = strcmp(name, "[heap]") == 0;
        const int is_large = name[0] == '\0' && end - begin >= LINE * (size_t)FEWEST_FILLED / 2 &&
                             end - begin < UINT64_C(1) << 34; /* of a sanitizer */
        const int is_program = begin < (uintptr_t)_end && end > (uintptr_t)__data_start;
        if (strcmp(rights, "rw-p") == 0 && (is_heap || is_large) && !is_program)
            memory[memories++] = (struct memory){(unsigned char *)begin, (unsigned char *)end};
    }
    if (maps != NULL)
        fclose(maps);
}

static void once(void)
{
    (void)tried->interval(tried_batch);
}

static void warm(void)
{
    const uint64_t end = clock_ns(REFERENCE_CLOCK) + WARM_NS;
    for (int i = 0; i < MOST_WARM && (i < 3 || clock_ns(REFERENCE_CLOCK) < end); i++)
        once();
}

static void warm_and_once_more(void)
{
    warm();
    once();
}

/* A copy of all that memory, which itself is none of it; NULL if that is too much. */
static uint64_t *copied(void)
{
    size_t bytes = 0, at = 0;
    for (int i = 0; i < memories; i++)
        bytes += (size_t)(memory[i].end - memory[i].begin);
    unsigned char *const copy = bytes > most_copied ? MAP_FAILED
                                                    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return NULL;
    for (int i = 0; i < memories; i++) {
        const size_t size = (size_t)(memory[i].end - memory[i].begin);
        memcpy(copy + at, memory[i].begin, size);
        at += size;
    }
    return (uint64_t *)copy;
}

/* Put back what the first operations changed and a later one leaves as it is. Words that were 0 are
 * no input: something is noted there at the first time. */
static void warm_and_put_back(void)
{
    const uint64_t *const first = copied();
    NOTED->put_back = 0;
    warm();
    const uint64_t *const later = copied();
    once();
    if (first == NULL || later == NULL)
        return;
    size_t word = 0;
    for (int i = 0; i < memories; i++)
        for (uint64_t *at = (uint64_t *)memory[i].begin; at + 1 <= (uint64_t *)memory[i].end;
             at++, word++)
            if (first[word] != 0 && first[word] != later[word] && *at == later[word]) {
                *at = first[word];
                NOTED->put_back++;
            }
}

/* The way of one operation through its instructions, up to MOST_FOLLOWED of them. */
struct way {
    uint64_t name, ticks;        /* the same name: the same instructions in the same order */
    long steps, missed;          /* missed: branches */
    long readings, traps, calls; /* traps: all; calls: between the first and the last reading */
    int whole;
};

/* The place of what is known of a branch after the last `length` branches. */
static signed char *context_of(uint64_t at, uint64_t past, int length)
{
    const uint64_t seen = past & ((UINT64_C(1) << length) - 1);
    const uint64_t mixed = (at * 33 + (uint64_t)length) * UINT64_C(0x9e3779b97f4a7c15) ^
                           (seen + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    return &NOTED->contexts[(mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb) >> 44];
}

/* Note how a branch went; returns whether a predictor would have been wrong that goes by the
 * longest past that it knows (prediction by partial matching). One that is new cannot be wrong. */
static int is_missed(uint64_t at, int taken, uint64_t *past)
{
    int predicted = -1;
    for (int length = LONGEST_PAST; length >= 0; length = length > 1 ? length / 2 : length - 1) {
        signed char *const known = context_of(at, *past, length);
        if (predicted < 0 && *known != 0)
            predicted = *known > 0;
        const int now = *known + (taken ? 1 : -1);
        *known = (signed char)(now == 0 ? (taken ? 1 : -1) : now > 2 ? 2 : now < -2 ? -2 : now);
    }
    *past = *past << 1 | (uint64_t)taken;
    return predicted >= 0 && predicted != taken;
}

/* Let the child go on to its next stop by `request`; whether it stopped there with `signal`. */
static int stops_again(long request, pid_t child, int signal)
{
    int status = 0;
    if (syscall(SYS_ptrace, request, (long)child, 0L, 0L) != 0)
        return 0;
    return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

/* Let a reading of the counter give `value`. */
static void let_it_read(pid_t child, int counter_in, uint64_t value)
{
    struct user_regs_struct all;
    struct iovec to = {&all, sizeof all};
    if (syscall(SYS_ptrace, (long)PTRACE_GETREGSET, (long)child, (long)NT_PRSTATUS, &to) != 0)
        return;
#    if defined(__x86_64__)
    (void)counter_in;
    all.rax = (uint32_t)value;
    all.rdx = value >> 32;
#    else
    if (counter_in < 31)
        all.regs[counter_in] = value;
#    endif
    (void)syscall(SYS_ptrace, (long)PTRACE_SETREGSET, (long)child, (long)NT_PRSTATUS, &to);
}

/* Follow an operation. The n-th reading of the counter gives n * n * `step` ticks, so no difference
 * of readings is like another one. */
static int follow_way(pid_t child, uint64_t step, struct way *way)
{
    struct instruction before = {.doubled = -1};
    struct registers at_begin = {0}, now;
    uint64_t last_at = 0, past = 0;
    long waited = 0, calls = 0;
    while (way->steps < MOST_FOLLOWED && waited < MOST_FOLLOWED) {
        if (!registers_of(child, before.counter_in, &now))
            return 0;
        if (way->steps > 0 && (now.stack > at_begin.stack || now.at == at_begin.return_to)) {
            way->ticks = now.result;
            way->whole = 1;
            return 1;
        }
        if (way->steps > 0 || now.at == (uintptr_t)tried->interval) {
            at_begin = way->steps == 0 ? now : at_begin;
            way->steps++;
            way->name = (way->name ^ now.at) * UINT64_C(0x100000001b3);
            if (before.branch_bytes > 0)
                way->missed +=
                    is_missed(last_at, now.at != last_at + (uint64_t)before.branch_bytes, &past);
            way->traps += before.is_trap;
            calls += before.is_trap && way->readings > 0;
            if (before.is_reading && is_own_code(last_at)) {
                way->calls = calls;
                const uint64_t n = (uint64_t)++way->readings;
                let_it_read(child, before.counter_in, n * n * step);
            }
        }
        waited++;
        before = decoded((uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)now.at, NULL));
        last_at = now.at;
        if (!stops_again(PTRACE_SINGLESTEP, child, SIGTRAP))
            return 0;
    }
    return way->steps > 0;
}

static void (*before_the_way)(void);

static void go_the_way(void)
{
    before_the_way();
    kill(getpid(), SIGSTOP);
    once();
}

/* The way of one operation after `before`; whether it could be followed. */
static int way_after(void (*before)(void), uint64_t step, struct way *way)
{
    *way = (struct way){0};
    memset(NOTED->contexts, 0, sizeof NOTED->contexts);
    before_the_way = before;
    const pid_t child = watched_child(go_the_way);
    if (child == 0)
        return 0;
    const int followed = stops_again(PTRACE_CONT, child, SIGSTOP) && follow_way(child, step, way);
    end_watching(child);
    return followed;
}

/* Returns whether all that an operation uses can be seen: it was followed, and makes no system call,
 * since the OS kernel cannot use memory that is closed. */
static int print_ways(const char *name)
{
    struct way steady, again, fresh, longer;
    if (!way_after(warm, short_step, &steady) || !way_after(warm_and_once_more, short_step, &again))
        return 0;
    const int same = steady.name == again.name && steady.steps == again.steps;
    printf("# variant.%s.trial.same_way: %d\n", name, same);
    if (same && steady.whole)
        printf("# variant.%s.trial.steps: %ld\n# variant.%s.trial.missed: %ld\n", name,
               steady.steps, name, steady.missed);
    if (same && way_after(warm_and_put_back, short_step, &fresh) && fresh.name != steady.name &&
        way_after(warm_and_put_back, short_step, &again) && again.name == fresh.name) {
        printf("# variant.%s.trial.put_back: %ld\n", name, NOTED->put_back);
        if (fresh.whole)
            printf("# variant.%s.trial.fresh_steps: %ld\n", name, fresh.steps);
    }
    const int alone = steady.traps == 0;
    if (!steady.whole || steady.readings < 2 || !way_after(warm, long_step, &longer))
        return alone;
    printf("# variant.%s.trial.calls: %ld\n# variant.%s.trial.dropped: %d\n", name, steady.calls,
           name, longer.readings > steady.readings);
    const int64_t more = (int64_t)(longer.ticks - steady.ticks);
    if (longer.whole && longer.readings == steady.readings && more != 0)
        printf("# variant.%s.trial.counter_whole: %d\n", name, llabs(more) >= INT64_C(1) << 34);
    return alone;
}

#    if defined(__x86_64__)
/* Open the page of an address, or close all that are open. */
static void open_page(unsigned char *at)
{
    struct noted *const noted = NOTED;
    unsigned char *const page = at - (uintptr_t)at % noted->page;
    if (noted->opened == MOST_OPEN || mprotect(page, noted->page, PROT_READ | PROT_WRITE) != 0)
        _exit(1);
    noted->open[noted->opened++] = page;
}

static void close_pages(void)
{
    struct noted *const noted = NOTED;
    for (; noted->opened > 0; noted->opened--)
        if (mprotect(noted->open[noted->opened - 1], noted->page, PROT_NONE) != 0)
            _exit(1);
}

/* An instruction uses a page that is closed: note the line, and open the page for it alone, by a
 * trap after it. */
static void use(int number, siginfo_t *info, void *context)
{
    struct noted *const noted = NOTED;
    greg_t *const flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (number == SIGTRAP) {
        close_pages();
        *flags &= ~0x100L;
        return;
    }
    const uintptr_t line = (uintptr_t)info->si_addr / LINE;
    size_t place = line * UINT64_C(0x9e3779b97f4a7c15) >> 49;
    while (noted->line[place] != 0 && noted->line[place] != line)
        place = (place + 1) % PLACES;
    noted->lines += noted->line[place] == 0;
    noted->line[place] = line;
    if (++noted->uses == MOST_USES)
        _exit(0);
    open_page(info->si_addr);
    *flags |= 0x100;
}

static long lines_filled(void)
{
    long filled = 0;
    for (int i = 0; i < memories; i++)
        for (unsigned char *at = memory[i].begin; at + LINE <= memory[i].end; at += LINE) {
            uint64_t any = 0, word;
            for (size_t j = 0; j < LINE; j += sizeof word) {
                memcpy(&word, at + j, sizeof word);
                any |= word;
            }
            filled += any != 0;
        }
    return filled;
}

/* In a child: take samples until MOST_USES of their memory are seen, and note how many lines there
 * were when the number of samples was last a power of two. */
static void use_lines(long batch)
{
    struct noted *const noted = NOTED;
    struct sigaction action = {.sa_sigaction = use, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    warm();
    noted->filled = lines_filled();
    if (noted->filled < FEWEST_FILLED)
        _exit(0);
    void *const apart =
        mmap(NULL, HANDLERS_STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const stack_t on = {.ss_sp = apart, .ss_size = HANDLERS_STACK};
    if (apart == MAP_FAILED || sigaltstack(&on, NULL) != 0 ||
        sigaction(SIGSEGV, &action, NULL) != 0 || sigaction(SIGTRAP, &action, NULL) != 0)
        _exit(1);
    for (int i = memories - 1; i >= 0; i--) {
        const size_t past = (uintptr_t)memory[i].begin % noted->page;
        unsigned char *const begin = memory[i].begin + (past > 0 ? noted->page - past : 0);
        if (begin < memory[i].end &&
            mprotect(begin, (size_t)(memory[i].end - begin), PROT_NONE) != 0)
            _exit(1);
    }
    while (noted->samples < MOST_USES) {
        /* At first one operation again and again: if it uses many lines, there is time for few. */
        (void)tried->interval(noted->samples < batch ? noted->samples / 2 + 1 : batch);
        const long samples = ++noted->samples;
        if ((samples & (samples - 1)) == 0)
            noted->lines_before = noted->lines;
    }
    _exit(0);
}

static void print_lines(const char *name, long batch)
{
    struct noted *const noted = NOTED;
    int status = 0;
    memset(noted, 0, sizeof *noted);
    noted->page = (size_t)sysconf(_SC_PAGESIZE);
    const pid_t child = fork();
    if (child == 0) {
        end_in_time();
        use_lines(batch);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0 || noted->samples < FEWEST_SAMPLES || noted->lines == 0)
        return;
    printf("# variant.%s.trial.lines_filled: %ld\n# variant.%s.trial.lines: %ld\n"
           "# variant.%s.trial.lines_before: %ld\n",
           name, noted->filled, name, noted->lines, name, noted->lines_before);
}
#    else
static void print_lines(const char *name, long batch)
{
    (void)name; /* no process can step through itself here */
    (void)batch;
}
#    endif

static int has_threads(void)
{
    struct stat tasks; /* one link for each thread, and two more */
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3;
}

static int has_children(void)
{
    siginfo_t ended;
    return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

/* How often the operations write, by the OS kernel's count, and how many bytes. Where no other task
 * could wait for them, a write of 0 bytes is no mistake. */
static void print_writes(const char *name, long batch)
{
    if (!has_threads() && !has_children())
        return;
    const long calls = number_in("/proc/self/io", "syscw:");
    const long bytes = number_in("/proc/self/io", "wchar:");
    for (int i = 0; i < TRIED_WRITES; i++)
        (void)tried->interval(batch);
    const long written = number_in("/proc/self/io", "wchar:") - bytes;
    const long writes = number_in("/proc/self/io", "syscw:") - calls;
    if (calls >= 0 && writes > 0)
        printf("# variant.%s.trial.writes: %ld\n# variant.%s.trial.bytes_written: %ld\n", name,
               writes, name, written);
}

static void try_variant(const struct run *run, const struct variant *variant)
{
    tried = variant;
    tried_batch = run->kernel->batches_fixed ? run->options.batch[0] : 1;
    if (variant->estimand == ESTIMAND_FIRST_TIME)
        return;
    if (!has_threads() && variant->other_tasks == 0 && variant->creates == 0 &&
        variant->switches == 0) {
        fflush(stdout); /* a child must not print it again */
        if (print_ways(variant->name))
            print_lines(variant->name, largest_batch(run));
    }
    print_writes(variant->name, run->options.batch[0]);
}

void try_variants(struct run *run)
{
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (mmap(NOTED, sizeof *NOTED, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != NOTED)
        return;
    find_memory();
    for (int i = 0; i < run->chosen_count; i++) {
        int is_baseline = 0;
        for (int j = 0; j < run->chosen_count; j++)
            is_baseline |= run->chosen[j]->baseline != NULL &&
                           strcmp(run->chosen[j]->baseline, run->chosen[i]->name) == 0;
        if (!is_baseline)
            try_variant(run, run->chosen[i]);
    }
}

#else
void try_variants(struct run *run)
{
    (void)run;
}
#endif
