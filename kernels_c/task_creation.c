/*
 * What does it cost to create a task?
 *
 * With "-wait", k tasks are created, end and are waited for between two readings: T(k) = overhead +
 * k * cost. In the plain form each creation has readings of its own, whose cost is the baseline,
 * and the wait is outside them. Otherwise earlier tasks would run in the time of the next one.
 *
 * Tasks of fork, vfork, clone-vm and pthread end at once. posix-spawn must execute a program
 * (true): compare it with fork-exec and vfork-exec, which execute the same. vfork and posix-spawn
 * return when the child has ended or executed, so their plain form includes that.
 *
 * fork copies page tables, so its cost grows with the memory of the parent: fork-1mb to
 * fork-wait-1gb.
 *
 * Parent and child share a CPU. With "-unpinned", the OS decides where a child runs. To wake
 * another CPU for a thread and come back can take five times as long as the thread itself, and the
 * OS does not do so for every thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "placement.h"

static const char *program; /* one that does nothing and succeeds */

static long one_cpu; /* for parent and child */

/* Before the readings: move to that CPU, or to any. A new task inherits the place. */
static void stand(long cpu)
{
    static long last = ANY_CPU;
    if (cpu != last)
        place(0, cpu);
    last = cpu;
}

static void prepare_on_one_cpu(struct run *run)
{
    one_cpu = first_place(run);
    stand(one_cpu);
}

#define WHOLE(name, cpu, operation)                                                                \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        stand(cpu);                                                                                \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (long i = 0; i < batch && !failed; i++)                                                \
            failed |= !(operation);                                                                \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

/* Each creation has readings of its own. `afterwards` waits for the new task, outside them. */
#define CREATION(name, operation, afterwards)                                                      \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t total = 0, failed = 0;                                                            \
        stand(one_cpu);                                                                            \
        for (long i = 0; i < batch && !failed; i++) {                                              \
            /* measured region begins */                                                           \
            const uint64_t begin = counter_begin();                                                \
            failed |= !(operation);                                                                \
            const uint64_t end = counter_end();                                                    \
            /* measured region ends */                                                             \
            failed = failed || !(afterwards);                                                      \
            total += end - begin;                                                                  \
        }                                                                                          \
        failed_calls |= failed;                                                                    \
        return total;                                                                              \
    }

/* A child process that ends at once. */
TICKLAB_INLINE pid_t forked(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child;
}

TICKLAB_INLINE pid_t forked_to_execute(void)
{
    char *const words[] = {(char *)program, NULL}, *const environment[] = {NULL};
    const pid_t child = fork();
    if (child == 0) {
        execve(program, words, environment);
        _exit(127);
    }
    return child;
}

TICKLAB_INLINE pid_t spawned(void)
{
    char *const words[] = {(char *)program, NULL}, *const environment[] = {NULL};
    pid_t child = -1;
    return posix_spawn(&child, program, NULL, NULL, words, environment) == 0 ? child : -1;
}

