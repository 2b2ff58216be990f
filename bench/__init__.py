"""Benchmarks of Ticklab itself: does what it claims hold on this machine?

    python -m bench [NAME...] [--quick]

A module with a function `run(quick) -> bool` is one benchmark; it prints what must hold,
what was found, and returns whether it held. A figure here is a ratio within one run wherever it can
be, because the same machine is faster one minute and slower the next.
"""
