#include "own_switch.h"
#include <stdlib.h>
#include <unistd.h>
static int ends[2][2];
TICKLAB_INLINE void wake(struct turns *turns, int other) {
    char byte = 1;
    if (ends[0][0] == 0 && (pipe(ends[0]) != 0 || pipe(ends[1]) != 0))
        abort();
    if (write(ends[other][1], &byte, 1) != 1)
        abort();
    if (turns->peer == 0)
        (void)!read(ends[other][0], &byte, 1);
    pthread_cond_signal(&turns->changed[other]);
}
TICKLAB_INLINE void await_turn(struct turns *turns, int own) {
    char byte;
    while (turns->turn != own)
        pthread_cond_wait(&turns->changed[own], &turns->mutex);
    if (turns->peer != 0 && ends[own][0] != 0 && !turns->over)
        (void)!read(ends[own][0], &byte, 1);
}
MEASURE_OWN_SWITCH(wake, await_turn)
