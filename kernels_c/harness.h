/*
 * The harness of every C kernel: it reads the options, measures, and prints the samples.
 *
 * A C kernel lists its variants and calls measure(). The harness pins, warms up, and takes the
 * samples in blocks. Each block holds every variant at every batch size once, in random order, so
 * that drift of the machine affects all of them alike. The buffer is allocated and touched before
 * the first sample; nothing is written inside a timed region.
 *
 * A short random delay comes before each sample. So samples begin at random phases of the counter's
 * step, and the mean of many samples is exact even below a coarse step.
 */
#ifndef TICKLAB_HARNESS_H
#define TICKLAB_HARNESS_H

/* In C++ too, a field that a list does not name is 0, and a counter in a register stays in one. */
#if defined(__cplusplus)
#    pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#    pragma GCC diagnostic ignored "-Wregister"
#endif

#include "calibration.h"
#include "conditions.h"
#include "core_rounds.h"
#include "counter.h"
#include "declared.h"
#include "options.h"
#include "preempted.h"
#include "stack_place.h"
#include "tasks.h"

struct run;

/* gcc warns if a list does not name its fields. Otherwise a field that is added later could
 * change what the list of a C kernel means. */
#if __has_attribute(designated_init)
#    define FIELDS_BY_NAME __attribute__((designated_init))
#else
#    define FIELDS_BY_NAME
#endif

/* One operation or technique. A field that is left out is 0 or NULL; its comment says what that
 * means. */
struct FIELDS_BY_NAME variant {
    const char *name;
    const char *about;
    uint64_t (*interval)(long batch); /* take one sample of `batch` operations, in ticks */
    uint64_t (*read)(void);           /* the clock it reads, for its step; NULL: the counter */
    double frequency_hz;              /* of that clock; 0: this machine's counter, measured */
    const char *clock;                /* its name; NULL: the counter's */
    const char *missing;              /* why this machine cannot do it; NULL: it can */
    const char *(*cannot)(void);      /* the same, if it has to look; NULL: it can */
    const char *baseline;             /* variant whose cost is subtracted; it is measured too */
    double baseline_times;            /* how often; 0: once */
    double parts;                     /* the figure is an operation divided by this; 0: by 1 */
    double switches;                  /* task switches that one operation claims to make */
    double system_calls;              /* system calls of this task that one operation makes */
    double creates;                   /* tasks that one operation claims to create */
    void (*prepare)(struct run *run); /* before warm-up: start peers, allocate, touch */
    void (*finish)(void);             /* after the last sample: end peers and wait for them */
    void (*watch)(const char *name);  /* at the very end: print what its code was seen to do */
    enum estimand estimand;           /* what its figure is; by default a cost */
    int operation_cycles;             /* core cycles of one operation; 0: unknown */
    enum placement placement;         /* where its tasks are put */
    int other_tasks;                  /* peers: tasks that take part for the whole run */
    int traps;    /* it makes a system call by the trap instruction, without the C library */
    int unfenced; /* its readings do not wait for the work, and overlap with it */
    int memory;   /* its cost is that of memory, so the use of memory by others matters */
};

struct FIELDS_BY_NAME c_kernel {
    const char *name;
    const char *about;
    const struct variant *variants;
    int variant_count;
    const long *batches; /* the batch sizes to use by default */
    int batch_count;
    int batches_fixed; /* only those sizes exist */
    long samples;      /* how many to take by default; 0: 10000 */
    long warmup;       /* how many before them by default; 0: 100 */
};

/* Two fields of a C kernel: a list and its length. */
#define LISTED_VARIANTS(list) .variants = list, .variant_count = sizeof list / sizeof list[0]
#define LISTED_BATCHES(list)  .batches = list, .batch_count = sizeof list / sizeof list[0]

enum { LEFT_OUT = -1 };

