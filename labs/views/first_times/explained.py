"""The view of a first call as a sum: how much of it do causes measured one by one explain?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from labs.common.table import Table
from labs.common.units import rounded
from labs.plots.style import symbol
from labs.results.result import with_ends
from labs.views.gather import Runs, in_one_unit, refused, runs_of, with_warnings

_EXAMPLE = '{"page-fault": 1, "data-cache": 2}'


@with_warnings
def explained(first: Runs, causes: Runs, counts: Mapping[str, float]) -> Table:
    """What `counts` of each cause make together, as a share of the first call's extra cost.

    `first` is the run of the first call, and `causes` has one variant for each cause. The unit is
    that of `first`. A cause whose interval reaches down to 0 counts as 0. Raises Refused for
    unknown causes or numbers, or if the first call has no figure above 0.
    """
    (call, *_), (run, *_) = runs_of([first]), runs_of([causes])
    (call, run), unit = in_one_unit([call, run], call.unit)
    if call.value <= 0:
        raise refused(
            "the first call costs no more than later ones, so there is nothing to explain"
        )
    _check(counts, [result.variant for result in run.results])
    rows, total = [], 0.0
    for name, count in counts.items():
        estimate = run.result(name).estimate
        if estimate is None:
            rows.append((name, "no figure: run the cell of the causes again", f"{count:g}", ""))
            continue
        one = estimate.value if estimate.low > 0 else 0.0
        total += count * one
        shown = with_ends(estimate, symbol(unit)) if one else "not distinguishable from 0"
        rows.append((name, shown, f"{count:g}", f"{rounded(count * one)} {symbol(unit)}"))
    share = 100 * total / call.value
    rows.append(("together", "", "", f"{rounded(total)} {symbol(unit)}"))
    return Table(
        f"Your causes explain {share:.0f} % of the first call, which costs "
        f"{rounded(call.value)} {symbol(unit)} more than later ones",
        ("cause", "cost of one, among many", "how many", "in all"),
        tuple(rows),
    )


def _check(counts: Mapping[str, float], known: list[str]) -> None:
    """Raise Refused for what is no count of a known cause."""
    if not isinstance(counts, Mapping) or not counts:
        raise refused("say how many there are of each cause", f"Such as {_EXAMPLE}.")
    for name, count in counts.items():
        if name not in known:
            raise refused(f"{name!r} was not measured", f"The run has {', '.join(known)}.")
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if not is_number or not 0 <= count < math.inf:
            raise refused(f"how often {name} happens must be a number of 0 or more, not {count!r}")
