/*
 * Wrong on purpose: the parent waits for no child, so each child ends during some later sample.
 * Repaired: task_creation --variant fork-wait
 *
 * If a parent ignores SIGCHLD, the OS kernel removes its children. Then the wait seems needless,
 * and a process looks cheaper than it is.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "../harness.h"

static void ignore_children(struct run *run)
{
    (void)run;
    if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
        stop(STATUS_FAILED, "signal: %s", strerror(errno));
}

static uint64_t make_processes(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch && !failed; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        failed |= child < 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "fork-wait",
                                           .about = "fork, and no wait",
                                           .interval = make_processes,
                                           .prepare = ignore_children,
                                           .creates = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
