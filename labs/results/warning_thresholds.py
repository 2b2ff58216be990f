"""Every number by which a result is judged or warned of, with its unit and its experiment.

The estimate itself decides by those of `labs/analysis/thresholds.py`.
"""

from __future__ import annotations

# Samples and their batches.
#: With fewer samples of a batch size there is a warning, and the grader takes points.
FEWEST_PER_BATCH = 20
#: From this share of all samples on, those that were set aside are reported.
MANY_ASIDE = 0.1
#: Far samples are a slow beginning if most of them lie in this share of each process.
EARLY = 0.6
#: A run gives a warning from these shares of its samples on.
MUCH_SHARED = 0.5
MUCH_INTERRUPTED = 1 / 3
#: With this many interruptions per sample of the longest kind, about 3 in 10 of them are hit.
FEW_HIT = 0.357
#: A shorter delay is no interruption, in ns.
SHORTEST_NS = 1000.0
#: After about this time Linux gives the CPU to another task that waits for it (3 ms on machines of
#: 8 and more CPUs, less on smaller ones).
TIME_SLICE_MS = 3.0
#: Who asks for fewer processes than this wants to see just these.
FEWEST_ASKED = 5
#: So many processes that had the core to themselves are enough, if their interval is narrow.
PROCESSES_ENOUGH = 7
#: The shares of the planned processes and samples that must be left when those that shared the core
#: are set aside.
PROCESSES_LEFT, SAMPLES_LEFT = 0.75, 0.5

# Values and intervals.
#: From this half-width on, as a share of the value, a run gives a warning.
WIDE_INTERVAL = 0.05
#: Two values differ for sure if their difference is this many times as large as its own 95 %
#: interval allows. Chance alone exceeds the interval in 1 of 20 pairs, and this in 1 of 300.
SURELY = 1.5
#: A smaller difference between two runs, as a share of the value, changes no conclusion.
LEAST_DISAGREEMENT = 0.01
#: A smaller change within the processes, as a share of the value, is not reported. Together with
#: SURELY, chance alone was reported in 1 of 100 runs (`python -m bench coverage`).
LEAST_DRIFT = 0.02
#: A reader who calculates with printed numbers sees a deviation of this share.
VISIBLE = 0.01
#: Two values within this factor of each other are called alike.
ALIKE_WITHIN = 1.1
#: A run that is spread over so many seconds sees several states of the machine.
SPREAD_S = 20
#: From this change of the core's clock on, there is a warning.
SPEED_CHANGE = 0.02
#: Up to this change of the core's clock a time is still worth handing in.
MUCH_SPEED_CHANGE = 0.10

# What a core does in a cycle.
#: What is executed in turn takes a core cycle each, whose length is known to a few percent.
WHOLE_CYCLE = 0.9
#: Whatever is executed, and waited for, costs more of a core cycle than this.
CYCLES_OF_NOTHING = 0.25
#: An operation of fewer core cycles, with a wide interval, may not be there at all.
MAY_BE_LEFT_OUT_CYCLES = 3
#: No core loads more than four times in a cycle: what one cache line costs at least, and what one
#: byte of each line, read in order, costs at most. All 64 bytes of a line cost 65 (a virtual Xeon).
LEAST_CYCLES_A_LINE, MOST_CYCLES_A_LINE = 0.25, 40

# Groups of processes.
#: Groups that differ by less, as a share, are not worth a word.
LEAST_GAP = 0.02
#: Each place needs so many processes.
FEWEST_AT_A_PLACE = 2
#: The groups of places must lie this far apart: as a share of the lower one, and as a multiple of
#: the distance within which four fifths of the processes lie from the median of their own group. In
#: 10,000 runs of ten alike processes, chance exceeded 10 times once; of twenty, it reached 2.6.
LEAST_GAP_BY_PLACE, TIMES_OWN_SPREAD = 0.01, 10.0
#: The share of the processes that may lie on the wrong side, because something else met them. Of
#: ten, none may: else 8 of the 45 pairs of fast processes would look like an effect.
MOST_ON_THE_WRONG_SIDE = 0.05
