/*
 * What does a switch between two processes cost?
 *
 * A byte goes to a peer process and comes back: a round trip, with two switches and, on each side,
 * a write and a read. The baseline is the same write and read within one process, without a switch:
 *
 *     switch = (round trip - 2 * (write + read to itself)) / 2
 *
 * On one CPU, the peer can run only while this process sleeps. So a round trip has two switches,
 * and the OS counts them too. On two CPUs no switch needs to happen: the time is that of a wake-up
 * across CPUs, another quantity. In "carried-back", the peer reads the clock at the end and sends
 * the reading back through a pipe.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/socket.h>
#if defined(__linux__)
#    include <sys/eventfd.h>
#endif

#include "peer_process.h"

enum { INTERVALS_A_TURN = 64 }; /* a move is itself a switch or two */

/* A way to the peer and a way back, and the peer. */
struct channel {
    int in[2], out[2]; /* by side: where it reads and where it writes */
    pid_t peer;        /* 0: the channel leads back to this process */
    long mine, theirs; /* the CPUs to run on, or ANY_CPU */
    int in_turn;       /* both tasks change the CPU after a few samples */
};

static struct channel pinned, in_turn, apart, anywhere, carried, events, sockets;
static struct channel self_pipe, self_event, self_socket;

TICKLAB_INLINE int give(const struct channel *channel, enum side side, uint64_t message)
{
    return send_message(channel->out[side], message);
}

TICKLAB_INLINE uint64_t receive(const struct channel *channel, enum side side)
{
    return await_message(channel->in[side]);
}

/* Move this process and its peer to the CPUs of the channel: before the timed region, not in it. */
static void stand(struct channel *channel)
{
    static const struct channel *last;
    static long intervals;
    const int moves = channel->in_turn && intervals++ % INTERVALS_A_TURN == 0;
    if (moves) {
        static int turn; /* the first turn is on the first CPU, and so is the baseline */
        const long cpu = nth_cpu(turn) >= 0 ? nth_cpu(turn) : nth_cpu(turn = 0);
        turn++;
        channel->mine = channel->theirs = cpu;
        self_pipe.mine = cpu; /* the baseline moves too, or each sample would move it */
        place(channel->peer, cpu);
    }
    if (channel != last || moves)
        place(0, channel->mine);
    last = channel;
}

