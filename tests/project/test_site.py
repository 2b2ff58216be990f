"""The docs as a site: every link leads somewhere, and nothing is loaded from another server."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from bench.labs import site
from grader.docs_site import (
    FIRST,
    KINDS,
    BadLink,
    Stage,
    broken_and_repaired,
    pair_of,
    run_file,
    sentence,
)
from grader.evidence import sources
from grader.examples import example_of
from grader.figures.verdict import Outcome
from grader.pitfalls import pitfall_named
from labs.plots.figure_svg import evidence_drawing
from labs.recording.file import read
from labs.results.result import result_of, sensible
from labs.run import broken
from labs.units import NANOSECONDS
from support.built_site import build


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and the ids that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])
        self.loaded += [
            given[name] for name in ("src", "srcset", "data", "poster") if name in given
        ]


#: One page of each kind: a mistake in the samples, one in the figure alone, one whose explanation
#: gives an answer away, and one without samples to look at.
SOME = (
    "lock-convoy",
    "unit-slip",
    "cause-not-isolated",
    "other-recording",
    "running-mean",
    "bare_mutex",
    "no_fence",
    "pinning_not_looked_at",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` writes it: with each warning an error, but with fewer pages.

    `python -m bench site` builds and looks at all of it.
    """
    return build(tmp_path_factory.mktemp("site"), *SOME)


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in sorted(built.rglob("*.html"))}


