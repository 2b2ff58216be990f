"""What a panel remembers: its runs, whether its result is of its settings, and what is saved."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labs import files
from labs.notebook import panel_runs
from labs.notebook.panel import Panel
from labs.notebook.panel_runs import Form, KeptRun, changes_as_text, settings_as_text
from labs.notebook.session import Session
from labs.run import variants
from support.pressed_panel import press, set_to

FIGURE = (19.8, 19.6, 20.1)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Panel:
    """A panel that has measured twice."""
    lab = Session("x", tmp_path_factory.mktemp("measured"))
    made = lab.panel("timer_overhead", ("fenced", "monotonic"))
    set_to(made, samples="400", processes="4")
    press(made)
    set_to(made, samples="600")
    press(made)
    return made


@pytest.fixture
def again(measured: Panel, tmp_path: Path) -> Panel:
    """The panel of the same cell, run again after a restart."""
    shutil.copytree(measured.session.folder, tmp_path / "lab")
    return Session("x", tmp_path / "lab").panel("timer_overhead", ("fenced", "monotonic"))


def is_stale(shown: Panel) -> bool:
    return shown.stale


def run_of(number: int, figure: tuple[float, float, float] | None = FIGURE, **settings: Any) -> Any:
    form = Form("timer_overhead", **{"variant": "fenced", **settings})
    own = {name: value for name, value in vars(form).items() if name not in ("save", "unit")}
    value, low, high = figure or (None, None, None)
    return KeptRun(
        number=number, **own, what="overhead", unit="ns", value=value, low=low, high=high,
        warnings=[], when="2026-01-01T00:00:00",
    )  # fmt: skip


def test_the_table_has_each_run_with_its_settings_and_value(measured: Panel) -> None:
    assert [each.number for each in measured.kept] == [1, 2]
    assert [each.form.samples for each in measured.kept] == [400, 600]
    assert measured.run is not None
    assert measured.kept[-1].value == measured.run.value
    shown = measured.controls.runs.value
    assert re.search(r"2\s+\(shown\)", shown) and "600 samples, 4 processes" in shown
    symptoms = [each.symptom for each in measured.run.warnings if not each.quiet]
    assert measured.kept[-1].warnings == list(dict.fromkeys(symptoms))[:8]


def test_a_result_is_stale_while_a_setting_differs(measured: Panel) -> None:
    controls = measured.controls
    assert not is_stale(measured) and controls.stale.layout.display == "none"
    for name, value, words in (
        ("samples", "1e3", "Samples: 600 → 1,000"),
        ("variant", "monotonic", "Variant: fenced → monotonic"),
        ("warmup", "abc", "A setting above cannot be used"),
        ("optimisation", "-O0", "Optimisation: -O2 → -O0"),
    ):
        before = getattr(controls, name).control.value
        set_to(measured, **{name: value})
        assert is_stale(measured) and words in controls.stale.value
        assert "ticklab-stale" in controls._outcome._dom_classes
        set_to(measured, **{name: before})
        assert not is_stale(measured) and controls.stale.value == ""
        assert "ticklab-stale" not in controls._outcome._dom_classes
    # The same number in other words is the same setting.
    set_to(measured, samples="0.6k")
    assert not is_stale(measured)
    set_to(measured, samples="600")


def test_the_last_runs_are_compared_on_one_axis(measured: Panel) -> None:
    assert "Dot plot of the last 2 runs" in measured.controls.comparison.value
    drawn = panel_runs.drawing_of([run_of(n, samples=100 * n) for n in range(1, 6)])
    assert drawn is not None and drawn.description.startswith("Dot plot of the last 3 runs")
    assert [row[0] for row in drawn.table.rows] == [
        "3: fenced, 300 samples", "4: fenced, 400 samples", "5: fenced, 500 samples",
    ]  # fmt: skip


def test_only_runs_with_figures_of_one_kind_are_compared() -> None:
    assert panel_runs.drawing_of([run_of(1)]) is None
    assert panel_runs.drawing_of([run_of(1), run_of(2, None)]) is None
    cost = run_of(2).model_copy(update={"what": "cost"})
    assert panel_runs.drawing_of([run_of(1), cost]) is None
    assert [each.number for each in panel_runs.comparable([run_of(1), cost, run_of(3)])] == [1, 3]


def test_a_difference_is_claimed_only_where_its_interval_excludes_0() -> None:
    for newest, words in (
        ((25.0, 24.0, 26.0), "run 2 lies above that of run 1, and the two are distinguishable"),
        ((15.0, 14.0, 16.0), "run 2 lies below that of run 1, and the two are distinguishable"),
        (
            (20.6, 20.05, 21.15),
            "run 2 lies above that of run 1, and the two are distinguishable",
        ),  # the two intervals overlap
        ((20.0, 19.0, 21.0), "figures of run 2 and run 1 are not distinguishable."),
    ):
        drawn = panel_runs.drawing_of([run_of(1), run_of(2, newest)])
        assert drawn is not None and words in drawn.description


def test_the_runs_are_there_after_a_restart(measured: Panel, again: Panel) -> None:
    assert again.kept == measured.kept and again.run is None
    shown = again.controls.runs.value
    assert "600 samples" in shown and "(shown)" not in shown
    assert "Dot plot of the last 2 runs" in again.controls.comparison.value
    set_to(again, samples="200", processes="2")
    press(again)
    assert [each.number for each in again.kept] == [1, 2, 3]


def test_another_c_kernel_begins_a_table_of_its_own(measured: Panel) -> None:
    folder = measured.session.folder
    assert panel_runs.read(folder, "panel", "system_call") == ()
    assert panel_runs.read(folder, "other", "timer_overhead") == ()


def test_what_is_saved_shows_the_last_result_and_the_way_back(measured: Panel) -> None:
    html = measured.saved.html
    # After a restart `lab` is not there, so the cell alone would not do.
    assert "run the first cell of the lab, and then this one" in html
    assert "<script" not in html and "onerror" not in html
    assert measured.run is not None and measured.run._repr_html_() in html
    assert "Samples of timer_overhead fenced" in html and "Runs of this panel" in html


def test_before_the_first_run_it_shows_the_way_only(tmp_path: Path) -> None:
    html = Session("x", tmp_path).panel("timer_overhead").saved.html
    assert "has not measured anything yet" in html and "<img" not in html


def test_only_the_newest_runs_are_kept(tmp_path: Path) -> None:
    runs = tuple(run_of(n) for n in range(1, 40))
    panel_runs.write(tmp_path, "panel", runs)
    assert panel_runs.read(tmp_path, "panel", "timer_overhead") == runs[-panel_runs.MOST_RUNS :]


def edited(**changed: object) -> str:
    """The file of one run, with some of its values changed; "" takes a value away."""
    run = {
        "number": 1, "kernel": "timer_overhead", "variant": "fenced", "samples": 10, "cpu": None,
        "peer_cpu": None, "warmup": 1, "processes": 1, "flags": "-O2", "what": "overhead",
        "unit": "ns", "value": 1.0, "low": 0.5, "high": 2.0, "warnings": [], "when": "",
    }  # fmt: skip
    stored = {name: value for name, value in {**run, **changed}.items() if value != "gone"}
    return json.dumps({"runs": [stored]})


def test_a_run_of_the_right_form_is_read(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings/panel.runs.json").write_text(edited())
    assert len(panel_runs.read(tmp_path, "panel", "timer_overhead")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"runs": 1}', '{"runs": [1, null, []]}', "[" * 5000,
        edited(samples=10**9), edited(samples="10"), edited(value=None), edited(unit="miles"),
        edited(number=0), edited(cpu=-1), edited(variant="x" * 1000), edited(what="gone"),
        edited(warnings=["x"] * 100), edited().replace("2.0", "NaN"), edited(high=10**400),
    ],
)  # fmt: skip
def test_what_others_wrote_into_the_file_breaks_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings/panel.runs.json").write_text(text)
    assert panel_runs.read(tmp_path, "panel", "timer_overhead") == ()


def test_a_huge_file_and_a_folder_in_its_place_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "recordings/panel.runs.json"
    path.mkdir(parents=True)
    assert panel_runs.read(tmp_path, "panel", "timer_overhead") == ()
    panel_runs.write(tmp_path, "panel", (run_of(1),))
    path.rmdir()
    path.write_bytes(b" " * 10_000_000 + edited().encode())
    assert panel_runs.read(tmp_path, "panel", "timer_overhead") == ()


def test_runs_of_another_folder_are_neither_shown_nor_written_over(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    panel_runs.write(theirs, "panel", (run_of(1),))
    mine.mkdir()
    (mine / "recordings").symlink_to(theirs / "recordings")
    assert panel_runs.read(mine, "panel", "timer_overhead") == ()
    panel_runs.write(mine, "panel", (run_of(1), run_of(2)))
    assert panel_runs.read(theirs, "panel", "timer_overhead") == (run_of(1),)


def test_text_of_the_file_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings/panel.runs.json").write_text(
        edited(variant="<img src=x>", what="<b>", warnings=["<script>"])
    )
    made = Session("x", tmp_path).panel("timer_overhead")
    assert len(made.kept) == 1
    assert not re.search("<(img src=x|b>|script)", made.controls.runs.value + made.saved.html)


def test_a_folder_that_cannot_be_written_loses_no_run(
    again: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise files.CannotWrite(28, "the disk is full")

    monkeypatch.setattr(panel_runs, "write_atomically", refuse)
    set_to(again, samples="200", processes="2")
    press(again)
    assert [each.number for each in again.kept] == [1, 2, 3]
    assert re.search(r"3\s+\(shown\)", again.controls.runs.value)


def test_settings_are_named_as_the_panel_names_them() -> None:
    usual = Form("process_switch", "pipe-pinned")
    other = replace(usual, samples=500, cpu=1, warmup=0, processes=1, flags="-O0")
    assert settings_as_text(usual) == "pipe-pinned, 10,000 samples"
    assert settings_as_text(other) == "pipe-pinned, 500 samples, CPU 1, warm-up 0, 1 process, -O0"
    assert settings_as_text(other, {"cpu"}) == "pipe-pinned, CPU 1"
    assert changes_as_text(usual, replace(usual, cpu=1)) == "CPU: not pinned → 1"
    assert changes_as_text(usual, usual) == ""


def test_the_line_of_python_says_every_setting_that_differs() -> None:
    others: dict[str, Any] = {
        "variant": '"b"', "samples": 3_000, "cpu": 2, "peer_cpu": 3, "warmup": 11,
        "processes": 4, "flags": '"-O0"', "save": '"mine"', "unit": '"us"',
    }  # fmt: skip
    usual = panel_runs.Form("timer_overhead")
    for name, value in others.items():
        changed: dict[str, Any] = {name: value.strip('"') if isinstance(value, str) else value}
        line = dataclasses.replace(usual, **changed).as_python()
        shown = f"{value:_}" if name == "samples" else str(value)
        assert (shown if name == "variant" else f"{name}={shown}") in line
        assert shown not in usual.as_python(), name
    assert {each.name for each in dataclasses.fields(usual)} == {"kernel", *others}


@pytest.mark.skipif(
    any(each.missing for each in variants.of_kernel("process_switch")), reason="needs two CPUs"
)
def test_a_greyed_setting_is_left_out_of_the_run(tmp_path: Path) -> None:
    made = Session("x", tmp_path).panel("process_switch", ("pipe-pinned", "pipe-two-cpus"))
    peer = made.controls.peer_cpu
    assert (
        peer is not None and not peer.usable and "keeps both tasks on one CPU" in peer._note.value
    )
    set_to(made, variant="pipe-two-cpus")
    (_, first), (_, second) = peer.control.options[1:3]
    set_to(made, cpu=first, peer_cpu=second)
    assert made.form is not None and made.form.peer_cpu == second
    set_to(made, variant="pipe-pinned")
    assert made.form is not None and made.form.peer_cpu is None
    assert "peer_cpu" not in made.controls._line.value
    set_to(made, variant="pipe-two-cpus", peer_cpu=first)
    assert "need a CPU each" in peer.wrong and made.form is None


def test_a_warm_up_of_first_calls_is_none_unless_asked_for(tmp_path: Path) -> None:
    made = Session("x", tmp_path).panel("first_iteration", ("call", "data-cache"))
    warmup = made.controls.warmup
    assert made.form is not None and made.form.warmup == 0
    assert "would use them up" in warmup._note.value
    set_to(made, variant="data-cache")
    assert (warmup.number, warmup._note.value) == (100, "")
    set_to(made, warmup="1", variant="call")
    assert warmup.number == 1
    # 100 is the default of every run, and then the C kernel takes none for first calls.
    set_to(made, warmup="100")
    assert "which is 0 here" in warmup.wrong and "lab.measure" not in made.controls._line.value
    set_to(made, variant="data-cache")
    assert made.controls.wrong == () and "lab.measure" in made.controls._line.value