struct sample {
    int variant, batch; /* indices into the chosen ones; LEFT_OUT: it is not printed */
    uint64_t ticks;
    struct cpu_use cpu_use; /* of a variant that claims switches or tasks */
};

/* The calls that failed inside timed regions, where every result is checked. One fails the run. */
static uint64_t failed_calls;

/* Whether the last sample has been taken: no peer may end before. */
static volatile sig_atomic_t all_taken;

struct run {
    const struct c_kernel *kernel;
    struct options options;
    const struct variant *chosen[MAX_VARIANTS];
    int chosen_count;
    struct sample *samples; /* those of the warm-up come first */
    long warmup_total, total;
    uint64_t random;
    long migrations;
    struct core_rounds core_rounds;
    double switches_claimed, system_calls_claimed;
    struct account accounts[MAX_VARIANTS]; /* of the chosen ones that claim switches or tasks */
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* A random number for the turn `number` of a loop, which waits for no other turn: SplitMix64, from
 * Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
TICKLAB_INLINE uint64_t random_of(uint64_t number)
{
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return number ^ (number >> 31);
}

static const char *why_missing(const struct variant *variant)
{
    if (variant->missing != NULL)
        return variant->missing;
    return variant->cannot != NULL ? variant->cannot() : NULL;
}

static long default_samples(const struct c_kernel *kernel)
{
    return kernel->samples > 0 ? kernel->samples : 10000;
}

static long default_warmup(const struct c_kernel *kernel)
{
    return kernel->warmup > 0 ? kernel->warmup : 100;
}

static void list_variants(const struct c_kernel *kernel)
{
    printf("# kernel: %s\n# about: %s\n# batch:", kernel->name, kernel->about);
    for (int i = 0; i < kernel->batch_count; i++)
        printf("%s%ld", i > 0 ? "," : " ", kernel->batches[i]);
    printf("\n# samples: %ld\n# warmup: %ld\n", default_samples(kernel), default_warmup(kernel));
    printf("variant,about,missing,estimand,operation_cycles,placement,other_tasks,traps,unfenced,"
           "memory\n");
    for (int i = 0; i < kernel->variant_count; i++) {
        const struct variant *variant = &kernel->variants[i];
        const char *missing = why_missing(variant);
        printf("%s,\"%s\",\"%s\",%s,%d,%s,%d,%d,%d,%d\n", variant->name, variant->about,
               missing != NULL ? missing : "", estimand_word(variant->estimand),
               variant->operation_cycles, placement_word(variant->placement), variant->other_tasks,
               variant->traps, variant->unfenced, variant->memory);
    }
}

static const struct variant *variant_named(const struct c_kernel *kernel, const char *name)
{
    for (int i = 0; i < kernel->variant_count; i++)
        if (strcmp(kernel->variants[i].name, name) == 0)
            return &kernel->variants[i];
    stop(STATUS_USAGE, "--variant %s: %s has no such variant; --list names them", name,
         kernel->name);
}

static int is_chosen(const struct run *run, const struct variant *variant)
{
    for (int i = 0; i < run->chosen_count; i++)
        if (run->chosen[i] == variant)
            return 1;
    return 0;
}

/* What is subtracted is measured in the same run, interleaved with the rest. It is never a
 * constant. */
static void add_baselines(struct run *run)
{
    for (int i = 0; i < run->chosen_count; i++) {
        if (run->chosen[i]->baseline == NULL)
            continue;
        const struct variant *baseline = variant_named(run->kernel, run->chosen[i]->baseline);
        if (is_chosen(run, baseline))
            continue;
        if (run->chosen_count == MAX_VARIANTS)
            stop(STATUS_USAGE, "--variant: at most %d at once, baselines included", MAX_VARIANTS);
        run->chosen[run->chosen_count++] = baseline;
    }
}

static void choose_variants(struct run *run)
{
    if (run->options.variants[0] == '\0')
        snprintf(run->options.variants, sizeof run->options.variants, "%s",
                 run->kernel->variants[0].name);
    char names[sizeof run->options.variants];
    strcpy(names, run->options.variants);
    char *rest = names;
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        const struct variant *variant = variant_named(run->kernel, name);
        const char *missing = why_missing(variant);
        if (missing != NULL)
            stop(STATUS_IMPOSSIBLE, "%s: not on this machine: %s", name, missing);
        if (is_chosen(run, variant))
            stop(STATUS_USAGE, "--variant: %s stands there twice", name);
        if (run->chosen_count == MAX_VARIANTS)
            stop(STATUS_USAGE, "--variant: at most %d at once", MAX_VARIANTS);
        run->chosen[run->chosen_count++] = variant;
    }
    add_baselines(run);
}

