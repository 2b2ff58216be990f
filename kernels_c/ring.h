/*
 * N tasks in a ring on one CPU, which pass a token round by pipes; or one task that passes it to
 * itself. The C kernel that includes this gives each ring two functions:
 *
 *     void work(const struct task *task)                     the work of every task but the first:
 *                                                            take_part(task, use), and no more
 *     uint64_t timed(const struct ring *ring, long batch)    takes a sample, in the first task
 */
#ifndef TICKLAB_RING_H
#define TICKLAB_RING_H

#include <pthread.h>
#include <signal.h>

#include "memory.h"
#include "peer_process.h"
#include "pipes.h"

enum { MOST_TASKS = 64 };
enum kind { ALONE, PROCESSES, THREADS };

struct task {
    int in, out; /* where the token comes in and goes out */
    volatile unsigned char *set;
    size_t bytes;
    pid_t process;
    pthread_t thread;
    void (*work)(const struct task *task);
};

/* Its first task is this process. */
struct ring {
    enum kind kind;
    int count;
    size_t bytes; /* of each task's working set */
    struct task tasks[MOST_TASKS];
    void (*work)(const struct task *task); /* of every task but the first one */
};

/* Another task is gone. The OS reports that to the first task at once (end_without_peer), which
 * ends all of them. A task that ended here by itself could be reported before the one that broke
 * the ring, and be taken for the cause. So it waits. */
static void await_the_cause(void)
{
    sleep(2);
}

TICKLAB_INLINE int pass(const struct task *task, char token)
{
    return write(task->out, &token, 1) == 1;
}

TICKLAB_INLINE char receive(const struct task *task)
{
    char token = 0;
    return read(task->in, &token, 1) == 1 ? token : 0;
}

/* The work of every other task: it uses its working set when it has the token. It ends when the
 * token says so, or when the ring is broken. */
TICKLAB_INLINE void take_part(const struct task *task, void (*use)(const struct task *task))
{
    touch(task->set, task->bytes);
    char token;
    int whole = 1;
    while (whole && (token = receive(task)) == GO) {
        use(task);
        whole = pass(task, GO);
    }
    if (whole && token == END && pass(task, END))
        return;
    await_the_cause();
    _exit(STATUS_FAILED);
}

static void stop_broken(const struct ring *ring)
{
    await_the_cause();
    stop(STATUS_FAILED, "the ring of %d tasks is broken", ring->count);
}

static void *take_part_as_thread(void *argument)
{
    const struct task *task = argument;
    task->work(task);
    return NULL;
}

/* A child keeps only its own ends of the pipes. So if one task is gone, all others read an end
 * of file. */
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
    place->task->work(place->task);
}

static void start_task(struct ring *ring, struct task *task, int first_out, int next_in)
{
    if (ring->kind == THREADS) {
        const int error = pthread_create(&task->thread, NULL, take_part_as_thread, task);
        if (error != 0)
            stop(STATUS_IMPOSSIBLE, "%d threads: %s", ring->count, strerror(error));
        return;
    }
    struct place_in_ring place = {.task = task, .not_mine = {first_out, next_in}};
    task->process = start_peer(take_part_as_process, &place);
    if (close(task->in) != 0 || close(task->out) != 0)
        stop(STATUS_FAILED, "close: %s", strerror(errno));
}

/* Connect the tasks: each one reads from the last pipe and writes to the next one. */
static void prepare_ring(struct run *run, struct ring *ring)
{
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        stop(STATUS_FAILED, "signal: %s", strerror(errno));
    place(0, first_place(run));
    run_until_it_waits(); /* otherwise a hop is sometimes one switch and sometimes two */
    must_be_free(ring->bytes * (size_t)ring->count);
    struct task *first = &ring->tasks[0];
    int last_in, next_in, next_out;
    open_pipe(&last_in, &first->out);
    for (int i = 0; i < ring->count; i++) {
        ring->tasks[i].work = ring->work;
        ring->tasks[i].bytes = ring->bytes;
        ring->tasks[i].set = untouched_pages(ring->bytes);
    }
    for (int i = 1; i < ring->count; i++) {
        open_pipe(&next_in, &next_out);
        ring->tasks[i].in = last_in;
        ring->tasks[i].out = next_out;
        start_task(ring, &ring->tasks[i], first->out, next_in);
        last_in = next_in;
    }
    first->in = last_in;
    touch(first->set, first->bytes);
    /* Pass the token round once. Then all tasks are in their places, and their memory is
     * resident. */
    if (!pass(first, GO) || receive(first) != GO)
        stop_broken(ring);
    /* The OS counts the switches of a process from its start: it waits for this round, waits for
     * the end, and ends. */
    if (ring->kind == PROCESSES)
        run->switches_claimed += 3 * (ring->count - 1);
}

static void end_ring(struct ring *ring)
{
    struct task *first = &ring->tasks[0];
    if (!pass(first, END) || receive(first) != END)
        stop_broken(ring);
    for (int i = 1; i < ring->count; i++) {
        if (ring->kind == PROCESSES)
            await_peer(ring->tasks[i].process);
        else if (pthread_join(ring->tasks[i].thread, NULL) != 0)
            stop(STATUS_FAILED, "a thread of the ring could not be ended");
    }
}

/* What a variant declares if its operation is once round a ring of n tasks: n hops, n switches. */
#define ONCE_ROUND(n) .parts = n, .switches = n, .other_tasks = (n) - 1

/* rounds_NAME, prepare_NAME and finish_NAME of one ring; `work` and `timed` as at the top. */
#define RING(name, of_kind, tasks_in_it, bytes_of_each, work_of_others, timed)                     \
    static struct ring name = {                                                                    \
        .kind = of_kind, .count = tasks_in_it, .bytes = bytes_of_each, .work = work_of_others};    \
    static uint64_t rounds_##name(long batch)                                                      \
    {                                                                                              \
        return timed(&name, batch);                                                                \
    }                                                                                              \
    static void prepare_##name(struct run *run)                                                    \
    {                                                                                              \
        prepare_ring(run, &name);                                                                  \
    }                                                                                              \
    static void finish_##name(void)                                                                \
    {                                                                                              \
        end_ring(&name);                                                                           \
    }

#endif
