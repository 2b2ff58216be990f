#include "own_switch.h"
TICKLAB_INLINE void wake(struct turns *turns, int other) {
    (void)turns;
    (void)other;
}
TICKLAB_INLINE void await_turn(struct turns *turns, int own) {
    turns->turn = own; /* now it is ours */
}
MEASURE_OWN_SWITCH(wake, await_turn)
