/*
 * The ladder in the order of lat_mem_rd -t of lmbench: each hop goes to another page, and all pages
 * are visited before one is visited again.
 *
 * Pages are taken in one random order, and lines of a page in another one. From line l of a page, a
 * hop leads to the line after l of the next page. A lap through the pages thus takes another line of
 * each. An order that draws every hop anew meets a page again sooner, so more of its hops find the
 * page's address in the TLB.
 */
#define _GNU_SOURCE
#include "ladder.h"

enum { PAGE = 4096, LINE = 64, LINES = PAGE / LINE };

static void shuffle(size_t *places, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        places[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t other = (next_random(random) >> 32) * (i + 1) >> 32, swap = places[i];
        places[i] = places[other];
        places[other] = swap;
    }
}

static void link_by_pages(const struct ladder *ladder, uint64_t *random)
{
    const size_t count = ladder->bytes / PAGE;
    size_t lines[LINES], *pages = calloc(count, sizeof *pages);
    if (pages == NULL)
        stop(STATUS_IMPOSSIBLE, "no memory for the order of %zu pages", count);
    shuffle(pages, count, random);
    shuffle(lines, LINES, random);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < LINES; j++) {
            const size_t next = i + 1 < count ? i + 1 : 0;
            /* After a lap through all pages, the first page is met at its next line. */
            const size_t from = lines[(i + j) % LINES];
            const size_t to = lines[((next > 0 ? i : 0) + j + 1) % LINES];
            node_at(ladder, pages[i] * LINES + from)->next =
                node_at(ladder, pages[next] * LINES + to);
        }
    free(pages);
}

static void prepare_by_pages(struct run *run, struct ladder *ladder)
{
    reserve_ladder(ladder);
    touch(ladder->set, ladder->bytes);
    link_by_pages(ladder, &run->random);
    number_nodes(ladder);
    if (ladder->cycle != nodes_of(ladder))
        stop(STATUS_FAILED, "%s: the order is no cycle through all nodes", ladder->name);
}

static uint64_t walk(struct ladder *ladder, long batch)
{
    bring_back(ladder);
    const uint64_t begin = counter_begin();
    const struct node *end_node = follow(ladder->at, batch);
    const uint64_t end = counter_end();
    note_end(ladder, end_node, batch);
    return end - begin;
}

#define FOR_EACH_SIZE(what)                                                                        \
    what(16k, 16 << 10) what(128k, 128 << 10) what(384k, 384 << 10) what(3m, 3 << 20)              \
        what(4m, 4 << 20) what(16m, 16 << 20) what(64m, 64 << 20) what(128m, 128 << 20)

#define BY_PAGES(size, of_bytes)                                                                   \
    static struct ladder of_##size = {                                                             \
        .name = "pages-" #size, .bytes = of_bytes, .stride = LINE, .order = IN_RANDOM_ORDER};      \
    static uint64_t interval_##size(long batch)                                                    \
    {                                                                                              \
        return walk(&of_##size, batch);                                                            \
    }                                                                                              \
    static void prepare_##size(struct run *run)                                                    \
    {                                                                                              \
        prepare_by_pages(run, &of_##size);                                                         \
    }                                                                                              \
    static void watch_##size(const char *variant)                                                  \
    {                                                                                              \
        print_ladder(variant, &of_##size);                                                         \
    }
FOR_EACH_SIZE(BY_PAGES)

#define VARIANT(size, of_bytes)                                                                    \
    {.name = "pages-" #size,                                                                       \
     .about = "every cache line of " #size " bytes, each hop to another page",                     \
     .interval = interval_##size,                                                                  \
     .prepare = prepare_##size,                                                                    \
     .watch = watch_##size,                                                                        \
     .memory = 1},
static const struct variant variants[] = {FOR_EACH_SIZE(VARIANT)};
static const long batches[] = {64, 96, 128, 192};

MEASURE(.name = "page_by_page", .about = "what a load costs in the order of lat_mem_rd",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400)