TICKLAB_INLINE uint64_t round_trips(struct channel *channel, long batch)
{
    uint64_t failed = 0;
    stand(channel);
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        failed |= !give(channel, MINE, GO);
        failed |= receive(channel, MINE) != GO;
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

/* One way only: the peer reads the counter and sends back its reading. */
static uint64_t carried_back(long batch)
{
    uint64_t total = 0, failed = 0;
    stand(&carried);
    for (long left = batch; left > 0 && !failed; left--) {
        const uint64_t begin = counter_begin();
        failed |= !give(&carried, MINE, GO);
        const uint64_t end = receive(&carried, MINE);
        failed |= end == 0;
        total += end - begin;
    }
    failed_calls |= failed;
    return total;
}

/* The same to itself: the part of a round trip that is no switch. */
static uint64_t carried_to_oneself(long batch)
{
    uint64_t total = 0, failed = 0;
    stand(&self_pipe);
    for (long left = batch; left > 0 && !failed; left--) {
        const uint64_t begin = counter_begin();
        failed |= !give(&self_pipe, MINE, GO);
        failed |= receive(&self_pipe, MINE) != GO;
        total += counter_end() - begin;
    }
    failed_calls |= failed;
    return total;
}

#define ROUND_TRIPS(channel)                                                                       \
    static uint64_t trips_##channel(long batch)                                                    \
    {                                                                                              \
        return round_trips(&channel, batch);                                                       \
    }

ROUND_TRIPS(pinned)
ROUND_TRIPS(in_turn)
ROUND_TRIPS(apart)
ROUND_TRIPS(anywhere)
ROUND_TRIPS(events)
ROUND_TRIPS(sockets)
ROUND_TRIPS(self_pipe)
ROUND_TRIPS(self_event)
ROUND_TRIPS(self_socket)

static void echo(void *argument)
{
    const struct channel *channel = argument;
    echo_each_go(channel->in[THEIRS], channel->out[THEIRS]);
}

static void stamp(void *argument)
{
    const struct channel *channel = argument;
    while (receive(channel, THEIRS) == GO && give(channel, THEIRS, counter_end()))
        ;
}

static void checked(int failed, const char *call)
{
    if (failed)
        stop(STATUS_IMPOSSIBLE, "%s: %s", call, strerror(errno));
}

static void open_pipes(struct channel *channel)
{
    open_pipes_both_ways(channel->in, channel->out);
}

static void start(struct channel *channel, void (*work)(void *), long mine, long theirs)
{
    channel->mine = mine;
    channel->theirs = theirs;
    channel->peer = start_peer(work, channel);
    place(channel->peer, theirs);
    stand(channel);
}

static void end(struct channel *channel)
{
    end_peer(channel->out[MINE], channel->peer);
}

static void prepare_pinned(struct run *run)
{
    open_pipes(&pinned);
    start(&pinned, echo, first_place(run), first_place(run));
}

static void prepare_in_turn(struct run *run)
{
    (void)run;
    open_pipes(&in_turn);
    in_turn.in_turn = 1;
    start(&in_turn, echo, nth_cpu(0), nth_cpu(0));
}

static void prepare_apart(struct run *run)
{
    open_pipes(&apart);
    start(&apart, echo, first_place(run), second_place(run));
}

static void prepare_anywhere(struct run *run)
{
    (void)run;
    open_pipes(&anywhere);
    start(&anywhere, echo, ANY_CPU, ANY_CPU);
}

static void prepare_carried(struct run *run)
{
    open_pipes(&carried);
    start(&carried, stamp, first_place(run), first_place(run));
}

/* One pair in each direction. On Linux, a task that waits for an answer on the socket that it
 * wrote to is woken in vain when the other side has read. That would be one more switch. */
static void prepare_sockets(struct run *run)
{
    int there[2], back[2];
    checked(socketpair(AF_UNIX, SOCK_STREAM, 0, there) != 0 ||
                socketpair(AF_UNIX, SOCK_STREAM, 0, back) != 0,
            "socketpair");
    sockets.out[MINE] = there[1];
    sockets.in[THEIRS] = there[0];
    sockets.out[THEIRS] = back[1];
    sockets.in[MINE] = back[0];
    start(&sockets, echo, first_place(run), first_place(run));
}

static void prepare_self_pipe(struct run *run)
{
    open_pipe(&self_pipe.in[MINE], &self_pipe.out[MINE]);
    self_pipe.mine = first_place(run);
    stand(&self_pipe);
}

static void prepare_self_socket(struct run *run)
{
    int pair[2];
    checked(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0, "socketpair");
    self_socket.in[MINE] = pair[0];
    self_socket.out[MINE] = pair[1];
    self_socket.mine = first_place(run);
    stand(&self_socket);
}

#if defined(__linux__)
static void prepare_events(struct run *run)
{
    const int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
    checked(there < 0 || back < 0, "eventfd");
    events.out[MINE] = events.in[THEIRS] = there;
    events.out[THEIRS] = events.in[MINE] = back;
    start(&events, echo, first_place(run), first_place(run));
}

static void prepare_self_event(struct run *run)
{
    const int both = eventfd(0, EFD_CLOEXEC);
    checked(both < 0, "eventfd");
    self_event.out[MINE] = self_event.in[MINE] = both;
    self_event.mine = first_place(run);
    stand(&self_event);
}
#    define EVENTFD(preparation) .prepare = preparation
#else
#    define EVENTFD(preparation) .missing = "this system has no eventfd"
#endif

#define FINISH(channel)                                                                            \
    static void finish_##channel(void)                                                             \
    {                                                                                              \
        end(&channel);                                                                             \
    }
FINISH(pinned)
FINISH(in_turn)
FINISH(apart)
FINISH(anywhere)
FINISH(carried)
FINISH(events)
FINISH(sockets)

/* A round trip: two switches, and on each side a write and a read. */
#define ROUND_TRIP(channel)                                                                        \
    .interval = trips_##channel, .finish = finish_##channel, .baseline_times = 2, .parts = 2,      \
    .switches = 2, .system_calls = 2, .other_tasks = 1
#define TO_ONESELF(channel)                                                                        \
    .interval = trips_##channel, .system_calls = 2, .placement = PLACED_ON_ONE_CPU

static const struct variant variants[] = {
    {.name = "pipe-pinned",
     .about = "by pipe, both processes on one CPU",
     ROUND_TRIP(pinned),
     .prepare = prepare_pinned,
     .cannot = no_pinning,
     .baseline = "self-pipe",
     .placement = PLACED_ON_ONE_CPU},
    {.name = "self-pipe",
     .about = "write and read of one's own pipe: no switch",
     TO_ONESELF(self_pipe),
     .prepare = prepare_self_pipe},
    {.name = "pipe-in-turn",
     .about = "by pipe, both on one CPU, each CPU in turn",
     ROUND_TRIP(in_turn),
     .prepare = prepare_in_turn,
     .cannot = no_pinning,
     .baseline = "self-pipe",
     .placement = PLACED_IN_TURN},
    {.name = "pipe-two-cpus",
     .about = "by pipe, a CPU for each: a wake-up, not a switch",
     .interval = trips_apart,
     .finish = finish_apart,
     .prepare = prepare_apart,
     .cannot = no_second_cpu,
     .baseline = "self-pipe",
     .baseline_times = 2,
     .parts = 2,
     .system_calls = 2,
     TWO_ON_TWO_CPUS},
    {.name = "pipe-unpinned",
     .about = "by pipe, wherever the OS puts them",
     .interval = trips_anywhere,
     .finish = finish_anywhere,
     .prepare = prepare_anywhere,
     .baseline = "self-pipe",
     .baseline_times = 2,
     .parts = 2,
     .system_calls = 2,
     .other_tasks = 1},
    {.name = "pipe-carried-back",
     .about = "one way by pipe, the peer stops the clock",
     .interval = carried_back,
     .finish = finish_carried,
     .prepare = prepare_carried,
     .cannot = no_pinning,
     .baseline = "self-pipe-stamped",
     .switches = 2,
     .system_calls = 2,
     TWO_ON_ONE_CPU},
    {.name = "self-pipe-stamped",
     .about = "write and read of one's own pipe, each between stamps",
     .interval = carried_to_oneself,
     .prepare = prepare_self_pipe,
     .system_calls = 2,
     .placement = PLACED_ON_ONE_CPU},
    {.name = "eventfd-pinned",
     .about = "by eventfd, both on one CPU",
     ROUND_TRIP(events),
     EVENTFD(prepare_events),
     .cannot = no_pinning,
     .baseline = "self-eventfd",
     .placement = PLACED_ON_ONE_CPU},
    {.name = "self-eventfd",
     .about = "write and read of one's own eventfd",
     TO_ONESELF(self_event),
     EVENTFD(prepare_self_event)},
    {.name = "socketpair-pinned",
     .about = "by sockets, a pair each way, both on one CPU",
     ROUND_TRIP(sockets),
     .prepare = prepare_sockets,
     .cannot = no_pinning,
     .baseline = "self-socketpair",
     .placement = PLACED_ON_ONE_CPU},
    {.name = "self-socketpair",
     .about = "write and read of one's own sockets",
     TO_ONESELF(self_socket),
     .prepare = prepare_self_socket},
};

/* Short samples: during a long one, others get the CPU too. */
static const long batches[] = {1, 2, 4, 8};

MEASURE(.name = "process_switch", .about = "what a switch between processes costs",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 2000)
