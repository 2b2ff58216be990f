/*
 * Page faults that the OS counts around a timed region, and what they prove.
 *
 * A touch of a page that is not there makes one page fault. If a sample of k touches counts fewer,
 * some pages were there before, or one page fault brought several pages. After the sample, the same
 * pages are written to once more. Page faults then show that the sample only read: a page that was
 * read and never written is the zero page, which all processes share.
 */
#ifndef TICKLAB_FAULTS_H
#define TICKLAB_FAULTS_H

#include "memory.h"

/* Other page faults come now and then: an OS kernel may move pages between memories meanwhile, and
 * an emulator has pages of its own. So one sample in so many may be odd, and two in any run. */
enum { MANY_SAMPLES = 50, ALWAYS_ODD = 2 };
/* And one page fault in so many is not looked at, in a sample that holds as many. */
enum { MANY_FAULTS = 64 };

struct faults {
    double touched;        /* pages that the samples touched */
    long counted;          /* page faults that the OS counted in the timed regions */
    long later;            /* those of later writes to the same pages */
    long samples, odd;     /* an odd count is another one than expected */
    long expected, in_odd; /* of the last odd one: page faults expected, and counted */
};

/* An expected number that is not known. */
enum { ANY_NUMBER = -1 };

/* Not inline: each call then has its struct at the same place of the stack. At another place it might
 * be on a page that a fork has made read-only, and the OS would count a page fault to write there. */
static __attribute__((noinline, unused)) long faults_now(void)
{
    const struct rusage now = usage_of(RUSAGE_SELF);
    return now.ru_minflt + now.ru_majflt;
}

/* Before a sample: the stack may be on a page that a fork has made read-only. The first call writes
 * there, so that the second one counts no page fault of its own. It is the same call, so it returns
 * to the same place: an emulator notes that place on a page of its own, which was shared too. */
TICKLAB_INLINE long faults_before(void)
{
    long before = 0;
    for (int i = 0; i < 2; i++) {
        __asm__ volatile("" : "+r"(i)); /* the loop is not unrolled */
        before = faults_now();
    }
    return before;
}

/* Why page faults prove nothing here; NULL: they do. Some systems offer getrusage and count none. */
TICKLAB_INLINE const char *faults_not_counted(void)
{
    static long counted = ANY_NUMBER;
    if (counted == ANY_NUMBER) {
        const long before = faults_before();
        touch(untouched_pages(1), 1);
        counted = faults_now() - before;
    }
    return counted > 0 ? NULL : "this OS does not count page faults";
}

TICKLAB_INLINE void must_be(struct faults *faults, long counted, long expected)
{
    if (expected == ANY_NUMBER || labs(counted - expected) * MANY_FAULTS <= expected)
        return;
    faults->odd++;
    faults->expected = expected;
    faults->in_odd = counted;
}

TICKLAB_INLINE void note_faults(struct faults *faults, long touched, long counted, long expected)
{
    faults->touched += (double)touched;
    faults->counted += counted;
    faults->samples++;
    must_be(faults, counted, expected);
}

/* Write to the pages of a sample again, `stride` bytes apart, and note the page faults of that. */
TICKLAB_INLINE void write_again(struct faults *faults, volatile unsigned char *pages, long count,
                                size_t stride, long expected)
{
    const long before = faults_before();
    for (long i = 0; i < count; i++)
        pages[(size_t)i * stride] = 1;
    const long counted = faults_now() - before;
    faults->later += counted;
    must_be(faults, counted, expected);
}

TICKLAB_INLINE void print_faults(const char *name, const struct faults *faults)
{
    printf("# variant.%s.touched: %.0f\n# variant.%s.faults: %ld\n", name, faults->touched, name,
           faults->counted);
    printf("# variant.%s.later_faults: %ld\n", name, faults->later);
}

/* Stop the run if its samples did not make the page faults that they claim. */
TICKLAB_INLINE void faults_must_agree(const char *name, const struct faults *faults)
{
    if (faults->odd > ALWAYS_ODD + faults->samples / MANY_SAMPLES)
        stop(
            STATUS_FAILED,
            "%s: in %ld of %ld samples the OS counted other page faults than they claim; in one of "
            "them %ld, not %ld",
            name, faults->odd, faults->samples, faults->in_odd, faults->expected);
}

#endif
