/*
 * What does a page fault cost?
 *
 * A sample touches k pages, one byte of each, and each touch makes one page fault. The baseline is
 * the same touches of pages that are there, so the slope is the cost of one page fault. Each sample
 * has a new mapping, made outside the timed region. All pages have the smallest size. The OS counts
 * the page faults, and the run fails if they are not one for each touch, or if a variant that
 * writes left a page without memory of its own. One page fault also maps neighbours of a file's
 * page, so "file" touches pages that lie too far apart for that.
 *
 * "populate" does not touch. It makes the mapping with MAP_POPULATE in the timed region: the OS
 * kernel brings all k pages in one system call. "prefaulted" times the touches after such a call.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sys/prctl.h>
#endif

#include "faults.h"

#define INTERVAL(name, get_ready, expected, operation, afterwards)                                 \
    static struct faults faults_##name;                                                            \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        get_ready;                                                                                 \
        volatile unsigned char *const pages = region;                                              \
        const long before = faults_before();                                                       \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            operation;                                                                             \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        note_faults(&faults_##name, batch, faults_now() - before, expected);                       \
        afterwards;                                                                                \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }                                                                                              \
    static void watch_##name(const char *variant)                                                  \
    {                                                                                              \
        print_faults(variant, &faults_##name);                                                     \
        faults_must_agree(variant, &faults_##name);                                                \
    }

/* The most pages between two touches of "file"; today's Linux maps 16 pages with one page fault. */
enum { MOST_APART = 32 };

static size_t page_size, region_bytes;
static unsigned char *region; /* address space for the mapping of one sample */

/* What failed may have been refused by a filter of system calls: then this machine cannot do it. */
static int where_refused(void)
{
    return is_filtered() ? STATUS_IMPOSSIBLE : STATUS_FAILED;
}