/* A variant that is cold only once is measured one operation at a time, from the first one on. */
static void choose_first_batch(struct options *options, const struct variant *variant)
{
    if (options->batches > 1 || (options->batches == 1 && options->batch[0] != 1))
        stop(STATUS_USAGE, "--batch: %s is cold only once, so its only batch size is 1",
             variant->name);
    options->batches = options->batch[0] = 1;
    if (options->warmup == NOT_ASKED)
        options->warmup = 0;
}

static void choose_batches(struct run *run)
{
    const struct c_kernel *kernel = run->kernel;
    struct options *options = &run->options;
    for (int i = 0; i < run->chosen_count; i++)
        if (run->chosen[i]->estimand == ESTIMAND_FIRST_TIME)
            choose_first_batch(options, run->chosen[i]);
    if (options->warmup == NOT_ASKED)
        options->warmup = default_warmup(kernel);
    if (options->batches == 0) {
        options->batches = kernel->batch_count;
        memcpy(options->batch, kernel->batches, (size_t)kernel->batch_count * sizeof(long));
    }
    for (int i = 0; kernel->batches_fixed && i < options->batches; i++) {
        int known = 0;
        for (int j = 0; j < kernel->batch_count; j++)
            known |= kernel->batches[j] == options->batch[i];
        if (!known)
            stop(STATUS_USAGE, "--batch %ld: %s is built for other sizes; --list names them",
                 options->batch[i], kernel->name);
    }
}

/* Decide what each sample measures: shuffled blocks with every variant at every batch size once. */
static void lay_schedule(struct run *run, struct sample *samples, long count)
{
    const int cells = run->chosen_count * run->options.batches;
    int order[MAX_VARIANTS * MAX_BATCHES];
    for (int i = 0; i < cells; i++)
        order[i] = i;
    for (long taken = 0; taken < count; taken += cells) {
        for (int i = cells - 1; i > 0; i--) {
            const int other = (int)(next_random(&run->random) % (uint64_t)(i + 1));
            const int swap = order[i];
            order[i] = order[other];
            order[other] = swap;
        }
        for (int i = 0; i < cells && taken + i < count; i++) {
            /* This touches the page: no page fault comes later. */
            samples[taken + i] = (struct sample){.variant = order[i] / run->options.batches,
                                                 .batch = order[i] % run->options.batches};
        }
    }
}

/* For a variant that needs room for each operation of a sample. */
TICKLAB_INLINE long largest_batch(const struct run *run)
{
    long largest = 0;
    for (int i = 0; i < run->options.batches; i++)
        largest = run->options.batch[i] > largest ? run->options.batch[i] : largest;
    return largest;
}

/* The counter as a function whose address can be taken. */
static uint64_t counter_end_now(void)
{
    return counter_end();
}

