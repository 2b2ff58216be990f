/*
 * What a student's operation costs beside the kit's own of the same kind: both are timed in turns
 * after the last sample, on the same CPU. Whatever else the student's operation does shows in the
 * difference, without a look at its C.
 */
#ifndef TICKLAB_BESIDE_H
#define TICKLAB_BESIDE_H

#include "calibration.h"

/* Ticks of one operation of each, as medians. */
struct beside {
    double own, kit;
};

/* Time both, `batch` operations in a sample. */
TICKLAB_INLINE struct beside timed_beside(uint64_t (*own)(long), uint64_t (*kit)(long), long batch)
{
    uint64_t of_own[CALIBRATION_ROUNDS], of_kit[CALIBRATION_ROUNDS];
    (void)own(batch); /* the first ones find their code in no cache */
    (void)kit(batch);
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        of_own[i] = own(batch);
        of_kit[i] = kit(batch);
    }
    return (struct beside){.own = (double)middle_of(of_own, CALIBRATION_ROUNDS) / (double)batch,
                           .kit = (double)middle_of(of_kit, CALIBRATION_ROUNDS) / (double)batch};
}

TICKLAB_INLINE void print_beside(const char *name, struct beside ticks)
{
    printf("# variant.%s.beside_own: %.2f\n# variant.%s.beside_kit: %.2f\n", name, ticks.own, name,
           ticks.kit);
}

#endif
