/*
 * Wrong on purpose: each child ends by exit(), and so it writes what its parent has buffered.
 * Repaired: task_creation --variant fork-wait
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../harness.h"

static void open_log(struct run *run)
{
    (void)run;
    FILE *const log = fopen("/dev/null", "w"); /* a log file takes longer */
    if (log == NULL || fprintf(log, "the parent waits for its children\n") < 0)
        stop(STATUS_FAILED, "/dev/null: %s", strerror(errno));
}

static uint64_t make_processes(long batch)
{
    uint64_t failed = 0;
    int status = -1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch && !failed; i++) {
        const pid_t child = fork();
        if (child == 0)
            exit(0);
        failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "fork-wait",
                                           .about = "fork to wait, the child ends by exit()",
                                           .interval = make_processes,
                                           .prepare = open_log,
                                           .creates = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