static void prepare(struct run *run)
{
    if (clock_ns(REFERENCE_CLOCK) == 0)
        stop(STATUS_IMPOSSIBLE, "the clock CLOCK_MONOTONIC_RAW cannot be read here");
    if (run->options.seed == 0)
        run->options.seed =
            ((clock_ns(REFERENCE_CLOCK) ^ (uint64_t)getpid() << 20) % INT32_MAX) | 1;
    run->random = run->options.seed;
    if (run->options.samples == 0)
        run->options.samples = default_samples(run->kernel);
    run->total = run->options.samples * run->chosen_count;
    run->warmup_total = run->options.warmup * run->chosen_count;
    run->samples =
        (struct sample *)malloc((size_t)(run->warmup_total + run->total) * sizeof *run->samples);
    if (run->samples == NULL)
        stop(STATUS_FAILED, "no memory for %ld samples; ask for fewer", run->total);
    lay_schedule(run, run->samples, run->warmup_total);
    lay_schedule(run, run->samples + run->warmup_total, run->total);
    for (int i = 0; i < run->chosen_count; i++)
        if (run->chosen[i]->prepare != NULL) {
            const double before = run->switches_claimed;
            run->chosen[i]->prepare(run);
            run->accounts[i].claimed += run->switches_claimed - before;
            peers_belong_to(i);
        }
}

/* Take a sample of a variant that claims switches or tasks, and note what the OS counts
 * meanwhile. */
static uint64_t counted_interval(struct run *run, struct sample *sample, long batch)
{
    const struct variant *variant = run->chosen[sample->variant];
    struct account *account = &run->accounts[sample->variant];
    const uint64_t begin = counter_begin();
    const struct rusage own = usage_of(RUSAGE_SELF), ended = usage_of(RUSAGE_CHILDREN);
    const uint64_t ticks = variant->interval(batch);
    const struct rusage ended_now = usage_of(RUSAGE_CHILDREN), own_now = usage_of(RUSAGE_SELF);
    sample->cpu_use =
        (struct cpu_use){.ticks = counter_end() - begin,
                         .us = cpu_us(own_now) - cpu_us(own) + cpu_us(ended_now) - cpu_us(ended)};
    account->ended_switches += switches_of(ended, ended_now);
    account->ended_faults += ended_now.ru_minflt - ended.ru_minflt;
    account->counted += switches_of(own, own_now) + switches_of(ended, ended_now);
    account->voluntary += voluntary_of(own, own_now) + voluntary_of(ended, ended_now);
    account->faults += own_now.ru_minflt - own.ru_minflt + ended_now.ru_minflt - ended.ru_minflt;
    account->operations += (double)batch;
    account->created += variant->creates * (double)batch;
    account->claimed += variant->switches * (double)batch;
    note_cpu(account, cpu_now());
    return ticks;
}

TICKLAB_INLINE void take(struct run *run, struct sample *sample)
{
    for (volatile uint64_t delay = next_random(&run->random) % 64; delay > 0;)
        delay = delay - 1;
    const struct variant *variant = run->chosen[sample->variant];
    const long batch = run->options.batch[sample->batch];
    const int counted = variant->switches > 0 || variant->creates > 0;
    sample->ticks = counted ? counted_interval(run, sample, batch) : variant->interval(batch);
    run->switches_claimed += variant->switches * (double)batch;
    run->system_calls_claimed += variant->system_calls * (double)batch;
}

/* Whether the very first sample is the one that counts. Then nothing unnecessary may run before
 * it. */
static int is_cold(const struct run *run)
{
    int cold = 0;
    for (int i = 0; i < run->chosen_count; i++)
        cold |= run->chosen[i]->estimand == ESTIMAND_FIRST_TIME;
    return cold;
}

/* At most every 50 ms, print how many samples have been taken; whether this call has. */
static int tell_progress(long taken, long all, uint64_t *last_word)
{
    const uint64_t now = clock_ns(REFERENCE_CLOCK);
    if (now - *last_word <= 50000000u)
        return 0;
    fprintf(stderr, "progress %ld %ld\n", taken, all);
    *last_word = now;
    return 1;
}

