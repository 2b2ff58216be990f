"""A student's way through the panel: JupyterLab in headless Chromium, by mouse and by keyboard.

All tests share one JupyterLab and one Chromium: to load them takes longer than all that is done in
a test.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Locator, Page, expect

from bench.labs import accessible, jupyterlab
from bench.labs.jupyterlab import Server, command, plot_of, status_of, wait_for
from labs.course import answers, predictions
from labs.recording import file
from support.notebook_as_markdown import of_code
from support.paths import REPOSITORY

#: Its own name, so that no other process of this machine is taken for it.
SLOW = f"slow_{os.getpid()}"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes"),
]

#: An interval of a quarter of a millisecond a batch: 2,000 samples take about a second.
SLOW_SOURCE = """
#define _GNU_SOURCE
#include "harness.h"

static uint64_t spin(long batch)
{
    const uint64_t begin = clock_ns(REFERENCE_CLOCK);
    uint64_t now = begin;
    while (now - begin < (uint64_t)batch * 250000u)
        now = clock_ns(REFERENCE_CLOCK);
    return now - begin;
}

static uint64_t read_clock(void)
{
    return clock_ns(REFERENCE_CLOCK);
}

static const struct variant variants[] = {
    {.name = "spin", .about = "waits", .interval = spin, .read = read_clock, .frequency_hz = 1e9}};
static const long batches[] = {1, 2, 3};

int main(int argc, char **argv)
{
    static const struct c_kernel kernel = {
        .name = "slow", .about = "waits", LISTED_VARIANTS(variants), LISTED_BATCHES(batches),
        .batches_fixed = 1};
    return measure(&kernel, argc, argv);
}
"""

CELLS = (
    'from labs import start\nlab = start("panels")',
    'lab.panel("timer_overhead")',
    f'lab.panel("{SLOW}.c", save="slow")',
)

#: A machine that shares its core adds processes, so the number of samples may be larger than asked.
DONE = re.compile(r"Done: [\d,]+ samples")


#: A notebook of its own: C under the magic, and Python that looks a little like it.
COLOURED = ("%%ckernel own\n/* a comment */ static int seven = 7;", "seven = 7 # /* none */")

#: The lab and the id of a prediction, and cells that ask for it and for an answer.
LAB, ID = "02-first-iteration", "first-iteration-call"
FORM = (
    "from pathlib import Path\nfrom labs.notebook.session import Session",
    f'lab = Session("{LAB}", Path.cwd())',
    f'lab.predict("{ID}")',
    'lab.answer("wrong")',
)


#: Two labs that differ in what can be set: a panel whose optimisation is changed, and one whose
#: variants have a CPU for each task. `test_notebooks.py` presses Run in the panel of every lab.
LABS = ("04-procedure-call", "06-process-and-thread-switch")
#: What can be set in every lab; the second one has the CPU of the second task beside it.
SETTINGS = ("Samples", "Variant", "CPU", "Warm-up", "Processes", "Optimisation")
SAMPLES, PROCESSES = 200, 2


def slow_processes() -> list[psutil.Process]:
    """The processes of the slow C kernel that live, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == SLOW and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("panels")
    (folder / f"{SLOW}.c").write_text(SLOW_SOURCE)
    notebooks = {"panels": CELLS, "alone": (*CELLS, *FORM), "colours": COLOURED}
    for name, sources in notebooks.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(of_code(*sources)))
    for name in LABS:
        shutil.copytree(REPOSITORY / "build" / "released" / name, folder / name)
    with jupyterlab.served(folder, tmp_path_factory.mktemp("jupyter")) as serving:
        yield serving


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with jupyterlab.chromium() as browser:
        yield browser.new_context()


@pytest.fixture(scope="module")
def shared(server: Server, context: Any) -> Iterator[Page]:
    """One page for most tests."""
    with jupyterlab.opened(server, context, "panels.ipynb") as notebook:
        yield notebook.page


