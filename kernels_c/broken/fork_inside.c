/*
 * Wrong on purpose: the other process is created and ended inside the timed region.
 * Repaired: process_switch --variant pipe-pinned --samples 600 --processes 5
 * Run with: --samples 120 --warmup 5 --processes 3
 *
 * Report A timed fork, one exchange and exit together, and called half of it a switch.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../pipes.h"
#include "../placement.h"

static int there[2], back[2];

static int pass(int out, int in)
{
    char byte = 0;
    return write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1;
}

static uint64_t exchange_with_a_new_process(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        const pid_t child = fork();
        if (child == 0) { /* reads the byte and sends it back */
            char byte;
            _exit(close(there[1]) != 0 || read(there[0], &byte, 1) != 1 ||
                  write(back[1], &byte, 1) != 1);
        }
        failed |= child < 0 || !pass(there[1], back[0]);
        failed |= waitpid(child, NULL, 0) != child;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static void prepare_pipes(struct run *run)
{
    place(0, first_place(run));
    open_pipe(&there[0], &there[1]);
    open_pipe(&back[0], &back[1]);
}

static const struct variant variants[] = {{.name = "pipe-pinned",
                                           .about = "a new process for each exchange",
                                           .interval = exchange_with_a_new_process,
                                           .prepare = prepare_pipes,
                                           ROUND_TRIP_ON_ONE_CPU}};
static const long batches[] = {1, 2, 4};
MEASURE(.name = "process_switch", .about = "what a process switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
