/* The ten operations of a_or_b.c, in batches, for the C++ beside it. */
#define main main_of_the_kit
#include "a_or_b.c"

int operations(void);
const char *operation_name(int which);
uint64_t batch_of(int which, long operations);

int operations(void)
{
    return (int)(sizeof variants / sizeof variants[0]);
}

const char *operation_name(int which)
{
    return variants[which].name;
}

/* The first batch of an operation prepares it. */
uint64_t batch_of(int which, long operations)
{
    static struct run run = {.options = {.cpu = NOT_PINNED}, .random = 88172645463325252u};
    static int prepared[sizeof variants / sizeof variants[0]];
    if (!prepared[which] && variants[which].prepare != NULL)
        variants[which].prepare(&run);
    prepared[which] = 1;
    return variants[which].interval(operations);
}