@pytest.fixture
def page(shared: Page) -> Iterator[Page]:
    """The notebook, all cells run again: its panels and its session are new."""
    clear(shared)
    run_all(shared)
    yield ready(shared)
    kill_slow_processes()


@pytest.fixture
def restarted(shared: Page) -> Iterator[Page]:
    """The notebook, all cells run by a new Jupyter kernel; it has the focus."""
    clear(shared)
    command(shared, "Restart Kernel and Run All Cells")
    yield ready(shared)
    kill_slow_processes()


@pytest.fixture
def emptied(shared: Page) -> Page:
    """JupyterLab after the notebook is closed."""
    shared.evaluate("() => { jupyterapp.shell.currentWidget?.dispose() }")
    return shared


def clear(page: Page) -> None:
    """Removes all outputs of the notebook, so that no old panel is taken for a new one."""
    page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    expect(page.locator(".ticklab-panel")).to_have_count(0)


def run_all(page: Page) -> None:
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")


def ready(page: Page) -> Page:
    """The same page, when both panels can be used."""
    for name in ("timer_overhead", SLOW):
        expect(status_of(panel(page, name))).to_have_text("Ready.")
    return page


def kill_slow_processes() -> None:
    for process in slow_processes():
        process.kill()


def panel(page: Page, kernel: str) -> Locator:
    """The panel of one C kernel."""
    title = page.locator(".ticklab-title", has_text=kernel)
    return page.locator(".ticklab-panel").filter(has=title)


def start_slow_run(page: Page) -> Locator:
    """A run of about half a minute, seen to make progress."""
    slow = panel(page, SLOW)
    slow.get_by_label("Samples", exact=True).fill("50000")
    slow.get_by_label("Processes").fill("1")
    slow.get_by_role("button", name="Run").click()
    expect(status_of(slow)).to_contain_text("of 50,100 samples")
    assert len(slow_processes()) == 1
    return slow


def test_a_run_is_saved_and_drawn(page: Page, server: Server) -> None:
    timer = panel(page, "timer_overhead")
    timer.get_by_label("Samples", exact=True).fill("10000")
    cpu = min(os.sched_getaffinity(0))
    timer.get_by_label("CPU").select_option(f"CPU {cpu}")
    line = f'run = lab.measure("timer_overhead", "fenced", samples=10_000, cpu={cpu}, save="panel")'
    expect(timer.locator("code").first).to_have_text(line)
    timer.get_by_role("button", name="Run").click()
    expect(status_of(timer)).to_contain_text(DONE)
    plot = plot_of(timer)
    expect(plot).to_have_attribute("alt", re.compile("^Samples of timer_overhead fenced"))
    expect(plot).to_be_visible()
    assert plot.evaluate("image => image.naturalWidth") > 600
    expect(timer).to_contain_text("timer_overhead fenced: overhead")
    recording = (server.folder / "recordings" / "panel.csv").read_text()
    assert f"# cpu.asked: {cpu}\n" in recording
    for theme in ("dark", "light"):
        jupyterlab.theme(page, theme)
        assert accessible.violations(timer) == []


def test_progress_is_seen_and_run_keeps_the_focus_while_a_run_goes_on(page: Page) -> None:
    slow = panel(page, SLOW)
    slow.get_by_label("Samples", exact=True).fill("2e3")
    run = slow.get_by_role("button", name="Run")
    run.focus()
    page.keyboard.press("Enter")
    expect(status_of(slow)).to_contain_text(re.compile(r"[1-9]\d?%: "))
    expect(run).to_be_focused()
    expect(plot_of(slow)).to_be_visible()
    expect(run).to_be_focused()


def test_cancel_ends_the_c_process_within_a_second(page: Page) -> None:
    slow = start_slow_run(page)
    slow.get_by_role("button", name="Cancel").click()
    assert wait_for(lambda: not slow_processes(), 1.0, "the C process is gone") < 1.0
    expect(status_of(slow)).to_contain_text("Cancelled")


