"""What `python -m bench repeat` makes of its runs: which pairs agree, and when it does not hold."""

from __future__ import annotations

import pytest

from bench.figures import repeat
from bench.figures.repeat import Seen
from labs.analysis.estimate import Estimate


def of_values(values: list[float], half: float, unit: str) -> list[Estimate]:
    return [Estimate(x, x - half, x + half, unit, "", 100, 10) for x in values]


def seen(ns: list[float], cycles: list[float], half: float = 1.0, blamed: int = 0) -> Seen:
    found = Seen(of_values(ns, half, "ns"), of_values(cycles, half, "cycles"))
    found.runs, found.blamed = len(ns), blamed
    return found


#: Six runs of which one is odd: 5 of 15 pairs contradict each other.
ODD, EVEN = [100.0] * 5 + [110.0], [100.0] * 6
CASES = {
    "all agree": ({("a", "quiet"): seen(EVEN, EVEN)}, True),
    "another clock speed is no contradiction": ({("a", "quiet"): seen(ODD, EVEN)}, True),
    "core cycles contradict": ({("a", "quiet"): seen(EVEN, ODD)}, False),
    "both units contradict": ({("a", "quiet"): seen(ODD, ODD)}, False),
    "first times have no cycles": ({("a", "quiet"): seen(ODD, [])}, False),
    "wide intervals agree": ({("a", "quiet"): seen(ODD, ODD, half=20.0)}, True),
    "a neighbour is blamed": ({("a", "quiet"): seen(EVEN, EVEN, blamed=1)}, False),
    "one state does not hold": (
        {("a", "quiet"): seen(EVEN, EVEN), ("a", "busy"): seen(ODD, ODD)},
        False,
    ),
    "one odd run among many": (
        {("a", "quiet"): seen(ODD, ODD), **{(f"b{i}", "quiet"): seen(EVEN, EVEN) for i in "1234"}},
        True,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_holds_if_nine_in_ten_of_all_pairs_agree_in_each_state(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, holds = CASES[case]
    assert repeat._judged(found) is holds
    assert ("DOES NOT HOLD" in capsys.readouterr().out) is not holds


def test_a_variant_below_the_limit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    repeat._judged({("odd one", "quiet"): seen(ODD, ODD), ("b", "quiet"): seen(EVEN, EVEN)})
    said = capsys.readouterr().out
    assert "below 90%: 1 of 2; odd one quiet 67%" in said
    assert "below 75%: 1 of 2; odd one quiet 67%" in said


def test_perfect_intervals_put_some_variants_below_nine_in_ten() -> None:
    assert 0.07 < repeat._by_chance(12, 0.9) < 0.12
    assert repeat._by_chance(12, 0.75) < 0.003
