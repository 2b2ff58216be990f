/*
 * Wrong on purpose: each child binds itself to a CPU while the clock runs.
 * Repaired: task_creation --variant fork-wait
 *
 * Report A called sched_setaffinity after each fork and never checked its result. A child inherits
 * the place of its parent, so one call before the first reading is enough.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>

#include "../harness.h"

static uint64_t make_processes(long batch)
{
    uint64_t failed = 0;
    int status = -1;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu_now() < 0 ? 0 : cpu_now(), &here);
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch && !failed; i++) {
        const pid_t child = fork();
        if (child == 0) {
            sched_setaffinity(0, sizeof here, &here);
            _exit(0);
        }
        failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "fork-wait",
                                           .about = "fork to wait, the child pinned",
                                           .interval = make_processes,
                                           .creates = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