def test_run_pressed_twice_is_one_run(page: Page) -> None:
    slow = panel(page, SLOW)
    slow.get_by_label("Samples", exact=True).fill("2000")
    slow.get_by_label("Processes").fill("1")
    # Both clicks are on their way before the first can have disabled the button.
    slow.get_by_role("button", name="Run").evaluate("run => { run.click(); run.click(); }")
    expect(status_of(slow)).to_contain_text("%")
    assert len(slow_processes()) == 1
    expect(status_of(slow)).to_contain_text("Done: 2,000 samples")
    assert not slow_processes()


def test_a_bad_value_is_named_and_the_panel_stays_usable(page: Page) -> None:
    timer = panel(page, "timer_overhead")
    timer.get_by_label("Samples", exact=True).fill("0")
    expect(timer.get_by_role("alert")).to_contain_text("choose a whole number from 1 to 100,000")
    timer.get_by_role("button", name="Run").click()
    expect(status_of(timer)).to_contain_text("Nothing was measured")
    timer.get_by_label("Samples", exact=True).fill("1e3")
    expect(timer.get_by_role("alert")).to_have_count(0)
    expect(timer.locator("code").first).to_contain_text("samples=1_000")
    timer.get_by_role("button", name="Run").click()
    expect(status_of(timer)).to_contain_text(DONE)


def test_a_result_of_other_settings_is_marked(page: Page) -> None:
    timer = panel(page, "timer_overhead")
    samples = timer.get_by_label("Samples", exact=True)
    jupyterlab.run_panel(timer, 200, 2)
    words = timer.get_by_text("This result is of other settings.")
    expect(words).to_have_count(0)
    samples.fill("300")
    expect(words).to_be_visible()
    samples.fill("0.2k")
    expect(words).to_have_count(0)


