/*
 * Wrong on purpose: setuid is called without its argument, so it takes what a register happens to
 *   hold, and nothing checks whether it worked.
 * Repaired: system_call --variant setuid,setuid-refused,invalid
 * Run with: --variant setuid,invalid
 *
 * Report A timed it like this. A user other than root is refused; root becomes some other user.
 */
#include "../own_call.h"

static uint64_t setuid_to_whom(long batch)
{
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        syscall(SYS_setuid);
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "setuid",
                                           .about = "setuid to oneself",
                                           .interval = setuid_to_whom,
                                           .system_calls = 1,
                                           .baseline = "loop"},
                                          OWN_FLOOR};
static const long batches[] = {8, 16, 32, 64};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