/* Put a new mapping into the region; what was there is gone. */
static void map_anew(int protection, int flags, int from)
{
    if (mmap(region, region_bytes, protection, flags | MAP_FIXED, from, 0) != region)
        stop(where_refused(), "mmap: %s", strerror(errno));
#if defined(MADV_NOHUGEPAGE)
    if (from < 0 && madvise(region, region_bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
        stop(where_refused(), "pages of the smallest size: madvise: %s", strerror(errno));
#endif
}

static void map_memory(void)
{
    map_anew(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1);
}

static void map_and_write(long batch)
{
    map_memory();
    for (long i = 0; i < batch; i++)
        region[(size_t)i * page_size] = 1;
}

/* A child process shares all pages of this one until one of the two writes. It is stopped until it
 * is killed: it must neither run in the timed region nor end before it. */
static pid_t sharer;

/* Let it end on the CPU of this process, which then gets the child's pages back. From another CPU
 * they come back late, and meanwhile this one copies into pages that its caches do not hold: on the
 * machine where this was tried, such a copy cost 2.8 us and not 1.5. Without pinning, the OS chooses. */
static int ends_on_this_cpu(pid_t child)
{
#if HAVE_PINNING
    cpu_set_t here;
    const int cpu = sched_getcpu();
    if (why_no_pinning() != NULL)
        return 1;
    if (cpu < 0)
        return 0;
    CPU_ZERO(&here);
    CPU_SET((size_t)cpu, &here);
    return sched_setaffinity(child, sizeof here, &here) == 0;
#else
    (void)child;
    return 1;
#endif
}

/* Where nobody would end it any more, the child ends at once. */
static int ends_with(pid_t parent)
{
#if defined(__linux__)
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
#else
    return getppid() == parent;
#endif
}

static void share_pages(long batch)
{
    int status = 0;
    const pid_t parent = getpid();
    map_and_write(batch);
    sharer = fork();
    if (sharer == 0) {
        if (ends_with(parent))
            (void)raise(SIGSTOP);
        _exit(1);
    }
    if (sharer < 0 || waitpid(sharer, &status, WUNTRACED) != sharer || !WIFSTOPPED(status))
        stop(where_refused(), "no child process shares the pages, so that none can be copied");
}

/* Whether the child has been there until now. Without it nothing is shared, and nothing copied. */
static int end_sharer(void)
{
    int status = 0;
    return ends_on_this_cpu(sharer) && kill(sharer, SIGKILL) == 0 &&
           waitpid(sharer, &status, 0) == sharer && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

/* The later writes to the same pages must make so many page faults. */
#define LATER(name, expected) write_again(&faults_##name, pages, batch, page_size, expected)
#define WRITE                 pages[(size_t)(left - 1) * page_size] = 1
#define READ                  (void)pages[(size_t)(left - 1) * page_size]

INTERVAL(anonymous, map_memory(), batch, WRITE, LATER(anonymous, 0))
INTERVAL(zero_page, map_memory(), batch, READ, LATER(zero_page, batch))
INTERVAL(touched, map_and_write(batch), 0, WRITE, LATER(touched, 0))
INTERVAL(copied, share_pages(batch), batch, WRITE, failed |= !end_sharer())

#if defined(MAP_POPULATE)
#    define POPULATED(bytes)                                                                       \
        mmap(region, bytes, PROT_READ | PROT_WRITE,                                                \
             MAP_PRIVATE | MAP_ANON | MAP_FIXED | MAP_POPULATE, -1, 0)

static void map_populated(long batch)
{
    if (POPULATED((size_t)batch * page_size) != region)
        stop(where_refused(), "mmap: %s", strerror(errno));
}

INTERVAL(prefaulted, map_populated(batch), 0, WRITE, LATER(prefaulted, 0))

/* One call brings all pages of the sample. Nothing is at these addresses before. */
static struct faults faults_populate;
static uint64_t populate(long batch)
{
    const size_t bytes = (size_t)batch * page_size;
    map_anew(PROT_NONE, MAP_PRIVATE | MAP_ANON, -1);
    const long before = faults_before();
    /* measured region begins */
    const uint64_t begin = counter_begin();
    void *const at = batch > 0 ? POPULATED(bytes) : region;
    const uint64_t end = counter_end();
    /* measured region ends */
    note_faults(&faults_populate, batch, faults_now() - before, ANY_NUMBER);
    failed_calls |= at != region;
    if (at == region)
        write_again(&faults_populate, region, batch, page_size, 0);
    return end - begin;
}

static void watch_populate(const char *variant)
{
    print_faults(variant, &faults_populate);
    faults_must_agree(variant, &faults_populate);
}
/* Some emulators take the flag and bring nothing. */
static const char *cannot_populate(void)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    volatile unsigned char *const page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_POPULATE, -1, 0);
    if (faults_not_counted() != NULL || page == MAP_FAILED)
        return "this OS does not count page faults, or refuses MAP_POPULATE";
    const long before = faults_before();
    page[0] = 1;
    return faults_now() == before ? NULL : "MAP_POPULATE brings no pages here";
}

#    define BY_POPULATE(function)                                                                  \
        .interval = function, .prepare = prepare_region, .watch = watch_##function, .memory = 1,   \
        .cannot = cannot_populate
#else
#    define BY_POPULATE(function) .missing = "this system has no MAP_POPULATE"
#endif

static void prepare_region(struct run *run)
{
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    if (region != NULL)
        return;
    region_bytes = (size_t)(largest_batch(run) + 1) * MOST_APART * page_size;
    region = untouched_pages(region_bytes);
#if defined(PR_SET_THP_DISABLE)
    /* MAP_POPULATE fills a mapping before anything can be said about the size of its pages. */
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0 && errno != EINVAL)
        stop(STATUS_IMPOSSIBLE, "pages of the smallest size: prctl: %s", strerror(errno));
#endif
}

#if defined(MFD_CLOEXEC)
static int file = -1;
static size_t stride; /* bytes between two touches of the file */

/* The mapping of a file never writes, so it can be shared: no page is copied. */
static void map_file(void)
{
    map_anew(PROT_READ, MAP_SHARED, file);
}

