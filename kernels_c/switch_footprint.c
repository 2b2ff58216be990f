/*
 * What does a switch really cost, with the memory that the task needs next?
 *
 * N tasks stand in a ring on one CPU. A token goes round by pipes; each task reads its own working
 * set, line by line, before it passes the token on. Once round is N hops, and N switches: T(K) =
 * overhead + K * N * hop. One task alone, which passes the token to itself and reads a set of the
 * same size, is the baseline:
 *
 *     switch = (once round - N * (hop to oneself)) / N
 *
 * So what remains is the switch, and what the others have driven out of caches and TLB meanwhile.
 * The tasks are processes or threads; all their pages are small, and each task's own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "memory.h"
#include "peer_process.h"

enum { MOST_TASKS = 64, LINE = 64, GO = 'g', END = 'e' };
enum kind { ALONE, PROCESSES, THREADS };

struct task {
    int in, out; /* the token comes and goes */
    volatile unsigned char *set;
    size_t bytes;
    pid_t process;
    pthread_t thread;
};

/* Its first task is this one. */
struct ring {
    enum kind kind;
    int count;
    size_t bytes; /* of each task's working set */
    struct task tasks[MOST_TASKS];
};

TICKLAB_INLINE int pass(const struct task *task, char token)
{
    return write(task->out, &token, 1) == 1;
}

TICKLAB_INLINE char receive(const struct task *task)
{
    char token = 0;
    return read(task->in, &token, 1) == 1 ? token : 0;
}

TICKLAB_INLINE void read_set(const struct task *task)
{
    for (size_t at = 0; at < task->bytes; at += LINE)
        (void)task->set[at];
}

static uint64_t rounds(const struct ring *ring, long batch)
{
    const struct task *first = &ring->tasks[0];
    uint64_t failed = 0;
    read_set(first); /* whatever was measured before has left in the caches what it liked */
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        failed |= !pass(first, GO);
        failed |= receive(first) != GO;
        read_set(first);
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

/* What every other task does, until the token says that it is over or the ring is broken. */
static void take_part(void *argument)
{
    const struct task *task = argument;
    touch(task->set, task->bytes);
    char token;
    while ((token = receive(task)) == GO) {
        read_set(task);
        if (!pass(task, GO))
            _exit(STATUS_FAILED);
    }
    if (token != END || !pass(task, END))
        _exit(STATUS_FAILED);
}

static void *take_part_as_thread(void *task)
{
    take_part(task);
    return NULL;
}

/* A child keeps only its own ends of the pipes: where one task is gone, all others read an end of
 * file. */
struct place_in_ring {
    struct task *task;
    int not_mine[2];
};

static void take_part_as_process(void *argument)
{
    const struct place_in_ring *place = argument;
    if (close(place->not_mine[0]) != 0 ||
        (place->not_mine[1] >= 0 && close(place->not_mine[1]) != 0))
        _exit(STATUS_FAILED);
    take_part(place->task);
}

static void start_task(struct ring *ring, struct task *task, int first_out, int next_in)
{
    if (ring->kind == THREADS) {
        const int error = pthread_create(&task->thread, NULL, take_part_as_thread, task);
        if (error != 0)
            stop(STATUS_IMPOSSIBLE, "%d threads: %s", ring->count, strerror(error));
        return;
    }
    struct place_in_ring place = {task, {first_out, next_in}};
    task->process = start_peer(take_part_as_process, &place);
    if (close(task->in) != 0 || close(task->out) != 0)
        stop(STATUS_FAILED, "close: %s", strerror(errno));
}

static void open_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        stop(STATUS_IMPOSSIBLE, "pipe: %s", strerror(errno));
}

/* Put this task, and so all that it starts, on one CPU, and have the OS let each run until it waits.
 * Otherwise a task that is woken may interrupt the one that woke it, and a hop is then one switch or
 * two. */
static void take_place(const struct run *run)
{
    place(0, first_place(run));
#if defined(__linux__)
    const struct sched_param no_priority = {.sched_priority = 0};
    if (sched_setscheduler(0, SCHED_BATCH, &no_priority) != 0)
        stop(STATUS_IMPOSSIBLE, "the OS refused the policy SCHED_BATCH: %s", strerror(errno));
#endif
}

