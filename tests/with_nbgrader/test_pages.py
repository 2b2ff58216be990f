"""The author's notebooks on saved recordings get full points, and the pages made from their runs
are all there, readable without eyes or network, and without solutions."""

from __future__ import annotations

import functools
import html
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader import lab_pages as pages
from grader.figures import LABS, figure_named
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_figure, check_folder, lab_of
from grader.lab_pages import NOTEBOOKS, build
from grader.lab_pages import __main__ as command
from grader.with_nbgrader.release import release
from labs import paths
from labs.course import guide, progress
from labs.recording import file
from support import forked
from support.notebook_as_markdown import of_code
from support.paths import FIXTURES, REPOSITORY

NAMES = sorted(path.parent.name for path in NOTEBOOKS.glob("*/*.ipynb"))

pytestmark = pytest.mark.slow


@dataclass
class Page(HTMLParser):
    """What a page holds, as a reader without a screen or a network meets it."""

    headings: list[int] = field(default_factory=list)
    images: list[dict[str, str | None]] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.images.append(given)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        # Everything that a browser fetches without being asked.
        self.fetched += [
            str(value)
            for name, value in attrs
            if value
            and (name in ("src", "srcset", "data", "poster") or (name, tag) == ("href", "link"))
        ]

    def handle_data(self, data: str) -> None:
        self.text += data


class Built:
    """The pages below `place`. Each is made when a test first asks for it, so the time that a test
    may take does not depend on how many labs there are."""

    def __init__(self, place: Path) -> None:
        self.folder, self.released = place / "html", place / "released"
        release(NOTEBOOKS, self.released)
        self._solved = place / "solved"
        self._pages: dict[str, Page] = {}
        self._troubles: dict[str, list[str]] = {}
        self._runs: dict[str, tuple[Path, pages.Rerun]] = {}

    def troubles(self, lab: str) -> list[str]:
        """What the page of a lab lacks."""
        if lab not in self._troubles:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pages, "_run", functools.partial(self._run_and_keep, pages._run))
                self._troubles[lab] = build(self.released, self.folder, only=[lab])
        return self._troubles[lab]

    def _run_and_keep(
        self, run: Callable[[Path, str], pages.Rerun], lab: Path, first: str
    ) -> pages.Rerun:
        done = run(lab, first)
        self._runs[lab.name] = shutil.copytree(lab, self._solved / lab.name), done
        return done

    def run(self, lab: str) -> tuple[Path, pages.Rerun]:
        """The lab's folder as the author's notebook left it, and what each cell put out."""
        self.troubles(lab)
        return self._runs[lab]

    def file(self, name: str) -> Path:
        """The page of a lab, or the `index`, which is written with the page of any lab."""
        self.troubles(NAMES[0] if name == "index" else name)
        return self.folder / f"{name}.html"

    def html(self, name: str) -> str:
        return self.file(name).read_text("utf-8")

    def page(self, name: str) -> Page:
        if name not in self._pages:
            self._pages[name] = Page()
            self._pages[name].feed(self.html(name))
        return self._pages[name]


@pytest.fixture(scope="module", autouse=True)
def _kernels_are_forks() -> Iterator[None]:
    with forked.kernels():
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("lab", NAMES)
def test_every_cell_shows_what_it_showed_when_it_was_recorded(built: Built, lab: str) -> None:
    assert built.troubles(lab) == []
    assert built.file(lab).is_file()


# From saved recordings: whether a run gives a figure here and now is for `python -m bench live`.
@pytest.mark.parametrize("lab", NAMES)
def test_solution_runs_and_gets_full_points(built: Built, lab: str) -> None:
    solved, done = built.run(lab)
    assert done.troubles == {}
    for cell, outputs in done.outputs.items():
        for output in outputs:
            data = output.get("data", {})
            assert "image/png" not in data, (
                f"{cell}: an image without words; labs.plots.picture has both"
            )
            for image in re.findall(r"<img[^>]*>", str(data.get("text/html", ""))):
                assert re.search(r'alt="[^"]+', image), cell
    if lab in LABS:
        for verdict in check_folder(solved, lab):
            assert verdict.outcome is Outcome.PASSED, verdict
            assert verdict.points == verdict.max_points
    left = [step for step in guide.of_lab(lab).steps if not progress.is_done(step, solved)]
    assert {step.kind for step in left} <= {"hand-in"}


