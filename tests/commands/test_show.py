"""`labs show`: what a saved recording says, from the recording alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labs import limits
from labs.commands.cli import main
from labs.commands.show import MOST_DRAWN
from labs.recording.file import read
from labs.results.result import result_of, sensible
from labs.terminal import typeset
from support.paths import FIXTURES

SAVED = FIXTURES / "honest" / "02-first-iteration" / "recordings" / "cold.csv"
LINE = FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recording in a folder of its own; it is the current one."""
    (tmp_path / "recordings").mkdir()
    shutil.copy(SAVED, tmp_path / "recordings" / "run.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_each_variant_with_its_figure_and_plots(here: Path) -> None:
    assert main(["show", "recordings/run.csv"]) == 0
    page = (here / "run.html").read_text(encoding="utf-8")
    for variant in ("call", "system-call", "lazy-binding"):
        assert typeset(result_of(read(SAVED), variant, "ns").sentence()) in page
        assert f">{variant}</h2>" in page
    assert page.count('class="ticklab-plot"') == 2 + 2 * 3  # both of all; no line
    assert "http" not in page.replace("http%3A//www.w3.org/2000/svg", "").replace(
        "http://www.w3.org", ""
    )
    assert [each.name for each in (here / "recordings").iterdir()] == ["run.csv"]


def test_a_run_with_a_line_has_a_plot_of_it(here: Path) -> None:
    assert main(["show", str(LINE), "--output", "line.html"]) == 0
    assert "Line plot of" in (here / "line.html").read_text(encoding="utf-8")
    assert main(["show", "recordings/run.csv"]) == 0
    assert "Line plot of" not in (here / "run.html").read_text(encoding="utf-8")


def test_a_page_without_its_ending_gets_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "recordings/run.csv", "--output", "page"]) == 0
    assert (here / "page.html").is_file() and not (here / "page").exists()
    assert "page: page.html" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["none.csv", "recordings", "link.csv", "large.csv"])
def test_an_error_names_the_file_once(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "link.csv").symlink_to("recordings/run.csv")
    with (here / "large.csv").open("wb") as file:
        file.truncate(limits.MOST_RECORDING_BYTES + 1)
    assert main(["show", name]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"labs show: {name}: ") and said.count(name) == 1


def test_text_goes_to_the_terminal_in_the_unit_that_is_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["show", "recordings/run.csv", "--text", "--variant", "system-call", "--unit", "us"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    figure = result_of(read(SAVED), "system-call", "us").estimate
    assert figure is not None
    answer = f"first_iteration system-call: extra cost of the first time {sensible(figure)[0]} µs\n"
    assert printed.startswith(answer)
    assert "lazy-binding" not in printed
    assert "What the recording states" in printed
    assert not list(here.glob("*.html"))


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["recordings/run.csv", "--variant", "cal"], 2, "it has call, "),
        (["recordings/run.csv", "--unit", "hours"], 2, "hours"),
        (["recordings/none.csv"], 1, "none.csv"),
        (["recordings"], 1, "recordings"),
        (["other.csv"], 1, "does not begin with '# ticklab recording: 1'"),
        (["recordings/run.csv", "--output", "other.html"], 1, "was not made by `labs show`"),
        (["recordings/run.csv", "--output", "missing/run.html"], 1, "missing"),
    ],
)
def test_what_cannot_be_shown_is_named_and_nothing_is_lost(
    options: list[str], status: int, said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("other.csv", "other.html"):
        (here / name).write_text("batch,ticks\n1,2\n", encoding="utf-8")
    assert main(["show", *options]) == status
    assert said in capsys.readouterr().err
    for name in ("other.csv", "other.html"):
        assert (here / name).read_text(encoding="utf-8") == "batch,ticks\n1,2\n"
    assert [each.name for each in here.glob("**/*.html")] == ["other.html"]


def test_text_of_a_recording_stays_text(here: Path) -> None:
    hostile = (here / "recordings" / "run.csv").read_bytes()
    hostile = hostile.replace(b"# os: Linux", b"# os: <script>alert(1)</script>")
    hostile = hostile.replace(b"AMD EPYC", b"<img src=x onerror=alert(1)>")
    (here / "bad.csv").write_bytes(hostile)
    assert main(["show", "bad.csv"]) == 0
    page = (here / "bad.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_a_page_does_not_draw_thousands_of_variants(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = SAVED.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    columns, first = [line for line in lines if not line.startswith("#")][:2]
    place = columns.split(",").index("variant")
    rows, clocks = [], []
    for number in range(MOST_DRAWN + 1):
        cells = first.split(",")
        cells[place] = f"v{number}"
        rows.append(",".join(cells))
        clocks += [f"# clock.v{number}.frequency_hz: 2e9", f"# clock.v{number}.step: 1"]
    kept = [line for line in head if not line.startswith("# samples.")]
    text = "\n".join([*kept, *clocks, columns, *rows]) + "\n"
    (here / "many.csv").write_text(text, encoding="utf-8")
    assert main(["show", "many.csv"]) == 2
    assert f"holds {MOST_DRAWN + 1} variants; name at most" in capsys.readouterr().err
    assert main(["show", "many.csv", "--variant", "v1,v2"]) == 0
