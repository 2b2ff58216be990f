/*
 * The words in which a variant declares what it measures: in --list, and in each recording.
 *
 * Whoever reads a recording goes by them. In each list the first entry is what holds where a
 * variant says nothing.
 */
#ifndef TICKLAB_DECLARED_H
#define TICKLAB_DECLARED_H

/* What the figure is. T(k) = overhead + k * cost. */
enum estimand {
    ESTIMAND_COST,      /* the slope of that line: what one operation costs */
    ESTIMAND_OVERHEAD,  /* its intercept: what the readings around the operations cost */
    ESTIMAND_FIRST_TIME /* what the first operation of a process costs more than its later ones */
};

/* Where the C kernel puts the tasks. */
enum placement {
    PLACED_ANYWHERE,    /* nowhere: where --cpu says, or wherever the OS likes */
    PLACED_ON_ONE_CPU,  /* all on the same */
    PLACED_ON_TWO_CPUS, /* the measuring task on one, its peer on another */
    PLACED_IN_TURN      /* all on the same, and every few intervals on the next */
};

static const char *estimand_word(enum estimand estimand)
{
    switch (estimand) {
    case ESTIMAND_OVERHEAD: return "overhead";
    case ESTIMAND_FIRST_TIME: return "first-time";
    default: return "cost";
    }
}

static const char *placement_word(enum placement placement)
{
    switch (placement) {
    case PLACED_ON_ONE_CPU: return "one-cpu";
    case PLACED_ON_TWO_CPUS: return "two-cpus";
    case PLACED_IN_TURN: return "cpus-in-turn";
    default: return "anywhere";
    }
}

#endif
