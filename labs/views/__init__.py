"""Views: plots that compare several runs, each a picture with a description and a table.

`arguments` shows the cost of a procedure call against its number of arguments. `placement` shows
the cost of a switch by where the two tasks ran, and `footprint` by the memory that they use.
`memory` shows the cost of creating a task against its parent's memory. `cold_to_warm` shows the
first time in a process and the later ones. `among_published` shows your figure next to published
ones, and `beside_report` a broken and a repaired run next to all figures of a report.

Some views are tables. `created_tasks` and `switches` show what the OS counted, and `traced_calls`
and `traced_creation` what `strace` prints.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.arguments import arguments
from labs.views.beside_report import beside_report
from labs.views.cold_to_warm import cold_to_warm
from labs.views.created_tasks import created_tasks
from labs.views.footprint import footprint
from labs.views.memory import memory
from labs.views.placement import placement
from labs.views.strace import traced_calls, traced_creation
from labs.views.switches import switches

__all__ = [
    "among_published",
    "arguments",
    "beside_report",
    "cold_to_warm",
    "created_tasks",
    "footprint",
    "memory",
    "placement",
    "switches",
    "traced_calls",
    "traced_creation",
]