@pytest.mark.slow
def test_every_link_leads_to_a_page_and_a_place_in_it(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", link) or not link or link == "#":
                continue
            there = (path.parent / name).resolve() if name else path
            if not there.is_file() or (
                anchor and there in pages and anchor not in pages[there].ids
            ):
                broken.append((path.name, link))
    assert broken == []
    assert sum(len(page.links) for page in pages.values()) > 300


@pytest.mark.slow
def test_the_pages_that_bench_site_looks_at_first_are_there(built: Path) -> None:
    """One of them had been split, and the benchmark ended before it looked at any other page."""
    assert [name for name in site.KINDS if not (built / f"{name}.html").is_file()] == []


def test_nothing_is_loaded_from_another_server(built: Path, pages: dict[Path, Page]) -> None:
    outside = re.compile(r"(https?:)?//")
    loaded = {each for page in pages.values() for each in page.loaded if each}
    assert [each for each in loaded if outside.match(each)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in built.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import[^;]*", styles) == []
    assert any("site.css" in each for each in loaded)


@pytest.mark.slow
def test_each_reader_has_their_part_and_the_search_knows_the_words(built: Path) -> None:
    home = (built / "index.html").read_text(encoding="utf-8")
    parts = re.findall(r'class="caption"[^>]*><span[^>]*>([^<]+)<', home)
    assert parts == ["Students", "Self-learners", "Instructors", "Maintainers"]
    index = (built / "searchindex.js").read_text(encoding="utf-8")
    for word in ("intercept", "formgrad", "pitfal"):
        assert word in index


@pytest.mark.slow
def test_a_pitfall_has_a_page_with_its_evidence_in_real_samples(built: Path) -> None:
    convoy = pitfall_named("lock-convoy")
    page = as_text(built / "pitfalls" / "lock-convoy.html")
    for words in (convoy.misconception, convoy.experiment, "claims 104,576 switches"):
        assert words in page
    assert "labs broken bare_mutex" in page
    assert "Both figures were taken from the same samples" not in page
    slip = as_text(built / "pitfalls" / "unit-slip.html")
    assert "Both figures were taken from the same samples" in slip
    assert "the figure is 1,000 times larger" in slip
    for name in ("lock-convoy-wrong", "lock-convoy-near", "unit-slip-figure"):
        assert (built / "_images" / f"{name}.svg").read_bytes().startswith(b"<svg ")


@pytest.mark.slow
def test_the_page_on_plots_shows_plots_of_a_real_run(built: Path) -> None:
    page = (built / "students" / "reading-your-plot.html").read_text(encoding="utf-8")
    shown = re.findall(r'<img alt="([^"]*)"', page)
    told = [each.split(" of ")[0] for each in shown]
    assert len(told) == 3 and told[1:] == ["Scatter plot", "Line plot"]


@pytest.mark.slow
def test_the_start_page_begins_with_a_mistake_and_its_repair(built: Path) -> None:
    page = built / "index.html"
    assert pair_of(FIRST).difference() in as_text(page)
    text = page.read_text(encoding="utf-8")
    assert text.index("first.svg") < text.index("Your first lab")


def test_lines_that_differ_are_tinted_and_counted() -> None:
    told = "\n".join(broken_and_repaired("a;\nwrong;\nb;", "a;\nright;\nmore;\nb;"))
    assert "Broken: 1 line of its own\n:emphasize-lines: 2\n" in told
    assert "Repaired: 2 lines of its own\n:emphasize-lines: 2,3\n" in told
    assert "emphasize" not in "".join(broken_and_repaired("a;", "a;"))


@pytest.mark.slow
def test_the_page_on_the_method_shows_a_line_for_each_process(built: Path) -> None:
    page = (built / "students" / "method.html").read_text(encoding="utf-8")
    [shown] = re.findall(r'<img alt="([^"]*)"', page)
    assert "The 10 thin lines, one for each process" in shown


@pytest.mark.slow
def test_what_gives_an_answer_away_has_no_explanation_on_its_page(built: Path) -> None:
    told = pitfall_named("cause-not-isolated")
    page = as_text(built / "pitfalls" / "cause-not-isolated.html")
    assert told.symptom.removesuffix(".") in page
    assert told.misconception not in page and told.experiment not in page


@pytest.mark.slow
def test_a_page_of_the_gallery_has_claim_code_and_repair(built: Path) -> None:
    page = built / "gallery" / "bare_mutex.html"
    pair = pair_of("bare_mutex")
    text = as_text(page)
    claim, switches = pair.sentences(pair.broken)
    assert claim in text and switches in text
    assert pair.difference() in text
    for kind in ("value", "broken", "repaired"):
        assert (built / "_images" / f"bare_mutex-{kind}.svg").is_file()
    assert "../pitfalls/lock-convoy.html" in page.read_text(encoding="utf-8")
    assert "bare_mutex.html" in (built / "gallery" / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_figures_that_are_alike_are_said_to_be(built: Path) -> None:
    said = "Two figures that are alike"
    assert said not in as_text(built / "gallery" / "bare_mutex.html")
    alike = as_text(built / "gallery" / "pinning_not_looked_at.html")
    assert pair_of("pinning_not_looked_at").alike
    assert "the two figures are alike" in alike and said in alike


def test_a_name_of_c_keeps_its_small_letter() -> None:
    assert sentence("getpid() of a library") == "getpid() of a library."
    assert sentence("clock_gettime is read") == "clock_gettime is read."
    assert sentence("a mutex") == "A mutex."


def test_each_page_of_the_gallery_shows_the_values_that_it_claims() -> None:
    """The table of a picture holds what is drawn."""
    for name in broken.names():
        pair = pair_of(name)
        drawing = pair.drawing()
        shown = {row[0]: row[1] for row in drawing.table.rows}
        assert float(shown["broken"].replace(",", "")) == pytest.approx(
            pair.naive_value / NANOSECONDS[drawing.unit], rel=1e-3
        )
        # How far off it is stands between the two marks.
        if pair.factor and not pair.alike:
            assert f">{pair.factor}</text>" in drawing.svg and pair.factor in drawing.description
            assert "log axis" in drawing.svg
        for kind, run in zip(KINDS, (pair.broken, pair.repaired), strict=True):
            estimate = run.result().estimate
            evidence = evidence_drawing(run.recording, run.variant)
            if estimate is not None:
                in_unit = result_of(run.recording, run.variant, evidence.unit).estimate
                assert in_unit is not None
                number = sensible(in_unit)[0].replace("-", "\N{MINUS SIGN}")
                assert number in evidence.description, (name, kind)


@pytest.mark.parametrize("name", broken.names())
def test_the_gallery_has_both_runs_of_each_broken_c_kernel(name: str) -> None:
    kernel = broken.find(name)
    wrong, right = (read(run_file(name, kind)) for kind in KINDS)
    assert sources.broken_name(wrong) == name
    assert sources.broken_name(right) is None
    assert right.kernel == kernel.twin_plan().kernel_name


@pytest.mark.slow
def test_every_picture_says_what_it_shows(built: Path) -> None:
    shown = re.findall(r"<img[^>]*>", "".join(p.read_text() for p in built.rglob("*.html")))
    assert len(shown) > 4
    assert [each for each in shown if not re.search(r'alt="[^"]{30,}"', each)] == []


def as_text(page: Path) -> str:
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def test_an_example_shows_its_pitfall_and_its_neighbour_does_not() -> None:
    for code in ("lock-convoy", "unit-slip", "mechanisms-differ"):
        example = example_of(code)
        assert example is not None, code
        assert example.finding.code == code
        assert code in [finding.code for finding in example.shows.verdict.findings]
        assert example.near.verdict.outcome is Outcome.PASSED, code
        assert example.near.spec.id == example.shows.spec.id, code
        assert example.same_samples == (code == "unit-slip")
        drawn = example.shows.drawn()
        assert drawn is not None and drawn.svg.startswith("<svg "), code


def staged(tmp_path: Path, text: str) -> str:
    """A page docs/a/b.md with this text, as the site has it."""
    for name in ("docs/a", "kernels_c"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md", "kernels_c/x.c"):
        (tmp_path / name).write_text("# A heading\n")
    (tmp_path / "docs" / "a" / "b.md").write_text(text)
    Stage(tmp_path, tmp_path / "site").collect()
    return (tmp_path / "site" / "a" / "b.md").read_text()


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("[x](../index.md#a-heading)", "[x](../index.md#a-heading)"),
        ("[`x`](../../CONTRIBUTING.md)", "[`x`](../CONTRIBUTING.md)"),
        ("[x](../../kernels_c/x.c)", "[x](../files/kernels_c/x.c)"),
        ("[x](https://example.org/a.md) [y](#here)", "[x](https://example.org/a.md) [y](#here)"),
        ("`[x](no.md)` and\n\n    [x](no.md)\n", "`[x](no.md)` and\n\n    [x](no.md)\n"),
    ],
)
def test_a_link_of_the_repository_leads_to_the_same_file_in_the_site(
    tmp_path: Path, link: str, there: str
) -> None:
    assert staged(tmp_path, link) == there
    assert ("files/" in there) == (tmp_path / "site" / "files" / "kernels_c" / "x.c").is_file()


def test_a_link_that_leads_nowhere_is_named_with_its_page(tmp_path: Path) -> None:
    with pytest.raises(BadLink, match=r"docs/a/b\.md: the link \.\./gone\.md leads to docs/gone"):
        staged(tmp_path, "See [this](../gone.md).")
