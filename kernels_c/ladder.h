/*
 * Walks through memory, in which each load gives the address of the next one.
 *
 * A ladder is a set of nodes, one every `stride` bytes. Each node holds the address of the next
 * one, and its own number in the order of the walk. The order is one cycle through all nodes. It is
 * followed once, node by node, before the first sample. The number of the node at which a sample
 * ends shows how many hops it made.
 *
 * What the OS gave for the set is counted after the last sample: pages that were never written are
 * not resident, and huge pages are given or not, whatever was asked for.
 */
#ifndef TICKLAB_LADDER_H
#define TICKLAB_LADDER_H

#include <stddef.h>

#include "memory.h"

enum order { IN_RANDOM_ORDER, IN_ORDER_OF_ADDRESSES };
enum pages { SMALL_PAGES, HUGE_PAGES };

enum { HUGE_PAGE = 2 << 20, CURSORS = 16 };

struct node {
    struct node *next;
    uint64_t number;
};

struct ladder {
    const char *name;
    size_t bytes, stride;
    enum order order;
    enum pages pages;
    unsigned char *set;
    const struct node *at;              /* where the last sample ended */
    const struct node *cursor[CURSORS]; /* places at equal distances along the cycle */
    size_t walked;                      /* the nodes that it leads to */
    size_t cycle;       /* the nodes of the cycle in which it ends: all, if the order is right */
    size_t same_hops;   /* the hops that go as far as one shortly before */
    long samples, ends; /* samples, and those that ended at the node where the order leads */
};

/* The ladder of the last sample: its lines are where its samples leave them. */
static const struct ladder *last_walked;

/* Of more memory, most does not fit into a cache. */
enum { LARGEST_HELD = 32 << 20 };

/* Hops before each sample: they bring back what the core needs besides. A prefetcher needs more of
 * them before it runs ahead as it does in a long walk: after 64 hops in the order of addresses, a
 * load from 128 MB cost 4 to 9 ns, by the batch size, and 2.3 ns after 512 or more. */
enum { A_FEW = 64, FOR_A_PREFETCHER = 1024 };

/* Whether a cache may hold what the walk meets before it comes round. */
TICKLAB_INLINE int is_held(const struct ladder *ladder)
{
    return ladder->cycle * ladder->stride <= LARGEST_HELD;
}

TICKLAB_INLINE size_t nodes_of(const struct ladder *ladder)
{
    return ladder->bytes / ladder->stride;
}

TICKLAB_INLINE struct node *node_at(const struct ladder *ladder, size_t place)
{
    return (struct node *)(void *)(ladder->set + place * ladder->stride);
}

/* Go `hops` nodes further. No load can begin before the one before it has ended. */
TICKLAB_INLINE const struct node *follow(const struct node *node, long hops)
{
    for (register long left = hops; left > 0; left--) {
        __asm__ volatile("" : "+r"(left));
        node = node->next;
    }
    __asm__ volatile("" : : "r"(node));
    return node;
}

/* Walk along the whole cycle.
 *
 * In a large set each cursor walks a part, so that loads overlap: this takes a tenth of the time. The
 * cursors end a little further than each other's beginning, so that the next sample begins at
 * another place. What a cache could not keep then lies behind each cursor, in 16 pieces. In a small
 * set such a piece would be shorter than a sample, so one walk goes all the way. */
static inline void walk_a_lap(struct ladder *ladder)
{
    enum { SMALL = 1 << 20 };
    if (ladder->cycle * ladder->stride <= SMALL) {
        ladder->at = follow(ladder->at, (long)ladder->cycle);
        return;
    }
    const long hops = (long)(ladder->cycle / CURSORS) + A_FEW;
    for (long left = hops; left > 0; left--)
        for (int i = 0; i < CURSORS; i++)
            ladder->cursor[i] = *(struct node *volatile *)&ladder->cursor[i]->next;
    ladder->at = ladder->cursor[0];
}

/*
 * Another ladder's sample has driven some of this set out of the caches, and with it the entries of
 * the page table. The samples of a ladder that is alone meet both where its own loads leave them.
 *
 * A set that a cache may hold is walked through in its own order, so that what comes next was used
 * longest ago. A cache does not always give up such lines first, and one that a long walk went
 * through hardly takes any: a set of about its size takes some laps to settle. In turns with
 * 128 MB, a load from 4 MB cost 15.5 to 16.7 ns after 3 laps, with intervals of 2 to 30 %, and 15.6
 * to 15.8 ns after 12, with 1 to 2.5 %. The hops of a larger set miss the caches at any time, but not the entries:
 * those of 128 MB take 256 KB. One load from each page brings them back.
 */
