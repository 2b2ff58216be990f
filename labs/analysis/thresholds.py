"""Every number by which the estimate decides something, with its unit and its experiment.

`python -m bench ablation` reduces saved runs and simulated machines with each idea switched off in
turn, by other values of these numbers. An idea stays while that shows what is lost without it.
"""

from __future__ import annotations

# Which samples count.
#: A core is shared if a round does less than this share of the additions, or of the stores, that
#: the run's best rounds do. Next to another thread a core did 0.69 of its additions at most, or
#: 0.85 of its stores (24,000 rounds).
WHOLE_CORE = 0.9
#: The best rounds are this share of all rounds of the run. A single round can be measured too well.
BEST_ROUNDS = 0.02
#: On a shared core an operation takes at most so many times as long. `bench ablation` on six quiet
#: rounds of a virtual AMD EPYC: 676 variants take 1.2 times as long in the median, and 99 in 100 at
#: most 1.9 times. In the saved runs of the labs one walk through 128 MB took 3.4 times as long.
MOST_BY_SHARING = 2.5
#: Additions in a cycle. A core of x86-64 that never does so many was shared all the time: next to
#: another thread, cores that do 4 did about 2.
LEAST_ADDITIONS = 3.0
#: Steps of the counter in a round of additions. A round is known to within a step, so two equal
#: rounds of so many steps differ by 8 % at most, which is still a whole core.
LEAST_STEPS_IN_ROUND = 24
#: So many processes must have had a whole core: Student's t of two is 12.7, which says nothing.
FEWEST_WHOLE = 3
#: The share of its samples that a process must keep, to count.
LEAST_KEPT = 0.1
#: A sample is far if it lies so many times the usual distance from the lower quartile of its cell.
#: An interruption of 5 us under a noise of 0.4 us is 12 times that noise: with 10 it was near in
#: some runs (`bench coverage`, "noise 0.4 us"), and 0.6 points fewer pairs of saved runs agreed.
REACH = 8.0
#: Steps of the counter within which no sample is far.
NEAR_STEPS = 3
#: A step that is no whole number of ticks shows in samples of at most so many steps, by at least so
#: many different values. It is at least so many ticks long: half of all numbers lie within 2 ticks
#: of a multiple of 10, so of ten that are there by chance 1 set in 1,000 does.
SHORT_STEPS, FEWEST_LEVELLED, LEAST_LEVEL = 64, 10, 8.0
#: Interruptions per second of a CPU that nobody counts: the OS's own timer.
TIMER_PER_S = 1000.0
#: Samples meet so many times as many interruptions as the processes count beside them: 0.84 to 1.77
#: times in 24 runs of 13 system calls.
AS_OFTEN = 1.5
#: If interruptions alone would hit this share of the samples, or if this share of them is far, the
#: batch size says little about the operation. If they explain this share of the far samples, no
#: delay is the operation's own.
MANY_FAR = 0.5
#: From this share of far samples on, a delay may be the operation's own: the end of a skewed
#: distribution beyond REACH is less than a hundredth of it.
OWN_DELAYS = 0.005
#: Nine in ten of the operation's own delays add at most so many times what half of them add: twice
#: as much if two come together. Of interruptions of random length (exponential) it is 3.3 times. A
#: delay that is longer than the nine in ten by this factor is an interruption.
DELAYS_ALIKE = 2.2

# The line and its interval.
#: Samples of a batch size, over all processes, below which the batch size says nothing.
FEWEST_SAMPLES = 5
#: A run of one process is divided into so many parts in time, which stand for processes.
PARTS = 20
#: Of so many processes, all lie on one side of the truth in 2 of 64 runs (the sign test), so the
#: interval need not reach beyond them.
FEWEST_FOR_RANGE = 6
#: Two programs need so many processes: all of fewer lie on one side of the truth more often than
#: SURE allows.
FEWEST_PAIRS = 10
#: How often the interval of two programs holds the truth. With 0.99, 2 of 200 comparisons of a
#: program with itself are expected to find a difference (`python -m bench a_or_b`).
SURE = 0.998
#: A point counts as on the line if its residual is at most this share of its value.
ON_THE_LINE = 0.02
#: A misfit widens the interval if it is this many times what chance causes (an F test with few
#: degrees of freedom).
MISFIT = 3.0
#: Runs of one operation on one machine differ by this share of the value more than their own
#: intervals say (95 %): three quarters of all variants in `python -m bench repeat`.
BETWEEN_RUNS = 0.01
#: A value is not believable if half of its interval exceeds this share of the value.
WIDEST = 0.15
#: From this share on, the interval is as wide as the value and holds half of it: no figure is
#: shown. Not even a factor of two, the smallest slip that people make, would be noticed.
AS_WIDE_AS_VALUE = 0.5
#: A first time needs so many processes: an interval of fewer reaches beyond the largest value.
FEWEST_FIRST_TIMES = 5

# The clock of the core.
#: No core has a higher clock speed, in Hz.
FASTEST_CORE = 6.5e9