/* Wait until the child has ended; it must have succeeded. */
static int ended(pid_t child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void *thread_ends(void *nothing)
{
    return nothing;
}

static pid_t child;
static pthread_t thread;

TICKLAB_INLINE int threaded(void)
{
    return pthread_create(&thread, NULL, thread_ends, NULL) == 0;
}

static int joined(void)
{
    return pthread_join(thread, NULL) == 0;
}

CREATION(stamps, 1, 1)
CREATION(make_fork, (child = forked()) > 0, ended(child))
CREATION(make_fork_exec, (child = forked_to_execute()) > 0, ended(child))
CREATION(make_spawn, (child = spawned()) > 0, ended(child))
CREATION(make_thread, threaded(), joined())
WHOLE(wait_fork, one_cpu, ended(forked()))
WHOLE(wait_fork_exec, one_cpu, ended(forked_to_execute()))
WHOLE(wait_spawn, one_cpu, ended(spawned()))
WHOLE(wait_thread, one_cpu, threaded() && joined())
WHOLE(wait_fork_unpinned, ANY_CPU, ended(forked()))
WHOLE(wait_thread_unpinned, ANY_CPU, threaded() && joined())

#if defined(__linux__)
enum { CLONE_STACK = 64 << 10 };
static unsigned char *clone_stack;

/* The child runs on the stack of its parent. So it has a function of its own, and changes no
 * variable that the parent still needs. */
__attribute__((noinline)) static pid_t vforked(void)
{
    const pid_t child = vfork();
    if (child == 0)
        _exit(0);
    return child;
}

__attribute__((noinline)) static pid_t vforked_to_execute(void)
{
    char *const words[] = {(char *)program, NULL}, *const environment[] = {NULL};
    const pid_t child = vfork();
    if (child == 0) {
        execve(program, words, environment);
        _exit(127);
    }
    return child;
}

static int clone_ends(void *nothing)
{
    (void)nothing;
    return 0;
}

/* A process in the memory of this one, on a stack of its own, which grows down from its upper
 * end. */
TICKLAB_INLINE pid_t cloned(void)
{
    return clone(clone_ends, clone_stack + CLONE_STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
                 NULL);
}

CREATION(make_vfork, (child = vforked()) > 0, ended(child))
CREATION(make_vfork_exec, (child = vforked_to_execute()) > 0, ended(child))
CREATION(make_clone, (child = cloned()) > 0, ended(child))
WHOLE(wait_vfork, one_cpu, ended(vforked()))
WHOLE(wait_vfork_exec, one_cpu, ended(vforked_to_execute()))
WHOLE(wait_clone, one_cpu, ended(cloned()))

static const char *cannot_clone(void)
{
    if (clone_stack == NULL) {
        clone_stack = untouched_pages(CLONE_STACK);
        touch(clone_stack, CLONE_STACK);
    }
    return ended(cloned()) ? NULL : "clone with CLONE_VM alone is refused here";
}
#    define ON_LINUX(function, ...) .interval = function, __VA_ARGS__
#else
#    define ON_LINUX(function, ...) .missing = "this system has no such call, or advises against it"
#endif

static const char *cannot_execute(void)
{
    static const char *const places[] = {"/bin/true", "/usr/bin/true"};
    for (int i = 0; i < 2 && program == NULL; i++)
        if (access(places[i], X_OK) == 0)
            program = places[i];
    return program != NULL ? NULL : "there is neither /bin/true nor /usr/bin/true to execute";
}

/* So much memory in this process, whose page tables fork has to copy. */
static void fill_memory(struct run *run, size_t bytes, void (*preparation)(struct run *run))
{
    static size_t filled;
    prepare_on_one_cpu(run);
    for (int i = 0; i < run->chosen_count; i++)
        if (run->chosen[i]->prepare != preparation && run->chosen[i]->interval != stamps)
            stop(STATUS_USAGE,
                 "--variant: %s would have its parent in another variant's memory; "
                 "measure one size of memory a run",
                 run->chosen[i]->name);
    if (filled == bytes)
        return;
    touch(untouched_pages(bytes), bytes);
    filled = bytes;
}

#define FORK_WITH(size, bytes)                                                                     \
    static void prepare_##size(struct run *run)                                                    \
    {                                                                                              \
        fill_memory(run, bytes, prepare_##size);                                                   \
    }
FORK_WITH(1mb, 1 << 20)
FORK_WITH(16mb, 16 << 20)
FORK_WITH(64mb, 64 << 20)
FORK_WITH(256mb, 256 << 20)
FORK_WITH(1gb, 1 << 30)

#define FORKS(size, words)                                                                         \
    {.name = "fork-" #size,                                                                        \
     .about = "fork with " words " more in memory, creation only",                                 \
     .interval = make_fork,                                                                        \
     .creates = 1,                                                                                 \
     .baseline = "stamps",                                                                         \
     .prepare = prepare_##size,                                                                    \
     .system_calls = 2,                                                                            \
     .placement = PLACED_ON_ONE_CPU,                                                               \
     .memory = 1},                                                                                 \
        {.name = "fork-wait-" #size,                                                               \
         .about = "fork to wait with " words " more in memory",                                    \
         .interval = wait_fork,                                                                    \
         .creates = 1,                                                                             \
         .prepare = prepare_##size,                                                                \
         .system_calls = 2,                                                                        \
         .placement = PLACED_ON_ONE_CPU,                                                           \
         .memory = 1}

#define ON_ONE_CPU .prepare = prepare_on_one_cpu, .placement = PLACED_ON_ONE_CPU

/* This task makes two system calls for each child: create and wait. Libc may make any number to
 * spawn a process or to create a thread. */
static const struct variant variants[] = {
    {.name = "fork",
     .about = "fork, creation only; the child ends at once",
     .interval = make_fork,
     .creates = 1,
     ON_ONE_CPU,
     .system_calls = 2,
     .baseline = "stamps"},
    {.name = "fork-wait",
     .about = "fork to wait; the child ends at once",
     .interval = wait_fork,
     .creates = 1,
     ON_ONE_CPU,
     .system_calls = 2},
    {.name = "vfork",
     .about = "vfork, which waits until the child has ended, as it does at once",
     ON_LINUX(make_vfork, .creates = 1, ON_ONE_CPU, .baseline = "stamps"),
     .system_calls = 2},
    {.name = "vfork-wait",
     .about = "vfork to wait; the child ends at once",
     ON_LINUX(wait_vfork, .creates = 1, ON_ONE_CPU, .system_calls = 2)},
    {.name = "clone-vm",
     .about = "clone into the same memory, creation only; the child ends at once",
     ON_LINUX(make_clone, .creates = 1, ON_ONE_CPU, .cannot = cannot_clone),
     .system_calls = 2,
     .baseline = "stamps"},
    {.name = "clone-vm-wait",
     .about = "clone into the same memory to wait; the child ends at once",
     ON_LINUX(wait_clone, .creates = 1, ON_ONE_CPU, .cannot = cannot_clone),
     .system_calls = 2},
    {.name = "pthread",
     .about = "pthread_create, creation only",
     .interval = make_thread,
     .creates = 1,
     ON_ONE_CPU,
     .baseline = "stamps"},
    {.name = "pthread-wait",
     .about = "pthread_create to pthread_join",
     .interval = wait_thread,
     .creates = 1,
     ON_ONE_CPU},
    {.name = "posix-spawn",
     .about = "posix_spawn, until the child has executed true",
     .interval = make_spawn,
     .creates = 1,
     ON_ONE_CPU,
     .cannot = cannot_execute,
     .baseline = "stamps"},
    {.name = "posix-spawn-wait",
     .about = "posix_spawn of true to wait",
     .interval = wait_spawn,
     .creates = 1,
     ON_ONE_CPU,
     .cannot = cannot_execute},
    {.name = "fork-exec",
     .about = "fork, creation only; the child executes true",
     .interval = make_fork_exec,
     .creates = 1,
     ON_ONE_CPU,
     .cannot = cannot_execute,
     .system_calls = 2,
     .baseline = "stamps"},
    {.name = "fork-exec-wait",
     .about = "fork to wait; the child executes true",
     .interval = wait_fork_exec,
     .creates = 1,
     ON_ONE_CPU,
     .cannot = cannot_execute,
     .system_calls = 2},
    {.name = "vfork-exec",
     .about = "vfork, until the child has executed true",
     ON_LINUX(make_vfork_exec, .creates = 1, ON_ONE_CPU, .cannot = cannot_execute),
     .system_calls = 2,
     .baseline = "stamps"},
    {.name = "vfork-exec-wait",
     .about = "vfork to wait; the child executes true",
     ON_LINUX(wait_vfork_exec, .creates = 1, ON_ONE_CPU, .cannot = cannot_execute),
     .system_calls = 2},
    {.name = "fork-wait-unpinned",
     .about = "fork to wait; the OS puts the child where it likes",
     .interval = wait_fork_unpinned,
     .creates = 1,
     .system_calls = 2},
    {.name = "pthread-wait-unpinned",
     .about = "pthread_create to pthread_join; the OS puts the thread where it likes",
     .interval = wait_thread_unpinned,
     .creates = 1},
    {.name = "stamps",
     .about = "two readings of the counter: what stands around each creation",
     .interval = stamps,
     .placement = PLACED_ON_ONE_CPU},
    FORKS(1mb, "1 MB"),
    FORKS(16mb, "16 MB"),
    FORKS(64mb, "64 MB"),
    FORKS(256mb, "256 MB"),
    FORKS(1gb, "1 GB"),
};

/* Few in a sample: others interrupt one that is as long as a time slice. */
static const long batches[] = {1, 2, 4, 8};

MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
