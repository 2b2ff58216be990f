"""Views: plots that compare several runs, each a picture with a description and a table.

`arguments` shows the cost of a procedure call against its number of arguments. `placement` shows
the cost of a switch by where the two tasks ran, and `footprint` by the memory that they use.
`memory` shows the cost of creating a task against its parent's memory. `cold_to_warm` shows the
first time in a process and the later ones. `among_published` shows your figure next to published
ones, and `beside_report` a broken and a repaired run next to all figures of a report.

Some views are tables. `mean_samples`, `after_subtracting`, `your_line` and `slopes` show the line
of a run as numbers. `instruction` shows where an instruction occurs in timed regions, and
`system_calls` how often a sample enters the OS kernel. `explained` adds up the causes of a first
call, `page_faults` shows what the OS counted, and `bindings` what the dynamic linker looks up.
Some are tables or text: `parts` shows what is subtracted for a figure, `lengths` the lengths of
samples, `steps` what each further argument adds, `counted_calls` what strace counts, and
`machine_code` what the compiler made of a function.
Some views are tables. `created_tasks` and `switches` show what the OS counted, and `traced_calls`
and `traced_creation` what `strace` prints.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.arguments import arguments
from labs.views.beside_report import beside_report
from labs.views.cold_to_warm import cold_to_warm
from labs.views.counted_calls import counted_calls
from labs.views.created_tasks import created_tasks
from labs.views.first_times.bindings import bindings
from labs.views.first_times.explained import explained
from labs.views.first_times.page_faults import page_faults
from labs.views.footprint import footprint
from labs.views.lengths import lengths
from labs.views.machine_code import machine_code
from labs.views.memory import memory
from labs.views.parts import parts
from labs.views.placement import placement
from labs.views.steps import steps
from labs.views.strace import traced_calls, traced_creation
from labs.views.switches import switches
from labs.views.timers.instruction import instruction
from labs.views.timers.line_in_numbers import after_subtracting, mean_samples, slopes, your_line
from labs.views.timers.system_calls import system_calls

__all__ = [
    "after_subtracting",
    "among_published",
    "arguments",
    "beside_report",
    "bindings",
    "cold_to_warm",
    "counted_calls",
    "created_tasks",
    "explained",
    "footprint",
    "instruction",
    "lengths",
    "machine_code",
    "mean_samples",
    "memory",
    "page_faults",
    "parts",
    "placement",
    "slopes",
    "steps",
    "switches",
    "system_calls",
    "traced_calls",
    "traced_creation",
    "your_line",
]