@pytest.mark.parametrize(
    "folder",
    [
        "honest/04-procedure-call",
        "pitfalls/not-one-change/wrong",
        "pitfalls/mechanisms-differ/wrong",
    ],
)
def test_a_figure_has_the_same_verdict_alone_and_among_all(folder: str) -> None:
    lab = lab_of(FIXTURES / folder)
    for verdict in check_folder(FIXTURES / folder, lab):
        assert check_figure(FIXTURES / folder, figure_named(verdict.figure)) == verdict


@pytest.mark.parametrize("lab", NAMES)
def test_one_title_and_no_level_skipped(built: Built, lab: str) -> None:
    levels = built.page(lab).headings
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("lab", NAMES)
def test_every_image_says_what_it_shows(built: Built, lab: str) -> None:
    page = built.page(lab)
    for image in page.images:
        assert image.get("alt"), image
        assert len(str(image["alt"]).split()) > 4
    assert page.tags.count("figcaption") == page.tags.count("figure") <= page.tags.count("table")


@pytest.mark.parametrize("lab", [*NAMES, "index"])
def test_nothing_is_fetched(built: Built, lab: str) -> None:
    page = built.page(lab)
    assert [each[:60] for each in page.fetched if not each.startswith("data:")] == []
    assert "script" not in page.tags and "iframe" not in page.tags
    styles = "".join(re.findall(r"<style>(.*?)</style>", built.html(lab), re.DOTALL))
    assert styles and "url(" not in styles and "@import" not in styles


#: Makes plain text of each token of code that is a copy of an earlier one: axe takes longest over
#: their colours, which are those of the first.
ONE_OF_EACH_COLOUR = """() => {
  const seen = new Set();
  for (const token of document.querySelectorAll('pre span')) {
    let path = '';
    for (let each = token; each; each = each.parentElement)
      path += ` ${each.tagName}.${each.className}`;
    if (seen.has(path)) token.replaceWith(...token.childNodes);
    seen.add(path);
  }
}"""


@pytest.mark.browser
def test_no_page_has_a_fault_of_accessibility(built: Built) -> None:
    pytest.importorskip("playwright")
    from bench.labs import accessible, jupyterlab

    if jupyterlab.CHROMIUM is None:
        pytest.skip("chromium is not installed")
    found = {}
    with jupyterlab.chromium() as browser:
        light = browser.new_page(color_scheme="light", viewport={"width": 390, "height": 900})
        dark = browser.new_page(color_scheme="dark", viewport={"width": 1400, "height": 900})
        # All pages have one style sheet, so one lab shows what the dark colours do.
        looked_at = [(light, name) for name in [*NAMES, "index"]] + [(dark, NAMES[1])]
        for page, name in looked_at:
            page.goto(built.file(name).as_uri())
            page.evaluate(ONE_OF_EACH_COLOUR)
            if faults := accessible.violations(page.locator("html")):
                found[name] = faults
    assert found == {}


@pytest.mark.parametrize("lab", [*NAMES, "index"])
def test_every_link_leads_somewhere(built: Built, lab: str) -> None:
    page = built.page(lab)
    pages = {f"{name}.html" for name in [*NAMES, "index"]}
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif not re.match("https?://", link):
            assert link in pages


def test_the_index_names_every_lab(built: Built) -> None:
    page = built.page("index")
    assert page.links == [f"{lab}.html" for lab in NAMES]
    assert page.headings == [1]


