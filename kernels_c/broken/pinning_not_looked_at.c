/*
 * Wrong on purpose: the OS refuses to pin, and nobody checks what the call returned.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5 --cpu 0
 * Run with: --samples 1000 --processes 5
 *
 * CPUs count from 0, so the number of CPUs is not a CPU. As in report A, the author thinks that the
 * run is pinned, but it runs wherever the OS puts it. The run states which CPU it asked for, and
 * where it was.
 */
#include "../own_pair.h"

static void pin_to_last_cpu(struct run *run)
{
    run->options.cpu = sysconf(_SC_NPROCESSORS_CONF);
#if defined(__linux__)
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    CPU_SET((size_t)run->options.cpu, &wanted);
    sched_setaffinity(0, sizeof wanted, &wanted); /* refused: EINVAL */
#endif
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, fenced",
                                           .interval = interval,
                                           .prepare = pin_to_last_cpu,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