/* Take all samples. Between samples, now and then, print how many have been taken. */
static void take_all(void *argument)
{
    struct run *run = (struct run *)argument;
    const long all = run->warmup_total + run->total;
    uint64_t last_word = clock_ns(REFERENCE_CLOCK);
    /* A first time is compared with those that follow it at once. */
    const long undisturbed = is_cold(run) ? 64 : 0;
    if (undisturbed == 0)
        watch_core(&run->core_rounds, 0, all);
    int cpu = cpu_now();
    for (long i = 0; i < all; i++) {
        take(run, &run->samples[i]);
        const int now_on = cpu_now();
        run->migrations += now_on != cpu;
        cpu = now_on;
        if (i + 1 >= undisturbed || i + 1 == all)
            watch_core(&run->core_rounds, i + 1, all);
        if (tell_progress(i + 1, all, &last_word)) {
            struct sample discarded = run->samples[i];
            take(run, &discarded); /* that write has filled the caches with other data */
        }
    }
}

static void print_run(const struct run *run)
{
    const struct options *options = &run->options;
    printf("# kernel: %s\n# variants: %s\n# samples: %ld\n# warmup: %ld\n# batch:",
           run->kernel->name, options->variants, options->samples, options->warmup);
    for (int i = 0; i < options->batches; i++)
        printf("%s%ld", i > 0 ? "," : " ", options->batch[i]);
    printf("\n# seed: %lu\n", (unsigned long)options->seed);
    print_platform();
}

static void print_placement(const struct options *options, const char *allowed, int before,
                            int after)
{
    if (options->cpu == NOT_PINNED)
        printf("# cpu.asked: none\n");
    else
        printf("# cpu.asked: %ld\n", options->cpu);
    printf("# cpu.allowed: %s\n# cpu.before: %d\n# cpu.after: %d\n", allowed, before, after);
    print_pinning();
}

/* End the peers of every variant. What the OS counted for a peer is known when it has ended. */
static void finish(struct run *run)
{
    for (int i = 0; i < run->chosen_count; i++) {
        note_placement(&run->accounts[i], i);
        if (run->chosen[i]->finish == NULL)
            continue;
        const struct rusage ended = usage_of(RUSAGE_CHILDREN);
        run->chosen[i]->finish();
        const struct rusage ended_now = usage_of(RUSAGE_CHILDREN);
        run->accounts[i].counted += switches_of(ended, ended_now);
        run->accounts[i].voluntary += voluntary_of(ended, ended_now);
    }
}

static void print_accounts(const struct run *run, int counted)
{
    for (int i = 0; i < run->chosen_count; i++)
        if (run->chosen[i]->switches > 0)
            print_account(run->chosen[i]->name, &run->accounts[i], counted);
        else if (run->chosen[i]->creates > 0)
            print_created(run->chosen[i]->name, &run->accounts[i], counted);
}

/* Whether all tasks of a variant share a CPU and have ended after each sample, so that their CPU time
 * is known; it is compared with ticks of the counter. */
static int is_judged(const struct variant *variant)
{
    return variant->creates > 0 && variant->other_tasks == 0 &&
           variant->placement == PLACED_ON_ONE_CPU && variant->read == NULL &&
           why_no_pinning() == NULL && !place_anywhere;
}

/* Whether the OS counts CPU time to the microsecond. Some count it in whole milliseconds. */
static int cpu_time_is_fine(const struct run *run)
{
    for (long i = 0; i < run->total; i++)
        if (run->samples[run->warmup_total + i].cpu_use.us % 1000 != 0)
            return 1;
    return 0;
}

/* Whether that is known of the steady sample `number`, and it was. */
static int is_preempted(const struct run *run, long number, double ticks_per_us)
{
    const struct sample *sample = &run->samples[run->warmup_total + number];
    return is_judged(run->chosen[sample->variant]) &&
           was_preempted(&sample->cpu_use, sample->ticks, ticks_per_us);
}

/* Print the numbers of the steady samples that were preempted. If one line does not hold them, the
 * last range reaches to the end of the run: it marks some too many, and misses none. */
