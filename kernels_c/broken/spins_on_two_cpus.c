/*
 * Wrong on purpose: each thread has its own CPU and polls for its turn before it uses a futex.
 * Repaired: thread_switch --variant condvar --samples 600 --processes 5
 * Run with: --samples 400 --warmup 20 --processes 4
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include "../other_thread.h"

static atomic_int turn; /* 0: of this thread, 1: of the other */

/* Most locks poll for a while before they make the system call that sleeps. */
static void await_turn(int own)
{
    while (turn != own && !over)
        ;
}

static void *other_side(void *unused)
{
    while (!over) {
        await_turn(1);
        turn = 0;
    }
    return unused;
}

static uint64_t exchanges(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) {
        turn = 1;
        await_turn(0);
        failed |= over != 0;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static void start(struct run *run)
{
    start_thread(other_side, first_place(run), second_place(run));
}

static const struct variant variants[] = {{.name = "condvar",
                                           .about = "two threads take turns",
                                           .interval = exchanges,
                                           .prepare = start,
                                           .finish = end_thread,
                                           .cannot = no_second_cpu,
                                           .parts = 2,
                                           .switches = 2,
                                           TWO_ON_TWO_CPUS}};
static const long batches[] = {16, 32, 64, 128};
MEASURE(.name = "thread_switch", .about = "what a thread switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
