/*
 * What did a student's C create, and who raised the number? The OS answers, and not the student.
 *
 * The number has a page of its own. In a trial before all samples, nobody may write to this page.
 * The first task that tries gets SIGSEGV; the handler notes which task that is, waits until the
 * parent is back from own_task, and lets it write. A parent that sleeps until its child has ended,
 * as after vfork, does not come back.
 */
#ifndef TICKLAB_CREATED_TASK_H
#define TICKLAB_CREATED_TASK_H

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#if defined(__linux__)
#    include <sys/syscall.h>
#endif

#include "memory.h"

static volatile long *raised; /* in a page of its own */

/* What a task raises by one. */
#define number (*raised)

static void give_number_a_page(void)
{
    if (raised != NULL)
        return;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = untouched_pages(page);
    touch(memory, page);
    raised = (volatile long *)(void *)memory;
    number = 0;
}

#if defined(__linux__)

/* In memory that all tasks share, even those that have a copy of the rest. */
struct trial {
    volatile pid_t parent;        /* thread id of the task that calls own_task */
    volatile pid_t writer, group; /* thread id and process id of the first writer; 0: none yet */
    volatile int parent_is_back;  /* from own_task */
    volatile int parent_sleeps;   /* until its child has ended */
};

static struct trial *trial;

enum { LONGEST_WAIT_MS = 1000, WAITS_FOR_MS = 20 };

static int set_number_protection(int protection)
{
    return mprotect((void *)raised, (size_t)sysconf(_SC_PAGESIZE), protection) == 0;
}

/* The state of a process, such as 'R' or 'S'; 0: the system does not say. The task may share the C
 * library's data with its parent, so this makes system calls and nothing else. */
static char state_of(pid_t process)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t length = read(file, line, sizeof line - 1);
    const int closed = close(file) == 0;
    line[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(line, ')');
    return closed && name_end != NULL && name_end[1] == ' ' ? name_end[2] : 0;
}

/* Wait until the parent is back from own_task, or waits there for its child: after vfork it is in
 * state D, and in a call that waits for the child it is in state S. One that waits for the CPU is in
 * state R. */
static void await_parent(void)
{
    const struct timespec a_while = {.tv_nsec = 1000000};
    int waits = 0;
    for (int ms = 0; ms < LONGEST_WAIT_MS && !trial->parent_is_back; ms++) {
        const char state = state_of(trial->parent);
        waits = state == 'D' || state == 'S' ? waits + 1 : 0;
        if (waits == WAITS_FOR_MS) {
            trial->parent_sleeps = state == 'D';
            return;
        }
        (void)nanosleep(&a_while, NULL);
    }
}

/* Handler of SIGSEGV in the trial. */
static void note_writer(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *page = (const char *)raised, *at = info->si_addr;
    if (at < page || at >= page + sysconf(_SC_PAGESIZE) ||
        !set_number_protection(PROT_READ | PROT_WRITE)) {
        signal(signal_number, SIG_DFL); /* the student's mistake: it happens again, and ends it */
        return;
    }
    trial->writer = (pid_t)syscall(SYS_gettid);
    trial->group = (pid_t)syscall(SYS_getpid);
    if (trial->writer != trial->parent)
        await_parent();
}

static void begin_trial(void)
{
    struct sigaction noting = {.sa_sigaction = note_writer, .sa_flags = SA_SIGINFO};
    if (sigemptyset(&noting.sa_mask) != 0 || sigaction(SIGSEGV, &noting, NULL) != 0)
        stop(STATUS_FAILED, "sigaction: %s", strerror(errno));
    trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    if (trial == MAP_FAILED)
        stop(STATUS_IMPOSSIBLE, "memory for all tasks: %s", strerror(errno));
    trial->parent = (pid_t)syscall(SYS_gettid);
    number = 0;
    if (!set_number_protection(PROT_READ))
        stop(STATUS_FAILED, "mprotect: %s", strerror(errno));
}

static void parent_came_back(void)
{
    trial->parent_is_back = 1;
}

/* Print what the trial has shown. `task` is what own_task returned, and has ended. */
static void end_trial(pid_t task)
{
    if (!set_number_protection(PROT_READ | PROT_WRITE) || signal(SIGSEGV, SIG_DFL) == SIG_ERR)
        stop(STATUS_FAILED, "the trial could not be ended: %s", strerror(errno));
    const int by_task = trial->writer == task;
    printf("# variant.own.tried: 1\n# variant.own.raised_by_task: %d\n", by_task);
    printf("# variant.own.raised_by_parent: %d\n", trial->writer == trial->parent);
    printf("# variant.own.raised_by_nobody: %d\n", trial->writer == 0);
    printf("# variant.own.shares_memory: %d\n", by_task && number != 0);
    printf("# variant.own.shares_thread_group: %d\n", by_task && trial->group == getpid());
    printf("# variant.own.parent_slept: %d\n", trial->parent_sleeps);
}

#else

static void begin_trial(void)
{
}
static void parent_came_back(void)
{
}
static void end_trial(pid_t task)
{
    (void)task;
}

#endif

#endif
