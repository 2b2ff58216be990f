"""The panel without a browser: its widgets are driven on a real event loop."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from labs import files
from labs.machine import surroundings
from labs.notebook import panel_runs as panel_form
from labs.notebook.panel import Panel
from labs.notebook.panel_runs import Form
from labs.notebook.session import Session
from labs.plots import figure_svg
from labs.recording import file, run_conditions
from labs.results import stopping
from labs.run import measure
from labs.run.variants import plan_of
from support.pressed_panel import press, set_to

SLOW = f"slow{os.getpid()}"

#: A tenth of a second an interval.
SLOW_SOURCE = """
#define _GNU_SOURCE
#include "harness.h"

static uint64_t wait_long(long batch)
{
    const struct timespec pause = {0, 100000000};
    failed_calls |= nanosleep(&pause, NULL) != 0;
    return (uint64_t)batch;
}

static uint64_t read_clock(void)
{
    return clock_ns(REFERENCE_CLOCK);
}

static const struct variant variants[] = {
    {.name = "wait",
     .about = "waits",
     .interval = wait_long,
     .read = read_clock,
     .frequency_hz = 1e9}};
static const long batches[] = {1, 2};

int main(int argc, char **argv)
{
    static const struct c_kernel kernel = {
        .name = "slow", .about = "waits", LISTED_VARIANTS(variants), LISTED_BATCHES(batches),
        .batches_fixed = 1};
    return measure(&kernel, argc, argv);
}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session("01-timer-overhead", tmp_path)


@pytest.fixture
def timer(lab: Session) -> Panel:
    made = lab.panel("timer_overhead")
    set_to(made, samples="1000")
    return made


@pytest.fixture
def slow(lab: Session) -> Panel:
    source = lab.folder / f"{SLOW}.c"
    source.write_text(SLOW_SOURCE)
    return lab.panel(str(source), save="slow")


def status(shown: Panel) -> str:
    return str(shown.controls._status.value)


