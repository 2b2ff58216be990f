"""Views: plots that compare several runs, each a picture with a description and a table.

`arguments` shows the cost of a procedure call against its number of arguments. `placement` shows
the cost of a switch by where the two tasks ran, and `footprint` by the memory that they use.
`memory` shows the cost of creating a task against its parent's memory. `cold_to_warm` shows the
first time in a process and the later ones. `among_published` shows your figure next to published
ones, and `beside_report` a broken and a repaired run next to all figures of a report.

Others are tables or text:

- of a line: `mean_samples`, `after_subtracting`, `your_line`, `parts`, `steps`, `lengths`;
- of first calls: `page_faults`, `bindings`;
- of the C: `instruction` and `machine_code`, `lines_used` for a student's working set;
- of what the OS counted: `created_tasks`, `switches`, `ring_switches`;
- of what `strace` prints: `system_calls`, `counted_calls`, `traced_calls`, `traced_creation`;
- of rings and caches: `hops`, `set_sizes`, `caches`, and `walks` through memory;
- of comparisons: `differences`, `beside_trial` for any times next to a broken and a repaired
  run, and `what_remains` of a mistake in a student's own repair.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.comparisons import beside_report, beside_trial, differences, what_remains
from labs.views.context_switches import placement, switches
from labs.views.created_tasks import created_tasks, memory
from labs.views.first_times import cold_to_warm, page_faults
from labs.views.line_in_numbers import (
    after_subtracting,
    lengths,
    mean_samples,
    parts,
    your_line,
)
from labs.views.other_tools import (
    bindings,
    counted_calls,
    instruction,
    machine_code,
    system_calls,
    traced_calls,
    traced_creation,
)
from labs.views.procedure_calls import arguments, steps
from labs.views.rings import caches, footprint, hops, lines_used, ring_switches, set_sizes, walks
