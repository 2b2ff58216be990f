#include "own_switch.h"
#include <sched.h>

TICKLAB_INLINE void wake(struct turns *turns, int other)
{
    pthread_cond_signal(&turns->changed[other]);
}
TICKLAB_INLINE void await_turn(struct turns *turns, int own)
{
    for (int i = 0; i < 60 && turns->turn != own; i++)
        __builtin_ia32_pause();
    while (turns->turn != own)
        pthread_cond_wait(&turns->changed[own], &turns->mutex);
}
MEASURE_OWN_SWITCH(wake, await_turn)
