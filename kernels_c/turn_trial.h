/*
 * Does the thread that waits for its turn sleep until it is woken? No count of switches can show
 * that: a thread that yields, or sleeps for a moment and looks again, is switched as often.
 *
 * So after the last sample the run gives the other thread its turn and does not wake it. If that
 * thread takes its turn all the same, it has looked by itself. Before that, the run wakes the thread
 * without giving it the turn, as an OS may do: one that goes on looked at its turn once only.
 */
#ifndef TICKLAB_TURN_TRIAL_H
#define TICKLAB_TURN_TRIAL_H

#include <pthread.h>
#include <time.h>
#if defined(__linux__)
#    include <sys/syscall.h>
#endif

#include "harness.h"

enum { MINE, THEIRS };

/* Whose turn it is, and what wakes the other thread. */
struct turns {
    pthread_mutex_t mutex;
    pthread_cond_t changed[2]; /* indexed by the thread that waits */
    volatile int turn;         /* MINE or THEIRS */
    volatile int over;
    volatile int peer_ended;
    volatile pid_t peer_task; /* its thread id; 0: not known here */
    pthread_t peer;
};

/* How long the run waits, at most: for the peer to sleep, for it to take its turn when nobody has
 * woken it, and when somebody has. */
enum { UNTIL_ASLEEP_MS = 300, UNWOKEN_MS = 50, WOKEN_MS = 300 };

static void note_peer_task(struct turns *turns)
{
#if defined(__linux__)
    turns->peer_task = (pid_t)syscall(SYS_gettid);
#else
    (void)turns;
#endif
}

static void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Whether the peer sleeps; it may still be on its way there. */
static int peer_sleeps(const struct turns *turns)
{
    int asleep = 1;
#if defined(__linux__)
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)turns->peer_task);
    asleep = 0;
    for (int ms = 0; ms < UNTIL_ASLEEP_MS && !asleep; ms++) {
        char line[256] = "";
        FILE *file = fopen(path, "r");
        const size_t length = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
        line[length] = '\0';
        const char *name_end = strrchr(line, ')');
        asleep = name_end != NULL && strncmp(name_end, ") S", 3) == 0;
        if (file == NULL || fclose(file) != 0)
            break;
        sleep_ms(1);
    }
    sleep_ms(1);
#else
    (void)turns;
    sleep_ms(UNTIL_ASLEEP_MS);
#endif
    return asleep;
}

/* Wake the peer without giving it the turn, and wait until it sleeps again. */
static int wake_astray(struct turns *turns)
{
    return pthread_cond_broadcast(&turns->changed[MINE]) == 0 &&
           pthread_cond_broadcast(&turns->changed[THEIRS]) == 0 && peer_sleeps(turns);
}

/* Give the turn to the peer, and wake nobody. */
static int give_turn(struct turns *turns)
{
    int done = pthread_mutex_lock(&turns->mutex) == 0;
    turns->turn = THEIRS;
    done &= pthread_mutex_unlock(&turns->mutex) == 0;
    return done;
}

/* Whether the peer has taken its turn, and given it back, within so many milliseconds. */
static int turn_comes_back(const struct turns *turns, int most_ms)
{
    for (int ms = 0; ms < most_ms && turns->turn != MINE; ms++)
        sleep_ms(1);
    return turns->turn == MINE;
}

/* Whether the peer has ended, after it was given its turn to end. */
static int peer_ends(const struct turns *turns)
{
    for (int ms = 0; ms < WOKEN_MS && !turns->peer_ended; ms++)
        sleep_ms(1);
    return turns->peer_ended;
}

#endif
