"""From a recording to an estimate: what an operation costs, with an interval that can be believed.

Every measurement is a line, T(k) = overhead + k * cost, seen by several processes. `selection`
decides which samples count and keeps the reason for each that does not; `process_lines` fits one
line a process; `undisturbed` decides which processes count; `line` makes the line of the run;
`processes` turns one value a process into a value with its 95 % interval, a difference or a ratio.
docs/measuring.md derives each formula.
"""
