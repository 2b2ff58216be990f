/*
 * The words with which a variant declares what it measures, in --list and in each recording.
 *
 * Readers of a recording rely on them. If a variant declares nothing, the first entry of each list
 * holds.
 */
#ifndef TICKLAB_DECLARED_H
#define TICKLAB_DECLARED_H

/* What the figure is, in terms of the line T(k) = overhead + k * cost. */
enum estimand {
    ESTIMAND_COST,      /* the slope of that line: what one operation costs */
    ESTIMAND_OVERHEAD,  /* its intercept: the cost of the readings around the operations */
    ESTIMAND_FIRST_TIME /* the extra cost of the first operation of a process */
};

/* Where the C kernel puts the tasks. */
enum placement {
    PLACED_ANYWHERE,    /* on the CPU of --cpu, or wherever the OS puts them */
    PLACED_ON_ONE_CPU,  /* all on the same CPU */
    PLACED_ON_TWO_CPUS, /* the measuring task on one, its peer on another */
    PLACED_IN_TURN      /* all on the same CPU, and after a few samples on the next one */
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