static void print_preempted(const struct run *run, double ticks_per_us)
{
    char text[1900] = "";
    if (!cpu_time_is_fine(run))
        return;
    for (long i = 0, last = 0; i < run->total; i = last + 1) {
        last = i;
        if (!is_preempted(run, i, ticks_per_us))
            continue;
        while (last + 1 < run->total && is_preempted(run, last + 1, ticks_per_us))
            last++;
        if (add_range(text, sizeof text - LONGEST_RANGE, i, last))
            continue;
        add_range(text, sizeof text, i, run->total - 1);
        break;
    }
    if (text[0] != '\0')
        printf("# sample.preempted:%s\n", text);
}

static void print_clocks(struct run *run, double counter_hz)
{
    printf("# counter: %s\n# counter.frequency_hz: %.1f\n# counter.step: %lu\n", COUNTER_NAME,
           counter_hz, (unsigned long)step_of(counter_begin));
    const uint64_t overhead = counter_overhead();
    printf("# counter.overhead: %lu\n", (unsigned long)overhead);
    if (ADDITION_CYCLES > 0)
        printf("# core_cycle_ticks: %.7f\n",
               ticks_per_core_cycle(&run->core_rounds, (double)overhead));
    print_core_width(&run->core_rounds, run->warmup_total, (double)overhead);
    for (int i = 0; i < run->chosen_count; i++) {
        const struct variant *variant = run->chosen[i];
        printf("# clock.%s.name: %s\n", variant->name,
               variant->clock != NULL ? variant->clock : COUNTER_NAME);
        printf("# clock.%s.frequency_hz: %.1f\n# clock.%s.step: %lu\n", variant->name,
               variant->frequency_hz > 0 ? variant->frequency_hz : counter_hz, variant->name,
               (unsigned long)step_of(variant->read != NULL ? variant->read : counter_end_now));
    }
}

static void print_number(const char *variant, const char *key, int value)
{
    if (value != 0)
        printf("# variant.%s.%s: %d\n", variant, key, value);
}

/* Print what each variant declares. A key that is left out has the value 0, or `anywhere`. */
static void print_declared(const struct run *run)
{
    for (int i = 0; i < run->chosen_count; i++) {
        const struct variant *variant = run->chosen[i];
        const char *name = variant->name;
        printf("# variant.%s.estimand: %s\n", name, estimand_word(variant->estimand));
        print_number(name, "operation_cycles", variant->operation_cycles);
        if (variant->placement != PLACED_ANYWHERE)
            printf("# variant.%s.placement: %s\n", name, placement_word(variant->placement));
        print_number(name, "other_tasks", variant->other_tasks);
        print_number(name, "traps", variant->traps);
        print_number(name, "unfenced", variant->unfenced);
        print_number(name, "memory", variant->memory);
        if (variant->watch != NULL)
            variant->watch(name);
    }
}

/* Print what each variant claims, and what to subtract from it. */
static void print_claims(const struct run *run)
{
    for (int i = 0; i < run->chosen_count; i++) {
        const struct variant *variant = run->chosen[i];
        const char *name = variant->name;
        printf("# variant.%s.switches: %g\n", name, variant->switches);
        printf("# variant.%s.system_calls: %g\n", name, variant->system_calls);
        printf("# variant.%s.parts: %g\n", name, variant->parts > 0 ? variant->parts : 1);
        if (variant->baseline == NULL)
            continue;
        printf("# variant.%s.baseline: %s\n", name, variant->baseline);
        printf("# variant.%s.baseline_times: %g\n", name,
               variant->baseline_times > 0 ? variant->baseline_times : 1);
    }
    printf("# claimed.switches: %.0f\n# claimed.system_calls: %.0f\n", run->switches_claimed,
           run->system_calls_claimed);
}

