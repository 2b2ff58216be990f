/*
 * Wrong on purpose: the second reading comes before the wait, so the life of the child is left out.
 * Repaired: task_creation --variant fork-wait
 *
 * fork returns to the parent before the child has run. The pages that the child copies, its end and
 * the wait for it all come later.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../harness.h"

static uint64_t make_processes(long batch)
{
    uint64_t failed = 0, total = 0;
    int status = -1;
    for (long i = 0; i < batch && !failed; i++) {
        /* measured region begins */
        const uint64_t begin = counter_begin();
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        const uint64_t end = counter_end();
        /* measured region ends */
        failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
        total += end - begin;
    }
    failed_calls |= failed;
    return total;
}

static const struct variant variants[] = {{.name = "fork-wait",
                                           .about = "fork; the wait is not timed",
                                           .interval = make_processes,
                                           .creates = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
