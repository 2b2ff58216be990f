"""The panel of two labs, in the notebook that a student gets, opened in headless Chromium.

They differ in what can be set. `test_notebooks.py` presses Run in the panel of every lab.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Locator, Page, expect

from bench.labs import jupyterlab
from grader.with_nbgrader.release import release
from labs.commands.start import update_copy
from labs.recording import file
from testing.paths import REPOSITORY

NOTEBOOKS = REPOSITORY / "notebooks"
#: A panel whose optimisation is changed, and one whose variants have a CPU for each task.
NAMES = ("04-procedure-call", "06-process-and-thread-switch")

#: What can be set in every lab, and what beside it where the panel offers a variant whose second
#: task has a CPU of its own.
SETTINGS = ("Samples", "Variant", "CPU", "Warm-up", "Processes", "Optimisation")
WITH_A_PEER = ("06-process-and-thread-switch",)
SAMPLES, PROCESSES = 200, 2
#: `test_browser.py` starts Jupyter kernels anew; here the labs have forks.
SERVE = f"""
from testing import forked
with forked.kernels():
    {jupyterlab.SERVE}
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[jupyterlab.Server]:
    """A student's copy of the labs as they are now, served."""
    folder = tmp_path_factory.mktemp("student")
    release(NOTEBOOKS, folder / "released")
    update_copy(folder / "released", folder / "labs")
    with jupyterlab.served(folder / "labs", folder / "jupyter", SERVE) as serving:
        yield serving


@pytest.fixture(scope="module")
def page(server: jupyterlab.Server) -> Iterator[Page]:
    """One JupyterLab for both labs: to load it takes longer than all that is done in a lab."""
    with jupyterlab.chromium() as browser:
        yield jupyterlab.without_notebook(server, browser.new_context())


@pytest.mark.parametrize("name", NAMES)
def test_the_panel_has_every_setting_runs_draws_and_saves(
    name: str, server: jupyterlab.Server, page: Page
) -> None:
    with jupyterlab.opened_in(page, server, f"{name}/{name}.ipynb") as notebook:
        (cell,) = notebook.panel_cells
        for each in ("begin", cell):
            notebook.run(each)
            assert notebook.complaints(each) == []
        panel = notebook.panel(cell)
        labelled = [*SETTINGS, *(["Peer's CPU"] if name in WITH_A_PEER else [])]
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
    if name == "06-process-and-thread-switch" and len(allowed) > 1:
        panel.get_by_label("Variant").select_option("pipe-two-cpus")
        panel.get_by_label("Peer's CPU").select_option(f"CPU {allowed[1]}")
        expect(line).to_contain_text(f", peer_cpu={allowed[1]}")
        asked["peer"] = str(allowed[1])
    levels = panel.get_by_label("Optimisation").locator("option")
    expect(levels).to_have_text(["-O0", "-O1", "-O2", "-O3"])
    if name == "04-procedure-call":
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
