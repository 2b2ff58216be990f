#include "own_switch.h"
#include <sched.h>
TICKLAB_INLINE void wake(struct turns *turns, int other) {
    pthread_mutex_lock(&turns->mutex);
    pthread_cond_signal(&turns->changed[other]);
    sched_yield();
    pthread_mutex_unlock(&turns->mutex);
}
TICKLAB_INLINE void await_turn(struct turns *turns, int own) {
    while (turns->turn != own)
        pthread_cond_wait(&turns->changed[own], &turns->mutex);
}
MEASURE_OWN_SWITCH(wake, await_turn)
