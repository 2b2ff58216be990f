"""From a recording to an estimate: what an operation costs, with a 95 % confidence interval.

Every measurement is a line, T(k) = overhead + k * cost, which several processes measure. `cells`
sorts the samples by process and batch size. `selection` decides which samples count, and keeps a
reason for each of the others. `process_lines` fits one line for each process. `undisturbed` decides
which processes count. `line` makes the line of the run. `processes` computes means, differences and
ratios with their 95 % intervals from one value for each process. docs/measuring.md derives each
formula.
"""
