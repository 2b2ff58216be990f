"""The form of a prediction in JupyterLab, in headless Chromium, and later on the saved page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from bench.labs import jupyterlab
from bench.labs.jupyterlab import command, wait_for
from labs.course import predictions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]

LAB, ID = "02-first-iteration", "first-iteration-call"
CELLS = (
    "from pathlib import Path\nfrom labs.notebook.session import Session",
    f'lab = Session("{LAB}", Path.cwd())',
    f'lab.predict("{ID}")',
)


def notebook() -> str:
    cells: list[dict[str, object]] = [
        {
            "id": f"cell-{number}", "cell_type": "code", "source": source, "metadata": {},
            "outputs": [], "execution_count": None,
        }
        for number, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {
            "cells": cells,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def test_a_prediction_is_typed_stored_and_seen_again(tmp_path: Path) -> None:
    folder = tmp_path / "labs"
    folder.mkdir()
    path = folder / "form.ipynb"
    path.write_text(notebook())
    line = f'lab.predict("{ID}", 1000, "ns", because="dd x", sure=0.6)'
    with (
        jupyterlab.served(folder, tmp_path / "jupyter") as server,
        jupyterlab.chromium() as browser,
    ):
        context = browser.new_context()
        with jupyterlab.opened(server, context, path.name) as opened:
            page = opened.page
            command(page, "Restart Kernel and Run All Cells")
            form = page.locator(".ticklab-form")
            form.get_by_label("Number").focus()
            page.keyboard.type("1e3")
            expect(form.get_by_role("status")).to_have_text("That is 1,000 ns.")
            expect(form.get_by_label("Unit")).to_have_value("ns")
            for words in ("", "dd x", "60"):
                page.keyboard.press("Tab")
                page.keyboard.type(words)
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            expect(form.get_by_role("status")).to_have_text("Stored.")
            expect(page.locator("pre code", has_text="lab.predict")).to_have_text(line)
            (made,) = predictions.read(folder)[ID]
            assert (made.value, made.unit, made.because, made.sure) == (1000, "ns", "dd x", 0.6)
            assert len(page.locator(".jp-CodeCell").all()) == len(CELLS), "no key cut a cell"
            command(page, "Save Notebook")
            wait_for(lambda: "prediction stored" in path.read_text(), 30.0, "the page is saved")
        with jupyterlab.opened(server, context, path.name) as again:
            expect(again.page.locator("pre code", has_text="lab.predict")).to_have_text(line)
            expect(again.page.locator(".jp-Notebook")).to_contain_text("prediction stored")
