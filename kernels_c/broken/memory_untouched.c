/*
 * Wrong on purpose: the parent asks for 64 MB and never writes to any page of them.
 * Repaired: task_creation --variant fork-wait-64mb --samples 200 --warmup 5
 *
 * malloc gives only addresses. fork copies the tables of the pages that are there, so it costs as
 * much as without the 64 MB.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../harness.h"

static void *volatile memory;

static void ask_for_memory(struct run *run)
{
    (void)run;
    memory = malloc(64 << 20);
    if (memory == NULL)
        stop(STATUS_IMPOSSIBLE, "malloc: %s", strerror(errno));
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
            _exit(0);
        failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static const struct variant variants[] = {{.name = "fork-wait-64mb",
                                           .about = "fork to wait with 64 MB more",
                                           .interval = make_processes,
                                           .prepare = ask_for_memory,
                                           .creates = 1,
                                           .memory = 1}};
static const long batches[] = {1, 2, 4, 8};
MEASURE(.name = "task_creation", .about = "what it costs to create a task",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