static void map_and_read(long batch)
{
    map_file();
    for (long i = 0; i < batch; i++)
        (void)((volatile unsigned char *)region)[(size_t)i * stride];
}

#    define READ_APART (void)pages[(size_t)(left - 1) * stride]

INTERVAL(file_apart, map_file(), batch, READ_APART, (void)0)
INTERVAL(file_touched, map_and_read(batch), 0, READ_APART, (void)0)

/* A file that is only in memory, each page of it written: reading it never waits for a disk. */
static void make_file(size_t bytes)
{
    static const unsigned char nothing[1 << 12];
    file = memfd_create("page_fault", MFD_CLOEXEC);
    if (file < 0)
        stop(STATUS_IMPOSSIBLE, "a file in memory: %s", strerror(errno));
    for (size_t at = 0; at < bytes; at += sizeof nothing)
        if (pwrite(file, nothing, sizeof nothing, (off_t)at) != sizeof nothing)
            stop(STATUS_IMPOSSIBLE, "a file of %zu MB in memory: %s", bytes >> 20, strerror(errno));
}

/* Find the distance from which on each touch makes a page fault of its own: try 1 page, 2, 4. */
static void find_stride(void)
{
    enum { TOUCHES = 8 };
    for (size_t apart = 1; apart <= MOST_APART; apart *= 2) {
        stride = apart * page_size;
        map_file();
        const long before = faults_before();
        for (size_t i = 0; i < TOUCHES; i++)
            (void)((volatile unsigned char *)region)[i * stride];
        if (faults_now() - before == TOUCHES)
            return;
    }
    stop(STATUS_IMPOSSIBLE, "one page fault maps pages that are %d pages apart", MOST_APART);
}

static void prepare_file(struct run *run)
{
    prepare_region(run);
    if (file >= 0)
        return;
    make_file(region_bytes);
    find_stride();
}
#    define OF_FILE(function) .interval = function, .prepare = prepare_file, COUNTED(function)
#else
#    define OF_FILE(function) .missing = "this system has no memfd_create"
#endif

#define OF_MEMORY(function) .interval = function, .prepare = prepare_region, COUNTED(function)
#define COUNTED(function)   .cannot = faults_not_counted, .watch = watch_##function, .memory = 1

static const struct variant variants[] = {
    {.name = "anonymous",
     .about = "first write to a page of a new mapping",
     OF_MEMORY(anonymous),
     .baseline = "touched"},
    {.name = "copy-on-write",
     .about = "first write to a page that a child process shares",
     OF_MEMORY(copied),
     .baseline = "touched"},
    {.name = "file",
     .about = "read of a page of a file in memory, far from the page read before",
     OF_FILE(file_apart),
     .baseline = "file-touched"},
    {.name = "zero-page",
     .about = "first read of a page of a new mapping: no memory for it yet",
     OF_MEMORY(zero_page),
     .baseline = "touched"},
    {.name = "populate",
     .about = "a page of a new mapping, brought by MAP_POPULATE",
     BY_POPULATE(populate)},
    {.name = "prefaulted",
     .about = "first write to a page that MAP_POPULATE has brought: no page fault",
     BY_POPULATE(prefaulted)},
    {.name = "touched",
     .about = "the same writes to pages that are there: no page fault",
     OF_MEMORY(touched)},
    {.name = "file-touched",
     .about = "the same reads of a file that is mapped already: no page fault",
     OF_FILE(file_touched)},
};

/* The OS kernel takes free memory for some 20 pages at once, and the page that needs it takes five
 * times as long as others. So each sample holds one or more of these: with 2 to 16 pages, half of the
 * runs on a busy machine gave no line, and the others left most of this cost out. Beyond 128 pages
 * the lines of "populate" and of "anonymous" bent in 10 and in 2 of 14 runs beside a busy loop; with
 * these sizes, in none of 20. */
static const long batches[] = {32, 64, 96, 128};

MEASURE(.name = "page_fault", .about = "what a page fault costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 1000)
