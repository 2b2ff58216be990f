"""From a recording to an estimate: what an operation costs, with a 95 % confidence interval.

Every measurement is a line, T(k) = overhead + k * cost, which several processes measure.
`set_aside` sorts the samples by process and batch size and decides which of them count. `line`
fits a line for each process. `confidence` computes means, differences and ratios with their 95 %
intervals from one value for each process. `net_cost` subtracts a baseline, and `cpu_core` knows the
core's clock and width. `thresholds` holds every number that decides. docs/measuring.md derives each
formula.
"""
