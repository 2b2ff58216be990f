"""What would be a true naming of the slips that all labs have in common, by their causes."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.labs import slips
from bench.wrong.truth import Truth

_OF_CAUSES: dict[str, Truth] = {
    slips.LOST_POINT: Truth((), "decimal point"),
    slips.GAINED_POINT: Truth((), "decimal point"),
    slips.THOUSAND: t.THOUSAND,
    slips.THOUSANDTH: t.THOUSAND,
    slips.TWICE: Truth(("half-or-double",), r"\btwice"),
    slips.HALF: t.HALF,
    slips.OVER: Truth(
        ("ratio-upside-down",), r"upside down|turned over|one over|1 /|1,000 /|e\d+ /"
    ),
    slips.MOST: Truth((), r"longest|largest|maximum"),
    slips.DIVIDED: Truth((), r"divided (once more|again|twice)|/ \d+, divided"),
    slips.PRINTED: Truth((), r"report [A-E]\b|published|prints"),
    slips.PERCENT: t.PERCENT,
    slips.CALLED_CYCLES: t.TICKS_CALLED_CYCLES,
    slips.PARENTHESES: Truth((), r"parenthes|that is [\w.,-]+ - [\w.,-]+ / \d"),
    slips.OTHER_IN_CYCLES: Truth((), r"cost of [\w-]+ in (core |thousand )?cycles|in cycles"),
    "the value is another row of the run, in ticks": Truth((), r"cost of args12 in ticks"),
    "the value is another row of the run": Truth(
        ("two-results-for-one",), r"cost of (args9|random-64k)\b"
    ),
    "one number is in core cycles and the other in ns": Truth(("ratio-of-unlike-units",)),
}

#: By lab and case.
TRUTHS: dict[str, dict[str, Truth]] = {
    lab: {case.name: _OF_CAUSES[case.cause] for case in cases} for lab, cases in slips.SLIPS.items()
}