def test_the_keyboard_alone_suffices(restarted: Page) -> None:
    page = restarted

    def tab_to(locator: Locator) -> None:
        for _ in range(60):
            if locator.evaluate("element => element === document.activeElement"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not reach {locator}")

    slow = panel(page, SLOW)
    status = status_of(slow)
    tab_to(slow.get_by_label("Samples", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type("50000")
    slider = slow.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "50,000 samples")
    expect(slider).to_have_accessible_name(re.compile("^Samples, on a logarithmic scale"))
    tab_to(slider)
    page.keyboard.press("ArrowRight")
    expect(slow.get_by_label("Samples", exact=True)).to_have_value("56,000")
    expect(slider).to_have_attribute("aria-valuetext", "56,000 samples")
    tab_to(slow.get_by_label("CPU"))
    page.keyboard.press("ArrowDown")
    expect(slow.locator("code").first).to_contain_text("cpu=")
    run = slow.get_by_role("button", name="Run")
    tab_to(run)
    outline = run.evaluate(
        "run => { const s = getComputedStyle(run);"
        " return [s.outlineStyle, parseFloat(s.outlineWidth)]; }"
    )
    assert outline[0] == "solid" and outline[1] >= 2
    page.keyboard.press("Enter")
    expect(status).to_contain_text("%")
    expect(run).to_be_focused()
    tab_to(slow.get_by_role("button", name="Cancel"))
    page.keyboard.press("Space")
    expect(status).to_contain_text("Cancelled")
    expect(slow.get_by_role("button", name="Cancel")).to_be_focused()
    assert not slow_processes()


def test_restarting_the_jupyter_kernel_leaves_no_process(page: Page) -> None:
    start_slow_run(page)
    command(page, "Restart Kernel…")
    wait_for(lambda: not slow_processes(), 10.0, "the C process ends with its Jupyter kernel")


# The tests below close the shared notebook, and end every Jupyter kernel.


def test_c_in_a_cell_has_the_colours_of_c(emptied: Page, server: Server) -> None:
    with jupyterlab.opened_in(emptied, server, "colours.ipynb") as notebook:
        in_c, in_python = (notebook.cell(f"cell-{number}") for number in (0, 1))
        # One token: in Python this text is several.
        comment = re.compile(r"^/\* \w+( comment)? \*/$")
        expect(in_c.locator(".cm-line span", has_text=comment)).to_have_count(1)
        expect(in_python.locator(".cm-line span", has_text=comment)).to_have_count(0)
        in_c.locator(".cm-content").click()
        notebook.page.keyboard.press("Control+Home")
        notebook.page.keyboard.press("Delete")
        expect(in_c.locator(".cm-line span", has_text=comment)).to_have_count(0)
        notebook.page.keyboard.type("%")
        expect(in_c.locator(".cm-line span", has_text=comment)).to_have_count(1)


@pytest.mark.parametrize("name", LABS)
def test_the_panel_of_a_lab_has_every_setting_runs_draws_and_saves(
    name: str, server: Server, emptied: Page
) -> None:
    with jupyterlab.opened_in(emptied, server, f"{name}/{name}.ipynb") as notebook:
        (cell,) = notebook.panel_cells
        for each in ("begin", cell):
            notebook.run(each)
            assert notebook.complaints(each) == []
        panel = notebook.panel(cell)
        labelled = [*SETTINGS, *(["Peer's CPU"] if name == LABS[1] else [])]
        for label in labelled:
            expect(panel.get_by_label(label, exact=True)).to_be_visible()
        expect(panel.get_by_role("slider")).to_have_count(1)
        expect(panel.locator("input, select")).to_have_count(len(labelled))

        asked = set_and_expect_the_line(panel, name)
        plot = jupyterlab.run_panel(panel, SAMPLES, PROCESSES)
        expect_a_plot_in_words_too(panel, plot)
        assert notebook.complaints(cell) == []
        expect(panel.get_by_role("alert")).to_have_count(0)

        save = re.search(r'save="(\w+)"', notebook.code[cell])
        assert save is not None
        expect_the_recording(server.folder / name / "recordings" / f"{save[1]}.csv", asked)


def set_and_expect_the_line(panel: Locator, name: str) -> dict[str, str]:
    """Choose a CPU, and what the lab is about: another CPU for the peer, an optimisation level.

    Each choice shows in the line of Python. Returns what the recording is to say of it, by its key.
    """
    line = panel.locator("code").first
    allowed = sorted(os.sched_getaffinity(0))
    panel.get_by_label("CPU", exact=True).select_option(f"CPU {allowed[0]}")
    expect(line).to_contain_text(f", cpu={allowed[0]}")
    asked = {"cpu.asked": str(allowed[0]), "flags": "-O2"}
    if name == LABS[1] and len(allowed) > 1:
        panel.get_by_label("Variant").select_option("pipe-two-cpus")
        panel.get_by_label("Peer's CPU").select_option(f"CPU {allowed[1]}")
        expect(line).to_contain_text(f", peer_cpu={allowed[1]}")
        asked["peer"] = str(allowed[1])
    levels = panel.get_by_label("Optimisation").locator("option")
    expect(levels).to_have_text(["-O0", "-O1", "-O2", "-O3"])
    if name == LABS[0]:
        panel.get_by_label("Optimisation").select_option("-O0")
        expect(line).to_contain_text('flags="-O0"')
        asked["flags"] = "-O0"
    return asked


def expect_a_plot_in_words_too(panel: Locator, plot: Locator) -> None:
    expect(plot).to_be_visible()
    assert plot.evaluate("image => image.naturalWidth") > 600
    kernel = panel.locator(".ticklab-title").inner_text().removeprefix("Measure ")
    variant = panel.get_by_label("Variant").locator("option:checked").inner_text()
    expect(plot).to_have_attribute(
        "alt", re.compile(f"^Samples of {kernel} {variant}: .+ Median at .+")
    )
    panel.locator("summary", has_text="as a table").first.click()
    expect(
        panel.get_by_role("table", name=re.compile(f" of {kernel} {variant}, in "))
    ).to_be_visible()
    expect(panel.get_by_role("table", name="Runs of this panel")).to_be_visible()
    expect(panel).to_contain_text(f"{kernel} {variant}: ")


def expect_the_recording(path: Path, asked: dict[str, str]) -> None:
    saved = file.read(path)
    peer = re.search(r"--peer-cpu (\d+)", saved.conditions["command"])
    stated = {**saved.conditions, **({"peer": peer[1]} if peer else {})}
    assert {key: stated.get(key) for key in asked} == asked
    assert len(saved.processes) == PROCESSES
    # What is asked for is taken by each process in equal shares.
    assert saved.conditions["samples"] == str(SAMPLES // PROCESSES)
    assert all(len(saved.samples(variant)) for variant in saved.variants)


def test_a_saved_page_shows_the_last_result_the_way_back_and_what_was_typed(
    server: Server, emptied: Page
) -> None:
    """A panel and two forms in one notebook, because to load JupyterLab takes longest."""
    page = emptied
    with jupyterlab.opened_in(page, server, "alone.ipynb"):
        run_all(page)
        ready(page)
        timer = panel(page, "timer_overhead")
        # Settings that no other test here has: the panel also shows the runs of those.
        jupyterlab.run_panel(timer, 230, 2)
        cell = page.locator(".jp-Cell").filter(has=page.locator(".ticklab-kept")).first
        kept = cell.locator(".ticklab-kept")
        table = timer.get_by_role("table", name="Runs of this panel")
        expect(table).to_contain_text("fenced, 230 samples, 2 processes")
        expect(kept).to_be_hidden()
        # It arrives after the table: a notebook that is saved in between would lack the result.
        expect(kept).to_contain_text("fenced, 230 samples, 2 processes")
        line = type_a_prediction(page, server.folder)
        type_an_answer(page, server.folder)
        assert len(page.locator(".jp-CodeCell").all()) == len(CELLS) + len(FORM), (
            "no key cut a cell"
        )
        saved = server.folder / "alone.ipynb"
        before = saved.stat().st_mtime_ns
        command(page, "Save Notebook")
        wait_for(lambda: saved.stat().st_mtime_ns > before, 20.0, "the notebook is saved")
        wait_for(lambda: "Prediction stored" in saved.read_text(), 30.0, "the form is saved")
        jupyterlab.end_jupyter_kernels(server, page)
        page.goto(f"{server.address}lab/tree/alone.ipynb?token={jupyterlab.TOKEN}&reset")
        expect(kept).to_be_visible()
        words = "run the first cell of the lab, and then this one (Shift+Enter)"
        expect(kept).to_contain_text(words)
        expect(plot_of(kept)).to_be_visible()
        expect(page.get_by_text("Error displaying widget")).to_be_hidden()
        expect(page.locator("pre code", has_text="lab.predict")).to_have_text(line)
        expect(page.locator(".jp-Notebook")).to_contain_text("Prediction stored")


def type_a_prediction(page: Page, folder: Path) -> str:
    """By keyboard; returns the line of Python that does the same."""
    form = page.locator(".ticklab-form").first
    form.get_by_label("Number").focus()
    page.keyboard.type("1e3")
    expect(form.get_by_role("status")).to_have_text("That is 1,000 ns.")
    expect(form.get_by_label("Unit")).to_have_value("ns")
    for words in ("", "dd x", "0.6"):
        page.keyboard.press("Tab")
        page.keyboard.type(words)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(form.get_by_role("status")).to_have_text("Stored.")
    line = f'lab.predict("{ID}", 1000, "ns", because="dd x", sure=0.6)'
    expect(page.locator("pre code", has_text="lab.predict")).to_have_text(line)
    (made,) = predictions.read(folder)[ID]
    assert (made.value, made.unit, made.because, made.sure) == (1000, "ns", "dd x", 0.6)
    return line


def type_an_answer(page: Page, folder: Path) -> None:
    """By keyboard; it is kept, and the explanation is shown beside it."""
    page.get_by_label("Your words").focus()
    for line in ("dd It is cold.", "And it is slow."):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Explanation", exact=True)).to_be_visible()
    (made,) = answers.read(folder)["wrong"]
    assert made.text == "dd It is cold.\nAnd it is slow."