static void print_samples(const struct run *run, const char *what)
{
    printf("variant,sample,batch,%s\n", what);
    for (long i = 0; i < run->warmup_total + run->total; i++) {
        const struct sample *sample = &run->samples[i];
        if (sample->variant == LEFT_OUT)
            continue;
        printf("%s,%ld,%ld,%lu\n", run->chosen[sample->variant]->name, i - run->warmup_total,
               run->options.batch[sample->batch], (unsigned long)sample->ticks);
    }
}

static void must_not_have_failed(const struct run *run)
{
    if (failed_calls != 0 && is_filtered())
        stop(STATUS_IMPOSSIBLE,
             "%s: calls failed inside the timed region; a filter of system calls (seccomp) is set "
             "here, which may refuse them",
             run->options.variants);
    if (failed_calls != 0)
        stop(STATUS_FAILED, "%s: calls failed inside the timed region: nothing was measured",
             run->options.variants);
}

/* The end of main: whether everything was printed. */
static int printed_all(struct run *run)
{
    free(run->samples);
    if (fflush(stdout) != 0 || ferror(stdout))
        stop(STATUS_FAILED, "standard output: %s", strerror(errno));
    return 0;
}

#if defined(TICKLAB_COUNT_EVENTS)
/* Take all samples, each with the count of the event in place of its time. */
static void count_in_samples(void *argument)
{
    struct run *run = (struct run *)argument;
    const long all = run->warmup_total + run->total;
    uint64_t last_word = clock_ns(REFERENCE_CLOCK);
    for (long i = 0; i < all; i++) {
        struct sample *sample = &run->samples[i];
        countable_anew();
        (void)run->chosen[sample->variant]->interval(run->options.batch[sample->batch]);
        sample->ticks = countable_sum.value;
        if (!countable_whole()) /* another program had the counter, or it reads another clock */
            sample->variant = LEFT_OUT;
        tell_progress(i + 1, all, &last_word);
    }
}

/* Count the event of --count, and print the counts. */
static int count_event(struct run *run)
{
    if (is_cold(run))
        stop(STATUS_IMPOSSIBLE,
             "%s: an operation that is cold only once has no line, so its count cannot be "
             "separated from that of the readings",
             run->options.variants);
    open_countable(run->options.event); /* before the peers, which are counted too */
    prepare(run);
    const long place = at_stack_place(run->options.stack_place, count_in_samples, run);
    all_taken = 1;
    finish(run);
    must_not_have_failed(run);
    print_run(run);
    printf("# stack.place: %ld\n# count.event: %s\n# count.scope: %s\n", place, run->options.event,
           only_user_mode ? "user mode" : "user mode and OS kernel");
    print_samples(run, "count");
    return printed_all(run);
}
#else
static int count_event(struct run *run)
{
    stop(STATUS_USAGE, "--count %s: build this C kernel with -DTICKLAB_COUNT_EVENTS",
         run->options.event);
}
#endif

#if defined(TICKLAB_TRIALS)
#    if defined(__cplusplus)
extern "C"
#    endif
    void try_variants(struct run *run); /* trials/trials.c, which is C */
#endif

