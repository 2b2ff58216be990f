#include "own_footprint.h"

static void use(const unsigned char *set, size_t bytes)
{
    unsigned sum = 0;
    for (size_t at = 0; at < bytes; at += 64) {
        sum += set[at];
        __builtin_ia32_pause();
    }
    keep(sum);
}
MEASURE_OWN_FOOTPRINT(use)
