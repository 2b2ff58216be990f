"""The docs as a site: every link leads somewhere, and nothing is loaded from another server."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from grader.site import __main__ as site
from grader.site.stage import BadLink, Stage
from testing.paths import REPOSITORY


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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` writes it: with each warning an error."""
    folder = tmp_path_factory.mktemp("site")
    assert site.main([str(folder / "site")]) == 0
    words = ["-W", "--keep-going", "-q", "-c", "docs", str(folder / "site"), str(folder / "html")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


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


def staged(tmp_path: Path, text: str) -> str:
    """A page docs/a/b.md with this text, as the site has it."""
    for name in ("docs/a", "kernels_c"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "docs/grading.md", "kernels_c/x.c"):
        (tmp_path / name).write_text("# A heading\n")
    (tmp_path / "docs" / "a" / "b.md").write_text(text)
    Stage(tmp_path, tmp_path / "site").collect()
    return (tmp_path / "site" / "a" / "b.md").read_text()


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("[x](../grading.md#a-heading)", "[x](../grading.md#a-heading)"),
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
