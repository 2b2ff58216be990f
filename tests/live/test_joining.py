"""`lab.join` in a notebook: what leaves is in the output of its cell, before it leaves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader import check
from labs import start
from labs.course.in_class import Shared, shared_from
from labs.messages import Refused
from support.live_class import LAB, counts, running
from support.paths import FIXTURES

HONEST = FIXTURES / "honest_runs" / "03-system-call-counter-5-ghz"
CELLS = (
    'from labs import start\nfrom grader import check\nlab = start("03-system-call", check)',
    'lab.predict("system-call-getppid", 200, "ns", sure=0.5)',
    'lab.join("{code}", "{address}")',
    # As a form stores it: the notebook itself does nothing afterwards.
    """
from labs.course import predictions
import pathlib, time, urllib.request
new = predictions.Prediction(321, "ns")
predictions.put(pathlib.Path(), "system-call-getppid", new)
while lab._member._shared.predictions["system-call-getppid"].value != 321:
    time.sleep(0.05)
""",
    "lab.leave()",
)


def executed(folder: Path, cells: list[str], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outputs of these cells as text, in a Jupyter kernel of its own in `folder`."""
    monkeypatch.setenv("TICKLAB_CACHE", str(folder.parent / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    made = [nbformat.v4.new_code_cell(each) for each in cells]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=made)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return [
        "\n".join(
            output.get("text", "") or output["data"].get("text/plain", "")
            for output in cell.outputs
        )
        for cell in notebook.cells
    ]


@pytest.mark.slow
def test_a_notebook_joins_shows_and_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(HONEST, tmp_path / LAB))
    shutil.rmtree(folder / "recordings" / "calls.csv", ignore_errors=True)
    with running(tmp_path / "server", "--share", "127.0.0.1") as room:
        cells = [
            each.format(code=room.code, address=room.address) if "lab.join" in each else each
            for each in CELLS
        ]
        *_, joined, _, left = executed(folder, cells, monkeypatch)
        assert "What leaves this machine" in joined
        assert "321 ns" in joined  # the same output, as it is now
        assert "you are in the class as" in joined
        assert "you have left the class" in left
        assert counts(room.wall(room.cookie(room.wall_link)))["here"] == 0


def test_only_numbers_kinds_and_codes_leave() -> None:
    shared = shared_from(HONEST, {"system-call-getppid": ["unit-slip"]})
    assert set(Shared.model_fields) == {"version", "predictions", "figures"}
    found = shared.figures["system-call-getppid"]
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    assert found.findings == ["unit-slip"]
    assert "system-call-trap-share" not in shared.figures  # a conclusion is no number
    text = shared.model_dump_json()
    assert "recordings" not in text


def test_the_finding_on_a_figure_leaves_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(HONEST, tmp_path / LAB))
    stated = json.loads((folder / "figures.json").read_text())
    stated["system-call-getppid"]["value"] *= 1000
    (folder / "figures.json").write_text(json.dumps(stated))
    start(LAB, check, folder).join(send=False)
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "unit-slip" in line)
    assert row.startswith("system-call-getppid")


def test_a_session_says_what_would_leave_and_that_it_is_in_no_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    lab = start(LAB, folder=Path(shutil.copytree(HONEST, tmp_path / LAB)))
    lab.join("kiwi-4207", "192.0.2.7:8766", send=False)
    assert "What leaves this machine" in capsys.readouterr().out
    with pytest.raises(Refused, match="you are in no class"):
        lab.leave()
    with pytest.raises(Refused, match="no address"):
        lab.join("kiwi-4207", "ftp://x")