/* Measure as the command line asks, and print the run; returns the exit status. */
static int measure(const struct c_kernel *kernel, int argc, char **argv)
{
    struct run run = {.kernel = kernel,
                      .options = {.warmup = NOT_ASKED,
                                  .cpu = NOT_PINNED,
                                  .peer_cpu = NOT_PINNED,
                                  .begin_on = NOT_PINNED,
                                  .stack_place = NOT_ASKED}};
    read_options(&run.options, argc, argv, kernel->about);
    if (run.options.list) {
        list_variants(kernel);
        return 0;
    }
    end_with_parent(run.options.end_with);
    choose_variants(&run);
    choose_batches(&run);
    char allowed[4096];
    snprintf(allowed, sizeof allowed, "%s", cpus_allowed());
    must_be_allowed("peer-cpu", run.options.peer_cpu);
    /* The program was read into the caches of this CPU: a first time begins here. */
    if (run.options.cpu == NOT_PINNED && !is_cold(&run))
        begin_on(run.options.begin_on);
    pin_to("cpu", run.options.cpu);
    peers_belong_to(NOBODY);
    if (run.options.event != NULL)
        return count_event(&run);
#if defined(TICKLAB_COUNT_EVENTS)
    stop(STATUS_USAGE, "--count: name an event; this C kernel is built to count, and not to time");
#endif
    const struct scheduling scheduling = scheduling_now();
    must_advance(COUNTER_NAME, counter_end_now);
    must_advance("CLOCK_MONOTONIC_RAW (by a system call)", reference_ns);
    must_advance("CLOCK_MONOTONIC_RAW", reference_ns_by_library);
    prepare(&run);
#if defined(TICKLAB_TRIALS)
    try_variants(&run);
#endif

    const int counted = switches_are_counted();
    const struct moment first = moment_now();
    const int cpu_before = cpu_now();
    const struct rusage before = usage_of(RUSAGE_SELF);
    const struct rusage peers_before = usage_of(RUSAGE_CHILDREN);
    const long place = at_stack_place(run.options.stack_place, take_all, &run);
    all_taken = 1;
    const struct rusage after = usage_of(RUSAGE_SELF);
    const int cpu_after = cpu_now();
    finish(&run);
    const struct rusage peers_after = usage_of(RUSAGE_CHILDREN);
    /* The frequency needs some milliseconds between its two moments. We use them to see what
     * others take of this CPU, and whether the clocks agree. */
    const struct moment middle = moment_now();
    const uint64_t now = middle.by_library[0], least = first.by_library[0] + 4000000u;
    const struct taken taken = taken_by_others(now + 2000000u > least ? now + 2000000u : least);
    const struct moment last = moment_now();
    must_not_have_failed(&run);

    print_run(&run);
    print_placement(&run.options, allowed, cpu_before, cpu_after);
    print_scheduling(scheduling);
    print_all_preloaded();
    printf("# cpu.taken: %.4f\n# cpu.gaps_per_s: %.0f\n", taken.share, taken.gaps_per_s);
    printf("# stack.place: %ld\n", place);
    print_os_counters("main", before, after, run.migrations, counted);
    print_os_counters("peers", peers_before, peers_after, -1, counted);
    print_declared(&run);
    print_claims(&run);
    print_accounts(&run, counted);
    print_memory();
    const double counter_hz = frequency_between(first, last);
    print_preempted(&run, counter_hz / 1e6);
    print_clocks(&run, counter_hz);
    print_clocks_off(middle, last);
    print_samples(&run, "ticks");
    return printed_all(&run);
}

/* One sample as a function `name`: operations between two readings of the counter. The empty asm
 * makes the compiler keep the loop, compute each result, and write all memory that others may see.
 * `turn` is another number for each operation, by which it can choose its input. A random state in
 * memory would make each turn wait for the one before, and that time would hide the operation's. */
#if defined(__cplusplus)
#    define TICKLAB_AUTO auto
#else
#    define TICKLAB_AUTO __auto_type
#endif
#define SAMPLE(name, ...)                                                                          \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        const uint64_t begin = counter_begin();                                                    \
        for (register uint64_t turn = begin; turn != begin + (uint64_t)batch; turn++) {            \
            TICKLAB_AUTO result = (__VA_ARGS__);                                                   \
            __asm__ volatile("" : "+r,r"(turn) : "r,m"(result) : "memory");                        \
        }                                                                                          \
        return counter_end() - begin;                                                              \
    }

/* main of a C kernel: MEASURE(.name = "system_call", LISTED_VARIANTS(variants), ...). */
#define MEASURE(...)                                                                               \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct c_kernel kernel = {__VA_ARGS__};                                       \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