def said(shown: Panel) -> str:
    return repr(shown.message)


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.name() == SLOW]


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until `condition` holds."""

    async def turn() -> None:
        while not condition():
            await asyncio.sleep(0.005)

    await asyncio.wait_for(turn(), 20)


def test_a_run_is_saved_before_it_is_shown(timer: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    saved_when_drawn = []
    drawn = figure_svg.evidence_drawing

    def noting(*arguments: Any) -> Any:
        saved_when_drawn.append((timer.session.folder / "recordings/panel.csv").is_file())
        return drawn(*arguments)

    monkeypatch.setattr("labs.notebook.run.evidence_drawing", noting)
    press(timer)
    assert saved_when_drawn == [True]
    assert "Done: 1,000 samples" in status(timer)
    assert "timer_overhead fenced: overhead" in timer.controls.result.value
    assert '<img alt="Samples of' in timer.controls.plot.value
    assert timer.session.runs["panel"] is timer.run
    assert timer.controls.run.icon == "play"


def test_processes_that_were_added_are_told(timer: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    press(timer)
    assert "added" not in status(timer)

    def twelve(recordings: tuple[file.Recording, ...], most: int) -> str | None:
        return "it has them" if len(recordings[0].processes) >= 12 else None

    monkeypatch.setattr(stopping, "rule_of", lambda plans: twelve)
    press(timer)
    assert "Done: 1,500 samples" in status(timer)
    assert "The run added 5 processes" in status(timer)


def test_slider_and_number_box_keep_in_step(timer: Panel) -> None:
    controls = timer.controls
    set_to(timer, samples="20,000")
    assert controls.slider.value == pytest.approx(20_000)
    controls.slider.value = 3162.27766
    assert controls.samples.control.value == "3,200"
    assert "3,200 samples" in controls._slider_words.value
    set_to(timer, samples="12345")
    assert controls.samples.control.value == "12345"
    assert "12,345 samples" in controls._slider_words.value
    set_to(timer, samples="nothing")
    controls.slider.value = 100
    assert controls.samples.number == 100


def test_the_line_of_python_follows_the_controls_and_does_the_same(timer: Panel) -> None:
    controls = timer.controls
    cpu = min(surroundings.allowed_cpus() or {0})
    set_to(timer, cpu=cpu, variant="monotonic", optimisation="-O1", warmup="50")
    assert timer.form is not None
    line = timer.form.as_python()
    expected = (
        f'run = lab.measure("timer_overhead", "monotonic", samples=1_000, cpu={cpu}, '
        'warmup=50, flags="-O1", save="panel")'
    )
    assert line == expected
    assert "monotonic" in controls._line.value
    names: dict[str, Any] = {"lab": timer.session}
    exec(line, names)
    by_hand = names["run"].recording.conditions["command"]
    press(timer)
    assert timer.run is not None
    assert timer.run.recording.conditions["command"] == by_hand


def test_run_pressed_twice_is_one_run(slow: Panel) -> None:
    set_to(slow, samples="50", processes="1")

    async def pressed_twice() -> None:
        slow.controls.run.click()
        slow.controls.run.click()
        await until(lambda: slow.running and children())
        slow.controls.run.click()
        assert len(children()) == 1
        slow.cancel()
        await slow.finished()

    asyncio.run(pressed_twice())
    assert not children()


def test_cancel_ends_the_process_within_a_second(slow: Panel) -> None:
    set_to(slow, samples="1000", processes="1")

    async def cancelled() -> float:
        slow.controls.run.click()
        await until(lambda: "of 1,100 samples" in status(slow))
        assert len(children()) == 1
        begin = asyncio.get_running_loop().time()
        slow.controls.cancel.click()
        await slow.finished()
        return asyncio.get_running_loop().time() - begin

    assert asyncio.run(cancelled()) < 1.0
    assert not children()
    assert "Cancelled" in status(slow)
    assert not slow.running
    assert not (slow.session.folder / "recordings").exists()


def test_cancel_keeps_the_processes_that_have_finished(slow: Panel) -> None:
    set_to(slow, samples="30", processes="10", warmup="0")

    async def cancelled() -> None:
        slow.controls.run.click()
        await until(lambda: slow._progress.done >= 15)
        slow.controls.cancel.click()
        await slow.finished()

    asyncio.run(cancelled())
    assert not children() and not slow.running
    assert slow.run is not None and slow.session.runs["slow"] is slow.run
    whole = len(slow.run.recording.processes)
    assert 4 <= whole < 10
    assert f"Cancelled after {whole} of 10 processes. The result is from these." in status(slow)
    assert f"cancelled after {whole} of 10 processes" in slow.controls.result.value
    assert (slow.session.folder / "recordings/slow.csv").is_file()
    assert len(slow.kept) == 1 and slow.controls.bar.bar_style == "warning"


def test_what_the_time_limit_leaves_is_told(timer: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = measure.measure

    async def ended(*arguments: Any) -> file.Recording:
        made = await measured(*arguments)
        stated = run_conditions.cut_short_conditions(3, 17)
        return replace(made, conditions={**made.conditions, **stated})

    monkeypatch.setattr(measure, "measure", ended)
    press(timer)
    assert "Ended after 10 of 17 processes. The result is from these." in status(timer)


def test_a_panel_made_again_ends_the_run_that_nobody_sees_any_more(
    slow: Panel, lab: Session
) -> None:
    set_to(slow, samples="1000", processes="1")

    async def made_again() -> None:
        slow.controls.run.click()
        await until(children)
        lab.panel("timer_overhead", save="slow")
        await slow.finished()

    asyncio.run(made_again())
    assert not children()


@pytest.mark.parametrize(
    ("control", "value", "words"),
    [
        ("samples", "0", "0 is too small: choose a whole number from 1 to 100,000"),
        ("samples", "1e9", "1e9 is too large"),
        ("samples", "-5", "-5 is too small"),
        ("samples", "many", "“many” is not a whole number"),
        ("samples", "", "Type a whole number"),
        ("warmup", "-1", "-1 is too small"),
        ("processes", "0", "0 is too small"),
    ],
)
def test_a_bad_value_is_told_beside_it_at_once_and_on_run(
    timer: Panel, control: str, value: str, words: str
) -> None:
    field = getattr(timer.controls, control)
    good = field.control.value
    set_to(timer, **{control: value})
    assert words in field.wrong and words in field._note.value
    assert "lab.measure" not in timer.controls._line.value
    press(timer)
    assert f"{field.control.description}: {words}" in said(timer)
    assert "Nothing was measured" in status(timer) and not timer.kept
    set_to(timer, **{control: good})
    assert said(timer) == "None" and field._note.value == ""
    press(timer)
    assert "Done" in status(timer)


def test_a_cpu_that_went_away_is_told(timer: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    set_to(timer, cpu=min(surroundings.allowed_cpus() or {0}))
    monkeypatch.setattr(surroundings, "allowed_cpus", lambda: frozenset({4096}))
    press(timer)
    assert "this process may use CPU 4096" in said(timer)
    assert "cpu=" not in said(timer) and "--" not in said(timer)


def test_a_set_of_one_cpu_offers_that_cpu(lab: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "allowed_cpus", lambda: frozenset({3}))
    assert [words for words, _ in lab.panel("timer_overhead").controls.cpu.control.options] == [
        "not pinned",
        "CPU 3",
    ]


def test_a_system_without_pinning_says_so(lab: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "allowed_cpus", lambda: None)
    made = lab.panel("timer_overhead")
    (only,) = made.controls.cpu.control.options
    assert only[0] == "not pinned (this system cannot)"
    assert not made.controls.cpu.usable and "cannot pin" in made.controls.cpu._note.value
    assert made.form is not None and made.form.cpu is None


def test_the_menu_for_a_second_cpu_is_there_only_for_two_tasks(timer: Panel) -> None:
    assert timer.controls.peer_cpu is None


def test_it_is_there_where_a_variant_has_a_cpu_for_each(lab: Session) -> None:
    assert lab.panel("process_switch").controls.peer_cpu is not None
    assert lab.panel("switch_footprint").controls.peer_cpu is None


def test_without_a_compiler_the_panel_says_how_to_get_one(
    lab: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    made = lab.panel("timer_overhead", ("fenced",))
    assert "no C compiler" in said(made)
    press(made)
    assert "no C compiler" in said(made)
    monkeypatch.delenv("CC")
    press(made)
    assert "Done" in status(made)


def test_a_compile_error_is_told_in_the_panel(lab: Session) -> None:
    source = lab.folder / "broken.c"
    source.write_text("int main(void) { return nothing; }\n")
    made = lab.panel(str(source))
    assert "broken.c, line 1" in said(made)
    press(made)
    assert "broken.c, line 1" in said(made)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_what_cannot_be_saved_is_shown_all_the_same(
    timer: Panel, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(contents: object) -> None:
        raise files.CannotWrite(number, files.REMEDIES[number])

    monkeypatch.setattr(file, "write_together", refuse)
    press(timer)
    assert files.REMEDIES[number] in said(timer)
    assert "Not saved" in timer.controls.result.value
    monkeypatch.undo()
    press(timer)
    assert timer.message is None
    assert "recordings/panel.csv" in timer.controls.result.value


def test_a_fault_of_ours_is_told_too(timer: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(plan: measure.Plan, *_: object) -> Awaitable[None]:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(measure, "measure", fault)
    press(timer)
    assert "ZeroDivisionError: a fault" in said(timer)
    assert not timer.running


def test_a_panel_in_another_unit_shows_and_writes_it(lab: Session) -> None:
    panel = lab.panel("timer_overhead", unit="us")
    set_to(panel, samples="1000")
    press(panel)
    assert panel.run is not None and panel.run.unit == panel.kept[-1].unit == "us"
    assert panel.form is not None and 'unit="us"' in panel.form.as_python()
    assert [each.unit for each in lab.panel("timer_overhead").kept] == ["us"]


def test_outside_a_notebook_the_panel_names_the_line_of_python(timer: Panel) -> None:
    timer.start()
    assert timer.form is not None and timer.form.as_python() in said(timer)


def test_every_control_has_a_label(timer: Panel) -> None:
    controls = timer.controls
    assert all(field.control.description for field in controls.fields())
    assert controls.run.description and controls.cancel.description
    assert "Samples, on a logarithmic scale from 10 to 100,000" in controls._slider_words.value


def test_a_menu_never_shows_nothing(timer: Panel) -> None:
    menus = (timer.controls.variant, timer.controls.cpu, timer.controls.optimisation)
    assert [menu.control.index is None for menu in menus] == [False, False, False]


def test_the_slider_stands_where_the_number_is() -> None:
    for samples in (10, 11, 100, 999, 12_345, 100_000):
        assert panel_form.slider_agrees(samples, panel_form.slider_place(samples))


def test_a_form_makes_its_plan() -> None:
    plan = Form("timer_overhead", "fenced", 500, warmup=5, processes=2, flags="-O1 -g").plan()
    assert plan == plan_of(
        "timer_overhead", "fenced", samples=500, warmup=5, processes=2, flags="-O1 -g"
    )
