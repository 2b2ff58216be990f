/*
 * Wrong on purpose: clone without CLONE_VM makes a process with memory of its own, not a thread.
 * Repaired: task_creation --variant pthread-wait
 *
 * Report A gave clone no flags at all. As a stack it gave the lower end of a block of 1 KB, but a
 * stack grows down from its upper end. Here the stack is right, and the flags are still missing.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>

#include "../harness.h"

static _Alignas(64) unsigned char stack[64 << 10];

static int thread_ends(void *nothing)
{
    (void)nothing;
    return 0;
}

static uint64_t make_thread(long batch)
{
    uint64_t failed = 0;
    int status = -1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch && !failed; i++) {
        const pid_t thread = clone(thread_ends, stack + sizeof stack, SIGCHLD, NULL);
        failed |= thread < 0 || waitpid(thread, &status, 0) != thread || status != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "pthread-wait",
                                           .about = "clone without flags, called a thread",
                                           .interval = make_thread,
                                           .creates = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
