/*
 * What does a system call cost?
 *
 * k calls are between two readings of the counter: T(k) = overhead + k * (call + loop). The cost is
 * the slope, minus that of the empty loop, which is measured in the same run. A raw call is a
 * function of ours that holds the trap instruction and nothing else. "libc" calls the library's
 * function, which may do more, or less: a cached answer or a read of the vDSO is no system call at
 * all. Every result is checked; a call that is meant to be refused must be refused.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "trap.h"

/* One sample of a variant: k times `operation`, which must be true. */
#define INTERVAL(name, operation)                                                                  \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(operation);                                                                \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

static int zero = -1;         /* a descriptor of /dev/zero */
static long me, parent;       /* this process and its parent */
static long my_user, no_user; /* this user; one that this process may not become */
static long refusal;          /* the result of trying to become that user */
static struct timespec now;
static struct timeval today;

INTERVAL(loop, 1)
INTERVAL(getppid_libc, getppid() == parent)
INTERVAL(getpid_libc, getpid() == me)
INTERVAL(read0_libc, read(zero, NULL, 0) == 0)
INTERVAL(gettimeofday_vdso, gettimeofday(&today, NULL) == 0)
INTERVAL(monotonic_vdso, clock_gettime(CLOCK_MONOTONIC, &now) == 0)
#if HAVE_TRAP
static long no_such_call; /* the result of a call number that does not exist */

/*
 * Programs make their system calls in a function, and so pay for its return. Some OS kernels
 * overwrite the predictions of returns (a defence against Spectre). Then that return can be a tenth
 * of the cost of a cheap call. "getppid-inline" leaves it out, to show what it costs here.
 */
static __attribute__((noinline)) long raw_call(long number, long a, long b)
{
    return trap(number, a, b, 0);
}

INTERVAL(getppid_inline, trap(SYS_getppid, 0, 0, 0) == parent)
INTERVAL(getppid_raw, raw_call(SYS_getppid, 0, 0) == parent)
INTERVAL(getpid_raw, raw_call(SYS_getpid, 0, 0) == me)
INTERVAL(read0_raw, raw_call(SYS_read, zero, 0) == 0)
INTERVAL(setuid_own, raw_call(SYS_setuid, my_user, 0) == 0)
INTERVAL(setuid_refused, raw_call(SYS_setuid, no_user, 0) == refusal)
INTERVAL(gettimeofday_trap, raw_call(SYS_gettimeofday, (long)&today, 0) == 0)
INTERVAL(monotonic_trap, raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now) == 0)
INTERVAL(invalid, raw_call(100000, 0, 0) == no_such_call)
#    define RAW(function) .interval = function, .system_calls = 1, .traps = 1
#else
#    define RAW(function) .missing = "calls by the trap instruction are written for Linux only"
#endif

static void prepare_calls(struct run *run)
{
    (void)run;
    me = getpid();
    parent = getppid();
    my_user = (long)getuid();
    /* Root may become any user. Only a number that is no user id is refused. */
    no_user = my_user == 0 ? -1 : 0;
    refusal = my_user == 0 ? -EINVAL : -EPERM;
    if (zero < 0 && (zero = open("/dev/zero", O_RDONLY | O_CLOEXEC)) < 0)
        stop(STATUS_IMPOSSIBLE, "/dev/zero cannot be opened: %s", strerror(errno));
#if HAVE_TRAP
    /* ENOSYS; many filters of system calls (seccomp) return EPERM instead. */
    if ((no_such_call = trap(100000, 0, 0, 0)) >= 0)
        stop(STATUS_IMPOSSIBLE, "the call number 100000 exists here");
#endif
}

#define NET_OF_LOOP .baseline = "loop", .prepare = prepare_calls

static const struct variant variants[] = {
    {.name = "getppid", .about = "getppid by the trap instruction", RAW(getppid_raw), NET_OF_LOOP},
    {.name = "loop", .about = "the empty loop", .interval = loop},
    {.name = "getppid-libc",
     .about = "getppid()",
     .interval = getppid_libc,
     .system_calls = 1,
     NET_OF_LOOP},
    {.name = "getppid-inline",
     .about = "getppid by the trap instruction in the loop itself: no function, no return",
     RAW(getppid_inline),
     NET_OF_LOOP},
    {.name = "getpid", .about = "getpid by the trap instruction", RAW(getpid_raw), NET_OF_LOOP},
    {.name = "getpid-libc",
     .about = "getpid()",
     .interval = getpid_libc,
     .system_calls = 1,
     NET_OF_LOOP},
    {.name = "read0",
     .about = "read of 0 bytes by the trap instruction",
     RAW(read0_raw),
     NET_OF_LOOP},
    {.name = "read0-libc",
     .about = "read(fd, NULL, 0)",
     .interval = read0_libc,
     .system_calls = 1,
     NET_OF_LOOP},
    {.name = "setuid", .about = "setuid to one's own id", RAW(setuid_own), NET_OF_LOOP},
    {.name = "setuid-refused",
     .about = "setuid to an id that is refused",
     RAW(setuid_refused),
     NET_OF_LOOP},
    {.name = "gettimeofday-vdso",
     .about = "gettimeofday(), by the vDSO: no system call",
     .interval = gettimeofday_vdso,
     NET_OF_LOOP},
    {.name = "gettimeofday-trap",
     .about = "gettimeofday by the trap instruction",
     RAW(gettimeofday_trap),
     NET_OF_LOOP},
    {.name = "monotonic-vdso",
     .about = "clock_gettime(CLOCK_MONOTONIC), by the vDSO: no system call",
     .interval = monotonic_vdso,
     NET_OF_LOOP},
    {.name = "monotonic-trap",
     .about = "clock_gettime(CLOCK_MONOTONIC) by the trap instruction",
     RAW(monotonic_trap),
     NET_OF_LOOP},
    {.name = "invalid",
     .about = "a call number that does not exist: the floor of every trap",
     RAW(invalid),
     NET_OF_LOOP},
};

/*
 * Samples of 20 us were so often interrupted on a host that interrupts every 70 us that half of the
 * runs gave no figure. The empty loop by itself needs samples of 64 operations or more: in shorter
 * ones the processor predicts where it ends.
 */
static const long batches[] = {16, 32, 64, 128};

MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
