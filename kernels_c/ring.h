/*
 * N tasks in a ring on one CPU, and a token that goes round by pipes; or one task that passes it to
 * itself. What each of them does with its working set when it has the token is read_set(), and what is
 * timed is rounds(): both are of the C kernel that includes this.
 */
#ifndef TICKLAB_RING_H
#define TICKLAB_RING_H

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "memory.h"
#include "peer_process.h"

enum { MOST_TASKS = 64, GO = 'g', END = 'e' };
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

/* Another task is gone. The OS tells the first one of it at once (end_without_peer), which ends all:
 * a task that ended here of its own accord might be told of before the one that broke the ring, and be
 * taken for the cause. */
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

static void read_set(const struct task *task);
static uint64_t rounds(const struct ring *ring, long batch); /* the interval, timed */

/* What every other task does, until the token says that it is over or the ring is broken. */
static void take_part(void *argument)
{
    const struct task *task = argument;
    touch(task->set, task->bytes);
    char token;
    int whole = 1;
    while (whole && (token = receive(task)) == GO) {
        read_set(task);
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
        stop_broken(ring);
    /* A process's switches count from its birth: it waits for this round, for the end, and ends. */
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

/* rounds_NAME, prepare_NAME and finish_NAME of one ring. */
#define RING(name, of_kind, tasks_in_it, bytes_of_each)                                            \
    static struct ring name = {.kind = of_kind, .count = tasks_in_it, .bytes = bytes_of_each};     \
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

#endif