static inline void bring_back(struct ladder *ladder)
{
    enum { TO_SETTLE = 12, SETTLES = 4 << 20, SMALLEST_PAGE = 4096 };
    const int laps = ladder->cycle * ladder->stride <= SETTLES ? TO_SETTLE : 1;
    if (last_walked != ladder && is_held(ladder))
        for (int lap = 0; lap < laps; lap++)
            walk_a_lap(ladder);
    else if (last_walked != ladder)
        for (size_t byte = 0; byte < ladder->bytes; byte += SMALLEST_PAGE)
            (void)*(volatile unsigned char *)(ladder->set + byte);
    ladder->at =
        follow(ladder->at, ladder->order == IN_ORDER_OF_ADDRESSES ? FOR_A_PREFETCHER : A_FEW);
    last_walked = ladder;
}

/* Address space for the set, with space around it that belongs to nobody: the OS lists the set by
 * itself in /proc/self/smaps. A huge page begins at a multiple of its size. */
static unsigned char *reserved_for(const struct ladder *ladder)
{
    const size_t around = HUGE_PAGE;
    must_be_free(ladder->bytes);
    unsigned char *space =
        mmap(NULL, ladder->bytes + 3 * around, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (space == MAP_FAILED)
        stop(STATUS_IMPOSSIBLE, "%s: %zu kB of memory: %s", ladder->name, ladder->bytes >> 10,
             strerror(errno));
    unsigned char *set = space + around;
    set += (around - (uintptr_t)set % around) % around;
    if (mprotect(set, ladder->bytes, PROT_READ | PROT_WRITE) != 0)
        stop(STATUS_FAILED, "%s: mprotect: %s", ladder->name, strerror(errno));
    return set;
}

/* Ask for pages of the size that the ladder is about. */
static void choose_pages(const struct ladder *ladder)
{
#if defined(MADV_HUGEPAGE)
    const int advice = ladder->pages == HUGE_PAGES ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    /* An OS kernel without huge pages refuses both, and then the pages are small. */
    if (madvise(ladder->set, ladder->bytes, advice) != 0 && errno != EINVAL)
        stop(STATUS_IMPOSSIBLE, "%s: madvise: %s", ladder->name, strerror(errno));
#else
    (void)ladder;
#endif
}

/* The number of kB that the OS states after `key` for the memory that begins at `set`; -1 if it
 * states none. */
static inline long stated_kb(const unsigned char *set, const char *key)
{
    char line[512];
    unsigned long begin, end;
    long found = -1;
    int inside = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    if (file == NULL)
        return -1;
    while (found < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            inside = begin == (uintptr_t)set;
        else if (inside && strncmp(line, key, strlen(key)) == 0 &&
                 sscanf(line + strlen(key), "%ld", &found) != 1)
            found = -1;
    if (fclose(file) != 0)
        return -1;
    return found;
}

/* Let each node lead to another one, in a cycle through all of them: Sattolo, "An algorithm to
 * generate a random cyclic permutation", Information Processing Letters 22 (1986). */
static inline void link_at_random(const struct ladder *ladder, uint64_t *random)
{
    const size_t count = nodes_of(ladder);
    for (size_t place = 0; place < count; place++)
        node_at(ladder, place)->next = node_at(ladder, place);
    for (size_t place = count - 1; place > 0; place--) {
        struct node *one = node_at(ladder, place);
        struct node *other = node_at(ladder, (next_random(random) >> 32) * place >> 32);
        struct node *swap = one->next;
        one->next = other->next;
        other->next = swap;
    }
}

static inline void link_in_order(const struct ladder *ladder)
{
    const size_t count = nodes_of(ladder);
    for (size_t place = 0; place < count; place++)
        node_at(ladder, place)->next = node_at(ladder, (place + 1) % count);
}

/* A prefetcher foresees a hop if one of so many hops before it was as long. */
enum { HOPS_BEFORE = 4 };

/* Follow the order from the first node and number the nodes, until it leads to one that has a number
 * already. Count the hops that a prefetcher foresees. */
static inline void number_nodes(struct ladder *ladder)
{
    for (size_t place = 0; place < nodes_of(ladder); place++)
        node_at(ladder, place)->number = UINT64_MAX;
    struct node *node = node_at(ladder, 0);
    ptrdiff_t before[HOPS_BEFORE] = {0};
    ladder->walked = ladder->same_hops = 0;
    while (node->number == UINT64_MAX) {
        const ptrdiff_t distance = (const char *)node->next - (const char *)node;
        int seen = 0;
        for (int i = 0; i < HOPS_BEFORE; i++)
            seen |= before[i] == distance;
        before[ladder->walked % HOPS_BEFORE] = distance;
        ladder->same_hops += (size_t)seen;
        node->number = ladder->walked++;
        node = node->next;
    }
    ladder->cycle = ladder->walked - node->number;
    const struct node *place = node;
    for (int i = 0; i < CURSORS && is_held(ladder); i++)
        ladder->cursor[i] = place = follow(place, (long)(ladder->cycle / CURSORS));
}

static void reserve_ladder(struct ladder *ladder)
{
    ladder->set = reserved_for(ladder);
    choose_pages(ladder);
    ladder->at = node_at(ladder, 0);
}

static inline void prepare_ladder(struct run *run, struct ladder *ladder)
{
    reserve_ladder(ladder);
    touch(ladder->set, ladder->bytes);
    if (ladder->order == IN_RANDOM_ORDER)
        link_at_random(ladder, &run->random);
    else
        link_in_order(ladder);
    number_nodes(ladder);
    if (ladder->cycle != nodes_of(ladder))
        stop(STATUS_FAILED, "%s: the order is no cycle through all nodes", ladder->name);
    const long huge_kb = stated_kb(ladder->set, "AnonHugePages:");
    if (ladder->pages == HUGE_PAGES && huge_kb < (long)(ladder->bytes >> 10))
        stop(STATUS_IMPOSSIBLE,
             "%s: not on this machine now: the OS gave %ld of %zu kB in huge pages", ladder->name,
             huge_kb > 0 ? huge_kb : 0, ladder->bytes >> 10);
}

/* Whether a sample that began at ladder->at and made `hops` hops must end at this node. */
TICKLAB_INLINE int leads_to(const struct ladder *ladder, const struct node *end, long hops)
{
    const uint64_t before = ladder->walked - ladder->cycle; /* the nodes that lead into the cycle */
    const uint64_t number = ladder->at->number + (uint64_t)hops;
    return end->number ==
           (number < ladder->walked ? number : before + (number - before) % ladder->cycle);
}

/* Count the samples that ended where the order leads, and go on from there. */
TICKLAB_INLINE void note_end(struct ladder *ladder, const struct node *end, long hops)
{
    ladder->samples++;
    ladder->ends += leads_to(ladder, end, hops);
    ladder->at = end;
}

/* Why there can be no huge pages here; NULL if there can. */
static inline const char *no_huge_pages(void)
{
    char modes[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file == NULL)
        return "this system gives no huge pages on request";
    const int read = fgets(modes, sizeof modes, file) != NULL;
    if (fclose(file) != 0 || !read || strstr(modes, "[never]") != NULL)
        return "transparent huge pages are switched off here";
    return NULL;
}

static inline void print_count(const char *variant, const char *key, long count)
{
    if (count >= 0)
        printf("# variant.%s.%s: %ld\n", variant, key, count);
}

/* What the OS gave for the set. */
static inline void print_set(const char *variant, const struct ladder *ladder)
{
    print_count(variant, "set_kb", (long)(ladder->bytes >> 10));
    print_count(variant, "resident_kb", stated_kb(ladder->set, "Rss:"));
    print_count(variant, "huge_kb", stated_kb(ladder->set, "AnonHugePages:"));
}

/* What the OS gave for the set, the order that was walked, and where the samples ended. */
static inline void print_ladder(const char *variant, const struct ladder *ladder)
{
    print_set(variant, ladder);
    print_count(variant, "set_nodes", (long)nodes_of(ladder));
    print_count(variant, "nodes_walked", (long)ladder->cycle);
    print_count(variant, "same_hops", (long)ladder->same_hops);
    print_count(variant, "samples_walked", ladder->samples);
    print_count(variant, "ends_right", ladder->ends);
}

/* interval_NAME, prepare_NAME and watch_NAME of one ladder; `timed` takes a sample of it. */
#define LADDER(id, called, of_bytes, of_stride, of_order, of_pages, timed)                         \
    static struct ladder id = {.name = called,                                                     \
                               .bytes = of_bytes,                                                  \
                               .stride = of_stride,                                                \
                               .order = of_order,                                                  \
                               .pages = of_pages};                                                 \
    static uint64_t interval_##id(long batch)                                                      \
    {                                                                                              \
        return timed(&id, batch);                                                                  \
    }                                                                                              \
    static void prepare_##id(struct run *run)                                                      \
    {                                                                                              \
        prepare_ladder(run, &id);                                                                  \
    }                                                                                              \
    static void watch_##id(const char *variant)                                                    \
    {                                                                                              \
        print_ladder(variant, &id);                                                                \
    }

#endif
