/*
 * Wrong on purpose: CPUID is the fence inside the timed region, and the hypervisor answers it.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * An old white paper uses CPUID as its fence. In a virtual machine every CPUID leaves the guest:
 * 3.5 to 10 µs were seen, compared with 0.02 µs for a pair of readings fenced by LFENCE.
 */
#include "../own_pair.h"

#if defined(__x86_64__)
#    define MISSING NULL
static uint64_t read_serialized(void)
{
    uint32_t low, high;
    __asm__ volatile("xor %%eax, %%eax\n\tcpuid\n\trdtsc"
                     : "=a"(low), "=d"(high)
                     :
                     : "rbx", "rcx", "memory");
    return ((uint64_t)high << 32) | low;
}
#else
#    define MISSING         "CPUID is an instruction of x86"
#    define read_serialized counter_begin
#endif

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = read_serialized();
    ADDITIONS(link, k);
    const uint64_t end = read_serialized();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, by CPUID",
                                           .interval = interval,
                                           .missing = MISSING,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
