"""From a recording to an estimate: what an operation costs, with a 95 % confidence interval.

Every measurement is a line, T(k) = overhead + k * cost, which several processes measure. `cells`
sorts the samples by process and batch size. `kept` decides which samples count. `line` fits a line
for each process and makes that of the run. `processes` computes means, differences and ratios with
their 95 % intervals from one value for each process. `thresholds` holds every number that decides.
docs/measuring.md derives each formula.
"""
