"""Views: plots that compare several runs, each a picture with a description and a table.

`arguments` shows the cost of a procedure call against its number of arguments. `placement` shows
the cost of a switch by where the two tasks ran, and `footprint` by the memory that they use.
`memory` shows the cost of creating a task against its parent's memory. `cold_to_warm` shows the
first time in a process and the later ones. `among_published` shows your figure next to published
ones, and `beside_report` a broken and a repaired run next to all figures of a report.

Tables alone: `hops` shows what a ring of tasks is timed for, `set_sizes` what working sets add to a
switch, `ring_switches` the switches as claimed and as counted, `differences` several comparisons,
`lines_used` what a student's C does with its working set, `caches` those of this machine, and
`beside_trial` any times next to a broken and a repaired run.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.arguments import arguments
from labs.views.beside_report import beside_report
from labs.views.beside_trial import beside_trial
from labs.views.cold_to_warm import cold_to_warm
from labs.views.differences import differences
from labs.views.footprint import footprint
from labs.views.memory import memory
from labs.views.placement import placement
from labs.views.rings.caches import caches
from labs.views.rings.hops import hops
from labs.views.rings.lines_used import lines_used
from labs.views.rings.ring_switches import ring_switches
from labs.views.rings.set_sizes import set_sizes

__all__ = [
    "among_published",
    "arguments",
    "beside_report",
    "beside_trial",
    "caches",
    "cold_to_warm",
    "differences",
    "footprint",
    "hops",
    "lines_used",
    "memory",
    "placement",
    "ring_switches",
    "set_sizes",
]
