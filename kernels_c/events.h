/*
 * Count an event of the processor or of the OS in each sample: perf_event_open(2).
 *
 * -DTICKLAB_COUNT_EVENTS builds a C kernel whose readings read the count of one event (--count)
 * instead of a clock. So exactly the timed region is counted, and not what a sample prepares before
 * it. Such a process measures no time: a reading is a system call, which would disturb it. The
 * processes that are timed are built without this, and nothing is counted in them.
 *
 * One event at a time needs only one hardware counter, so the OS need not share it among several
 * events (perf calls this multiplexing). Part of the two system calls is counted too. It adds the
 * same to every sample, so it is in the intercept of the line through the counts, and the slope is
 * the count of one operation.
 *
 * Tasks that this one starts later are counted with it.
 */
#ifndef TICKLAB_EVENTS_H
#define TICKLAB_EVENTS_H

#include "options.h"

#if defined(__linux__) && __has_include(<linux/perf_event.h>)
#    define HAVE_EVENTS 1
#    include <linux/perf_event.h>
#    include <sys/syscall.h>
#    include <unistd.h>

/* An event that a program cannot cause in user mode is not counted there. */
struct countable {
    const char *name; /* as perf calls it */
    uint32_t type;
    uint64_t config;
    int only_in_os;
};

#    define CACHE_MISSES(cache)                                                                    \
        (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |                          \
         PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct countable countables[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(L1D), 0},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE_MISSES(DTLB), 0},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1},
};

/* What the OS has counted, and for how long it was asked to count, and did (in ns). */
struct countable_count {
    uint64_t value, asked_ns, counted_ns;
};

static int countable_file;

/* Whether events in the OS are left out, because the OS refuses to count them for this user. */
static int only_user_mode;

static const struct countable *countable_named(const char *name)
{
    for (size_t i = 0; i < sizeof countables / sizeof countables[0]; i++)
        if (strcmp(countables[i].name, name) == 0)
            return &countables[i];
    stop(STATUS_USAGE, "--count %s: no such event; kernels_c/events.h lists them", name);
}

static long try_countable(const struct countable *event, int user_mode)
{
    struct perf_event_attr wanted = {.type = event->type,
                                     .size = sizeof wanted,
                                     .config = event->config,
                                     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                    PERF_FORMAT_TOTAL_TIME_RUNNING,
                                     .inherit = 1,
                                     .exclude_kernel = user_mode != 0,
                                     .exclude_hv = 1};
    return syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What the administrator allows; 99 if that cannot be read, as in some containers. */
static long perf_event_paranoid(void)
{
    long level = 99;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (file == NULL)
        return level;
    if (fscanf(file, "%ld", &level) != 1)
        level = 99;
    return fclose(file) == 0 ? level : 99;
}

__attribute__((noreturn)) static void stop_without_countable(const struct countable *event, int why)
{
    const char *name = event->name;
    if (why == ENOENT || why == EOPNOTSUPP || why == ENODEV)
        stop(STATUS_IMPOSSIBLE,
             "%s: this processor does not offer the count, or the virtual machine hides it (%s)",
             name, strerror(why));
    if (why == ENOSYS)
        stop(STATUS_IMPOSSIBLE, "%s: this OS kernel was built without counts of events", name);
    const long level = perf_event_paranoid();
    if ((why == EACCES || why == EPERM) && level != 99)
        stop(STATUS_IMPOSSIBLE,
             "%s: the OS refuses to count for this user (%s); "
             "/proc/sys/kernel/perf_event_paranoid is %ld, and a filter of system calls may refuse "
             "too",
             name, strerror(why), level);
    stop(STATUS_IMPOSSIBLE, "%s: the OS refuses to count (%s)", name, strerror(why));
}

/* Begin to count. If the OS refuses to count what it does itself, only what
 * happens in user mode is counted. */
static void open_countable(const char *name)
{
    const struct countable *event = countable_named(name);
    long file = try_countable(event, 0);
    if (file < 0 && (errno == EACCES || errno == EPERM) && !event->only_in_os) {
        only_user_mode = 1;
        file = try_countable(event, 1);
    }
    if (file < 0)
        stop_without_countable(event, errno);
    countable_file = (int)file;
}

static struct countable_count countable_until_now(void)
{
    struct countable_count count;
    if (read(countable_file, &count, sizeof count) != (ssize_t)sizeof count)
        stop(STATUS_FAILED, "the count of an event cannot be read: %s", strerror(errno));
    return count;
}

#else
#    define HAVE_EVENTS 0

struct countable_count {
    uint64_t value, asked_ns, counted_ns;
};

static const int only_user_mode = 0;

static void open_countable(const char *name)
{
    stop(STATUS_IMPOSSIBLE, "%s: this system has no perf_event_open(), which counts events", name);
}

static struct countable_count countable_until_now(void)
{
    return (struct countable_count){0, 0, 0};
}

#endif

/* What happened in this task's regions since the last call of countable_anew(). */
static __thread struct {
    struct countable_count begin; /* of the region that is open */
    uint64_t value, asked_ns, counted_ns;
    int regions, open, odd; /* odd: a reading without its partner */
} countable_sum;

static inline void countable_anew(void)
{
    memset(&countable_sum, 0, sizeof countable_sum);
}

/* Whether every reading had its partner, and the OS counted all the time. */
static inline int countable_whole(void)
{
    return countable_sum.regions > 0 && !countable_sum.open && !countable_sum.odd &&
           countable_sum.asked_ns == countable_sum.counted_ns;
}

static inline uint64_t countable_begin(void)
{
    countable_sum.odd |= countable_sum.open;
    countable_sum.open = 1;
    countable_sum.begin = countable_until_now();
    return countable_sum.begin.value;
}

static inline uint64_t countable_end(void)
{
    const struct countable_count end = countable_until_now(), begin = countable_sum.begin;
    countable_sum.odd |= !countable_sum.open;
    countable_sum.open = 0;
    countable_sum.regions++;
    countable_sum.value += end.value - begin.value;
    countable_sum.asked_ns += end.asked_ns - begin.asked_ns;
    countable_sum.counted_ns += end.counted_ns - begin.counted_ns;
    return end.value;
}
#endif