@pytest.mark.parametrize("lab", NAMES)
def test_no_solution_is_shown(built: Built, lab: str) -> None:
    shown = built.page(lab).text
    handed_out = (built.released / lab / f"{lab}.ipynb").read_text("utf-8")
    cells = json.loads((NOTEBOOKS / lab / f"{lab}.ipynb").read_text("utf-8"))["cells"]
    solutions = 0
    for cell in cells:
        if not cell["metadata"].get("nbgrader", {}).get("solution"):
            continue
        source = "".join(cell["source"])
        region = re.search(r"BEGIN SOLUTION[^\n]*\n(.*?)\n[^\n]*END SOLUTION", source, re.DOTALL)
        for line in (region[1] if region else source).splitlines():
            words = line.strip()
            # What is handed out anyway, such as a brace, gives nothing away.
            if len(words) > 8 and json.dumps(words)[1:-1] not in handed_out:
                solutions += 1
                assert words not in shown, (cell["id"], words)
    assert solutions


@pytest.mark.parametrize("lab", NAMES)
def test_no_path_of_the_machine_that_built_it_is_shown(built: Built, lab: str) -> None:
    shown = html.unescape(built.html(lab))
    places = (REPOSITORY, Path.home(), built.folder, Path(tempfile.gettempdir()), paths.cache())
    for path in places:
        assert len(path.parts) < 2 or f"{path}/" not in shown


def test_a_lab_without_recordings_has_a_page_that_says_so(built: Built, tmp_path: Path) -> None:
    troubles = build(built.released, tmp_path, saved=tmp_path / "none", only=["00-start-here"])
    assert any("no saved run 'first'" in trouble for trouble in troubles)
    page = Page()
    page.feed((tmp_path / "00-start-here.html").read_text("utf-8"))
    assert "Run this cell in JupyterLab" in page.text
    assert "Refused" not in page.text and "NameError" not in page.text


def lab_with(folder: Path, *sources: str) -> Path:
    """A lab folder with a notebook of these cells."""
    folder.mkdir()
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(of_code(*sources)))
    return folder


MEASURES = (
    'from labs import start\nlab = start("09-lab")',
    'lab.conclude("any", 1)',
    'run = lab.measure("timer_overhead", "fenced", save="mine")\nprint(len(run.recording))',
)


def test_what_is_recorded_is_what_the_pages_take(tmp_path: Path) -> None:
    source = lab_with(tmp_path / "09-lab", *MEASURES)
    done = pages.record(source, tmp_path / "kept")
    assert done.troubles == {}
    made = file.read(tmp_path / "kept" / "recordings" / "mine.csv")
    assert "--samples 400 --warmup 10" in made.conditions["command"]
    again = pages.rerun(source, tmp_path / "kept")
    assert again.troubles == {}
    assert again.outputs["cell-2"][0]["text"] == f"{len(made)}\n"


def test_what_went_wrong_is_not_kept(tmp_path: Path) -> None:
    source = lab_with(tmp_path / "09-lab", "raise ValueError('of the lab')")
    done = pages.record(source, tmp_path / "kept")
    assert done.troubles == {"cell-0": "ValueError: of the lab"}
    assert not (tmp_path / "kept").exists()


def test_record_says_what_it_replaces_and_what_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = lab_with(tmp_path / "09-lab", *MEASURES)
    kept = tmp_path / "honest" / "09-lab"
    monkeypatch.setattr(command, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(command, "HONEST", tmp_path / "honest")
    assert command.main(["--record", "09-lab"]) == 0
    said = f"pages: the run of 09-lab is saved in {kept}"
    assert capsys.readouterr().out == f"{said}\n"
    assert command.main(["--record", "09-lab"]) == 0
    assert capsys.readouterr().out == f"{said}, in place of an earlier run\n"
    before = (kept / "recordings" / "mine.csv").read_bytes()
    shutil.rmtree(source)
    lab_with(source, *MEASURES, "raise ValueError('of the lab')")
    assert command.main(["--record", "09-lab"]) == 1
    assert capsys.readouterr().err == (
        "pages: 09-lab, cell-3: ValueError: of the lab\n"
        f"pages: nothing is saved in {kept}, and the earlier run stays\n"
    )
    assert (kept / "recordings" / "mine.csv").read_bytes() == before


@pytest.mark.parametrize("lab", NAMES)
def test_the_runs_that_a_page_shows_are_not_flagged_as_copies(built: Built, lab: str) -> None:
    assert "a saved run of the project" not in built.html(lab)
