/*
 * The plumbing of lab 05's exercise: a C kernel around one creation that a student writes.
 *
 *     static pid_t own_task(void)
 *     {
 *         create a task that runs raise_number in the memory of this one; return its id
 *     }
 *     MEASURE_OWN_CREATION(own_task)
 *
 * The task raises a number. If it has the memory of its parent, the parent sees the higher number.
 * The run prints how often the parent has seen it raised, and by which task in a trial before the
 * samples (created_task.h). It also measures a fork of the same task.
 */
#ifndef TICKLAB_OWN_CREATION_H
#define TICKLAB_OWN_CREATION_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"
#include "created_task.h"
#include "memory.h"
#include "placement.h"
#include "watched_calls.h"

/* The stack of the task. It grows down from STACK_TOP, on every machine that Linux runs on. */
enum { STACK_BYTES = 64 << 10 };
static unsigned char *stack_bottom;
#define STACK_TOP (stack_bottom + STACK_BYTES)

/* What the task does before it ends. */
static int raise_number(void *nothing)
{
    (void)nothing;
    number++;
    return 0;
}

/* Parent and task share a CPU. */
TICKLAB_INLINE void prepare_on_one_cpu(struct run *run)
{
    give_number_a_page();
    place(0, first_place(run));
}

static void prepare_own(struct run *run)
{
    prepare_on_one_cpu(run);
    if (stack_bottom == NULL) {
        stack_bottom = untouched_pages(STACK_BYTES);
        touch(stack_bottom, STACK_BYTES);
    }
}

/* Try one task before all others. A mistake is reported here, outside the timed region. */
static void must_end_well(pid_t task, pid_t parent)
{
    int status = -1;
    if (getpid() != parent) { /* a child that returned here, and would measure too */
        fprintf(stderr,
                "own_task returned in the new task as well, which must end there instead: ");
        _exit(STATUS_FAILED);
    }
    parent_came_back();
    if (task <= 0)
        stop(
            STATUS_FAILED, "own_task returned %ld, which is no task: %s%s", (long)task,
            errno != 0 ? strerror(errno) : "did it ask for one?",
            errno == EINVAL
                ? ". Its stack is NULL, or one flag needs another: CLONE_THREAD needs two, and its "
                  "parent cannot wait for such a task"
                : "");
    if (waitpid(task, &status, 0) != task)
        stop(STATUS_FAILED, "the parent cannot wait for task %ld: %s%s", (long)task,
             strerror(errno),
             errno == ECHILD ? ". Return what clone returned; its flags must hold SIGCHLD, and not "
                               "CLONE_THREAD"
                             : "");
    if (WIFSIGNALED(status))
        stop(STATUS_FAILED, "the task was made, but ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    if (status != 0)
        stop(STATUS_FAILED, "the task was made, but did not end with status 0");
    end_trial(task);
    number = 0;
}

static void tell_seen(void)
{
    printf("# variant.own.seen: %ld\n", number);
}

static int ended(pid_t task)
{
    int status = -1;
    return task > 0 && waitpid(task, &status, 0) == task && status == 0;
}

TICKLAB_INLINE pid_t forked(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(raise_number(NULL));
    return child;
}

#define OWN_INTERVAL(name, operation)                                                              \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        const uint64_t begin = counter_begin();                                                    \
        for (long i = 0; i < batch && !failed; i++)                                                \
            failed |= !(operation);                                                                \
        const uint64_t end = counter_end();                                                        \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

OWN_INTERVAL(own_fork, ended(forked()))

/* The kit's own such task. */
TICKLAB_INLINE pid_t cloned(void)
{
    return clone(raise_number, STACK_TOP, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
}
OWN_INTERVAL(kit_task, ended(cloned()))

#if HAVE_WATCH
#    define WATCHED_TASKS 8
/* State which system calls the task that measures makes to create so many tasks. The waiting for
 * them, by the run itself, is one for each. */
static inline void print_creations(const char *name, const struct system_calls *seen)
{
    printf("# variant.%s.watched_operations: %d\n# variant.%s.watched_system_calls: %ld\n"
           "# variant.%s.watched_creations: %ld\n# variant.%s.watched_waits: %ld\n"
           "# variant.%s.watched_sleeps: %ld\n# variant.%s.watched_mappings: %ld\n",
           name, WATCHED_TASKS, name, seen->all, name, seen->creations, name, seen->waits, name,
           seen->sleeps, name, seen->mappings);
}
#    define WATCH_CREATION(own_task)                                                               \
        static void run_watched_tasks(void)                                                        \
        {                                                                                          \
            for (int i = 0; i < WATCHED_TASKS; i++)                                                \
                failed_calls |= !ended(own_task());                                                \
        }                                                                                          \
        static void watch_creation(const char *name)                                               \
        {                                                                                          \
            struct system_calls seen;                                                              \
            if (watch_system_calls(run_watched_tasks, &seen))                                      \
                print_creations(name, &seen);                                                      \
        }
#else
#    define WATCH_CREATION(own_task)                                                               \
        static void watch_creation(const char *name)                                               \
        {                                                                                          \
            (void)name;                                                                            \
        }
#endif

/* The variants "own" and "fork", each until its task has ended, and main. */
#define MEASURE_OWN_CREATION(own_task)                                                             \
    OWN_INTERVAL(own, ended(own_task()))                                                           \
    WATCH_CREATION(own_task)                                                                       \
    static void watch_and_time(const char *name)                                                   \
    {                                                                                              \
        watch_creation(name);                                                                      \
        print_beside(name, timed_beside(own, kit_task, 2));                                        \
    }                                                                                              \
    static void prepare_and_try(struct run *run)                                                   \
    {                                                                                              \
        const pid_t parent = getpid();                                                             \
        prepare_own(run);                                                                          \
        begin_trial();                                                                             \
        errno = 0;                                                                                 \
        must_end_well(own_task(), parent);                                                         \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {{.name = "own",                                  \
                                                   .about = "your task, to its end",               \
                                                   .interval = own,                                \
                                                   .placement = PLACED_ON_ONE_CPU,                 \
                                                   .prepare = prepare_and_try,                     \
                                                   .finish = tell_seen,                            \
                                                   .watch = watch_and_time,                        \
                                                   .creates = 1},                                  \
                                                  {.name = "fork",                                 \
                                                   .about = "fork to wait",                        \
                                                   .interval = own_fork,                           \
                                                   .placement = PLACED_ON_ONE_CPU,                 \
                                                   .prepare = prepare_on_one_cpu,                  \
                                                   .creates = 1}};                                 \
        static const long batches[] = {1, 2, 4, 8};                                                \
        static const struct c_kernel kernel = {.name = "own_creation",                             \
                                               .about = "what it costs to create your task",       \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches),                            \
                                               .samples = 400,                                     \
                                               .warmup = 40};                                      \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
