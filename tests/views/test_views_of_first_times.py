"""Views of first calls: a sum of causes, the page faults that the OS counted, and look-ups."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from labs import published, variants, views
from labs.messages import Message, Refused
from labs.notebook.run import Run
from labs.recording import file
from labs.recording.file import Recording
from labs.views.other_tools import looked_up
from testing.given_samples import recording_of
from testing.paths import FIXTURES

SAVED = FIXTURES / "honest" / "02-first-iteration" / "recordings"


def saved(name: str) -> Run:
    return Run.of(file.read(SAVED / f"{name}.csv"))


def test_page_faults_are_those_that_the_os_counted() -> None:
    broken, repaired = saved("broken-miss_with_its_page"), saved("repaired-miss_with_its_page")
    table = views.page_faults([broken, repaired], expected=1)
    assert [row[3] for row in table.rows] == ["1.00", "0.00"]
    assert table.rows[0][1] == f"{int(broken.recording.batch.sum()):,}"
    assert "you expected 1 " in table.caption
    assert table.caption.endswith("as the OS counted")
    assert views.page_faults([broken, repaired], expected=0).caption.endswith("counted 1.00")


#: The page faults in `bring` and `own` of a loop over 720 pages each, by what the loop does.
OF_LOOPS = {"right": (720, 0), "empty": (0, 720), "without the last page": (680, 40)}


@pytest.mark.parametrize("loop", OF_LOOPS)
def test_each_variant_that_is_counted_by_itself_has_its_row(loop: str) -> None:
    brought, left = OF_LOOPS[loop]
    own = Run.of(own_pages(brought, left), ("bring", "own"))
    table = views.page_faults(own["own"], 0)
    assert [row[:3] for row in table.rows] == [
        ("own", "720", f"{left}"),
        ("bring", "720", f"{brought}"),
    ]
    assert "for the own run you expected 0 " in table.caption
    assert table.caption.endswith("as the OS counted") is (loop == "right")
    # Where the student expects one page fault for each page, another loop is right.
    table = views.page_faults(own["own"], 1)
    assert table.caption.endswith("as the OS counted") is (loop == "empty")


def own_pages(brought: int, left: int) -> Recording:
    """The counts of 40 samples of 18 pages each, in each of the two variants."""
    counts = {"touched": 720, "later_faults": 0}
    stated = {f"variant.{v}.{key}": str(n) for v in ("bring", "own") for key, n in counts.items()}
    stated |= {"variant.bring.faults": str(brought), "variant.own.faults": str(left)}
    run = recording_of([5] * 80, [18] * 80, variant="bring")
    clock = {"clock.own.frequency_hz": "1e9", "clock.own.step": "1"}
    return replace(
        run,
        conditions={**run.conditions, **clock, **stated},
        variants=("bring", "own"),
        variant_index=np.arange(80, dtype=np.int64) % 2,
    )


PRINTED = """\
  77:\tbinding file /lib/libc.so.6 [0] to /lib/libc.so.6 [0]: normal symbol `early' [V]
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `before' [V]
  77:\ttransferring control: /bin/prog
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `toupper'
  77:\tbinding file /lib/libc.so.6 [0] to /lib/libc.so.6 [0]: normal symbol `other' [V]
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `toupper' [V]
"""


def test_only_look_ups_of_the_program_while_it_runs_count() -> None:
    assert looked_up(PRINTED, "/bin/prog") == ["toupper", "toupper"]
    assert looked_up(PRINTED, "/bin/another") == []
    with pytest.raises(Exception, match="prints none"):
        looked_up("", "/bin/prog")


def test_the_first_call_of_a_library_function_is_looked_up() -> None:
    found = views.bindings("first_iteration", "lazy-binding", "call")
    if isinstance(found, Message):
        pytest.skip(f"no look-ups here: {found.sentences}")
    assert ("toupper", "2", "0") in found.rows
    other = views.bindings("first_iteration", "call", "lazy-binding")
    assert not isinstance(other, Message)
    assert "toupper" not in [row[0] for row in other.rows]
    assert re.search(r"[1-9]\d* more often for lazy-binding \(not shown\)$", other.caption)


def test_a_variant_that_cannot_run_is_named_with_the_reason() -> None:
    found = views.bindings("first_iteration", "no-such", "call")
    assert isinstance(found, Message)
    assert "no-such" in found.heading and "no such variant" in found.sentences[0]
    with pytest.raises(Refused):
        views.bindings("no_such_kernel", "a", "b")


def test_variants_that_the_machine_lacks_are_left_out_and_unknown_ones_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = (variants.Listed("one", ""), variants.Listed("two", "", missing="not here"))
    monkeypatch.setattr(variants, "of_kernel", lambda kernel: listed)
    assert variants.possible("any", "two, one ,three,") == ["one", "three"]


def test_the_samples_that_a_report_prints() -> None:
    assert published.samples("procedure call", "E")[:4] == (366, 96, 90, 95)
    with pytest.raises(KeyError, match="no single samples"):
        published.samples("timer overhead", "A")
