/*
 * What the OS counted for one variant, and where its tasks were. One run may hold several variants,
 * which switch in different ways and on different CPUs.
 */
#ifndef TICKLAB_TASKS_H
#define TICKLAB_TASKS_H

#include <dirent.h>
#include <time.h>

#include "conditions.h"

enum { MOST_PEERS = 512 };

/* The account of one variant that claims to switch between tasks or to create tasks. */
struct account {
    double claimed, operations, created;
    long counted, faults; /* by the OS: switches of all its tasks; page faults in its samples */
    long voluntary;       /* the part of `counted` for which a task went to sleep or ended */
    long ended_switches, ended_faults; /* the part of child processes that have ended */
    int peers;
#if defined(__linux__)
    cpu_set_t seen, peers_seen, peers_may_use; /* CPUs: of this task, and of its peers */
#endif
};

enum { NOBODY = -2, NOT_SAID = -1 };

struct peer {
    pid_t task; /* process or thread id */
    int variant;
};

static struct peer peers[MOST_PEERS];
static int peer_count;

TICKLAB_INLINE void note_peer(pid_t task)
{
    for (int i = 0; i < peer_count; i++)
        if (peers[i].task == task)
            return;
    if (peer_count < MOST_PEERS)
        peers[peer_count++] = (struct peer){.task = task, .variant = NOT_SAID};
}

/* Note every thread of this process but the first: a variant has just started them. */
static void note_threads(void)
{
#if defined(__linux__)
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return;
    for (struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        const pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        if (task > 0 && task != getpid())
            note_peer(task);
    }
    if (closedir(tasks) != 0)
        stop(STATUS_FAILED, "closedir: %s", strerror(errno));
#endif
}

/* All peers without a variant belong to this one. NOBODY: they belong to the system itself. */
static void peers_belong_to(int variant)
{
    note_threads();
    for (int i = 0; i < peer_count; i++)
        if (peers[i].variant == NOT_SAID)
            peers[i].variant = variant;
}

static long switches_of(struct rusage before, struct rusage after)
{
    return after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw;
}

static long voluntary_of(struct rusage before, struct rusage after)
{
    return after.ru_nvcsw - before.ru_nvcsw;
}

/* Whether the OS distinguishes switches of a task that waits from those of one that could go on. */
static int kinds_are_counted;

/* Whether the OS counts switches: some systems offer getrusage and always return 0. A sleep must
 * count as a switch, of either kind, because not every OS distinguishes the two kinds. */
static int switches_are_counted(void)
{
    const struct timespec a_while = {.tv_sec = 0, .tv_nsec = 200000};
    const struct rusage before = usage_of(RUSAGE_SELF);
    for (int i = 0; i < 3; i++)
        if (nanosleep(&a_while, NULL) != 0 && errno != EINTR)
            return 0;
    const struct rusage after = usage_of(RUSAGE_SELF);
    kinds_are_counted = voluntary_of(before, after) > 0;
    return switches_of(before, after) > 0;
}

static void note_cpu(struct account *account, int cpu)
{
#if defined(__linux__)
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_SET(cpu, &account->seen);
#else
    (void)account;
    (void)cpu;
#endif
}

#if defined(__linux__)
/* The CPU that a task was on last; -1: the system does not say. */
static int cpu_of(pid_t task)
{
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)task);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    const size_t length = fread(line, 1, sizeof line - 1, file);
    line[length] = '\0';
    if (fclose(file) != 0)
        return -1;
    /* The name, in parentheses, may hold anything; the CPU is the 37th field after it. */
    char *rest = strrchr(line, ')');
    char *field = rest != NULL ? strtok(rest + 1, " ") : NULL;
    for (int i = 3; field != NULL && i < 39; i++)
        field = strtok(NULL, " ");
    return field != NULL ? (int)strtol(field, NULL, 10) : -1;
}
#endif

/* Note where the peers of a variant are, and where they may be. They must still be alive. */
static void note_placement(struct account *account, int variant)
{
#if defined(__linux__)
    for (int i = 0; i < peer_count; i++) {
        cpu_set_t allowed;
        const int cpu = peers[i].variant == variant ? cpu_of(peers[i].task) : -1;
        if (cpu < 0 || sched_getaffinity(peers[i].task, sizeof allowed, &allowed) != 0)
            continue;
        account->peers++;
        CPU_SET(cpu, &account->peers_seen);
        CPU_OR(&account->peers_may_use, &account->peers_may_use, &allowed);
    }
#else
    (void)account;
    (void)variant;
#endif
}

static void print_account(const char *name, const struct account *account, int counted)
{
    printf("# variant.%s.operations: %.0f\n# variant.%s.claimed_switches: %.0f\n", name,
           account->operations, name, account->claimed);
    if (counted)
        printf("# variant.%s.counted_switches: %ld\n", name, account->counted);
    if (counted && kinds_are_counted)
        printf("# variant.%s.voluntary_switches: %ld\n", name, account->voluntary);
    printf("# variant.%s.faults: %ld\n# variant.%s.peers: %d\n", name, account->faults, name,
           account->peers);
#if defined(__linux__)
    printf("# variant.%s.cpus: %s\n", name, cpus_in_words(&account->seen));
    if (account->peers == 0)
        return;
    printf("# variant.%s.peers_cpus: %s\n", name, cpus_in_words(&account->peers_seen));
    printf("# variant.%s.peers_may_use: %s\n", name, cpus_in_words(&account->peers_may_use));
#endif
}

static void print_created(const char *name, const struct account *account, int counted)
{
    printf("# variant.%s.created: %.0f\n# variant.%s.faults: %ld\n", name, account->created, name,
           account->faults);
    printf("# variant.%s.children_faults: %ld\n", name, account->ended_faults);
    if (counted)
        printf("# variant.%s.children_switches: %ld\n", name, account->ended_switches);
}

#endif