/* From pipe to pipe: each task gets the end of the last one and the beginning of the next. */
static void prepare_ring(struct run *run, struct ring *ring)
{
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        stop(STATUS_FAILED, "signal: %s", strerror(errno));
    take_place(run);
    must_be_free(ring->bytes * (size_t)ring->count);
    struct task *first = &ring->tasks[0];
    int last[2], next[2];
    open_pipe(last);
    first->out = last[1];
    for (int i = 0; i < ring->count; i++) {
        ring->tasks[i].bytes = ring->bytes;
        ring->tasks[i].set = untouched_pages(ring->bytes);
    }
    for (int i = 1; i < ring->count; i++) {
        open_pipe(next);
        ring->tasks[i].in = last[0];
        ring->tasks[i].out = next[1];
        start_task(ring, &ring->tasks[i], first->out, next[0]);
        last[0] = next[0];
    }
    first->in = last[0];
    touch(first->set, first->bytes);
    /* Once round: now all are in their places, and their memory is there. */
    if (!pass(first, GO) || receive(first) != GO)
        stop(STATUS_FAILED, "the ring of %d tasks is broken", ring->count);
    /* A process's switches count from its birth: it waits for this round, for the end, and ends. */
    if (ring->kind == PROCESSES)
        run->switches_claimed += 3 * (ring->count - 1);
}

static void end_ring(struct ring *ring)
{
    struct task *first = &ring->tasks[0];
    if (!pass(first, END) || receive(first) != END)
        stop(STATUS_FAILED, "the ring of %d tasks is broken", ring->count);
    for (int i = 1; i < ring->count; i++) {
        if (ring->kind == PROCESSES)
            await_peer(ring->tasks[i].process);
        else if (pthread_join(ring->tasks[i].thread, NULL) != 0)
            stop(STATUS_FAILED, "a thread of the ring could not be ended");
    }
}

#define SET_0    0
#define SET_16k  (16 << 10)
#define SET_64k  (64 << 10)
#define SET_256k (256 << 10)
#define SET_1m   (1 << 20)
#define SET_4m   (4 << 20)

#define RING(of_kind, tasks, size, name)                                                           \
    static struct ring name = {.kind = of_kind, .count = tasks, .bytes = SET_##size};              \
    static uint64_t rounds_##name(long batch)                                                      \
    {                                                                                              \
        return rounds(&name, batch);                                                               \
    }                                                                                              \
    static void prepare_##name(struct run *run)                                                    \
    {                                                                                              \
        prepare_ring(run, &name);                                                                  \
    }                                                                                              \
    static void finish_##name(void)                                                                \
    {                                                                                              \
        end_ring(&name);                                                                           \
    }
#define RINGS(n, size)                                                                             \
    RING(PROCESSES, n, size, processes_##n##_##size) RING(THREADS, n, size, threads_##n##_##size)
#define FOR_EACH_SIZE(what, n)                                                                     \
    what(n, 0) what(n, 16k) what(n, 64k) what(n, 256k) what(n, 1m) what(n, 4m)
#define FOR_EACH_RING(what)                                                                        \
    FOR_EACH_SIZE(what, 2)                                                                         \
    FOR_EACH_SIZE(what, 4)                                                                         \
    FOR_EACH_SIZE(what, 8) FOR_EACH_SIZE(what, 16) FOR_EACH_SIZE(what, 32) FOR_EACH_SIZE(what, 64)
#define ONE_TASK(n, size) RING(ALONE, n, size, alone_##size)

FOR_EACH_SIZE(ONE_TASK, 1)
FOR_EACH_RING(RINGS)

#define OF(kind, n, size)                                                                          \
    {.name = #kind "-" #n "-" #size,                                                               \
     .about = #n " " #kind " on one CPU, each with a working set of " #size " bytes",              \
     .interval = rounds_##kind##_##n##_##size,                                                     \
     .prepare = prepare_##kind##_##n##_##size,                                                     \
     .finish = finish_##kind##_##n##_##size,                                                       \
     .cannot = no_pinning,                                                                         \
     .baseline = "alone-" #size,                                                                   \
     .baseline_times = n,                                                                          \
     .parts = n,                                                                                   \
     .switches = n,                                                                                \
     .system_calls = 2},
#define VARIANTS(n, size) OF(processes, n, size) OF(threads, n, size)
#define VARIANT_ALONE(n, size)                                                                     \
    {.name = "alone-" #size,                                                                       \
     .about = "one task that passes the token to itself, working set of " #size " bytes",          \
     .interval = rounds_alone_##size,                                                              \
     .prepare = prepare_alone_##size,                                                              \
     .finish = finish_alone_##size,                                                                \
     .system_calls = 2},

static const struct variant variants[] = {FOR_EACH_RING(VARIANTS) FOR_EACH_SIZE(VARIANT_ALONE, 1)};

/* Few rounds: an interval as long as a time slice is cut by whoever else wants the CPU. */
static const long batches[] = {1, 2, 3, 4};

int main(int argc, char **argv)
{
    static const struct c_kernel kernel = {.name = "switch_footprint",
                                           .about = "what a switch costs with what follows from it",
                                           .variants = variants,
                                           .variant_count = sizeof variants / sizeof variants[0],
                                           .batches = batches,
                                           .batch_count = sizeof batches / sizeof batches[0],
                                           .samples = 400};
    return measure(&kernel, argc, argv);
}
