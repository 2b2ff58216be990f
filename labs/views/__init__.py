"""Views: plots that compare several runs, each a picture with a description and a table.

`arguments` shows the cost of a procedure call against its number of arguments. `placement` shows
the cost of a switch by where the two tasks ran, and `footprint` by the memory that they use.
`memory` shows the cost of creating a task against its parent's memory. `cold_to_warm` shows the
first time in a process and the later ones. `among_published` shows your figure next to published
ones, and `beside_report` a broken and a repaired run next to all figures of a report.

Some are tables or text: `parts` shows what is subtracted for a figure, `lengths` the lengths of
samples, `steps` what each further argument adds, `counted_calls` what strace counts, and
`machine_code` what the compiler made of a function.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.arguments import arguments
from labs.views.beside_report import beside_report
from labs.views.cold_to_warm import cold_to_warm
from labs.views.counted_calls import counted_calls
from labs.views.footprint import footprint
from labs.views.lengths import lengths
from labs.views.machine_code import machine_code
from labs.views.memory import memory
from labs.views.parts import parts
from labs.views.placement import placement
from labs.views.steps import steps

__all__ = [
    "among_published",
    "arguments",
    "beside_report",
    "cold_to_warm",
    "counted_calls",
    "footprint",
    "lengths",
    "machine_code",
    "memory",
    "parts",
    "placement",
    "steps",
]
