"""Collect the pages of the site in one folder, with links that lead from page to page.

A page in `docs/` links to other files of the repository as GitHub shows them: `../kernels_c/x.c`.
In the site such a link leads to the page of that file, or to a copy of it.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

#: Pages outside `docs/`. They lie at the top of the site, as they do in the repository.
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
#: Where in the site copies of files lie that are no pages.
COPIES = "files"

_DOCS = PurePosixPath("docs")
#: What is for Sphinx and no page: it reads its settings from `docs/` itself.
_SETTINGS = ("conf.py", "_static")
#: A link or a picture. Code is matched first, and stays as it is: in fences, in indented lines, and
#: between backticks.
_LINK = re.compile(
    r"^(?P<fence>```+|:::+).*?^(?P=fence)|^ {4}.*?$|`[^`\n]+`"
    r"|(?P<before>!?\[(?:[^\]\\]|\\.)*\]\()(?P<target>[^)\s]+)(?P<after>\))",
    re.MULTILINE | re.DOTALL,
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class BadLink(ValueError):
    """A page links to a file that is not there; the message names both."""


@dataclass
class Stage:
    """The site that is made from `repository` in the folder `site`."""

    repository: Path
    site: Path
    _copied: set[PurePosixPath] = field(default_factory=set)

    def collect(self) -> None:
        """Write all pages of `docs/` and OUTSIDE. Raises OSError, and BadLink for a broken link."""
        shutil.rmtree(self.site, ignore_errors=True)
        self.site.mkdir(parents=True)
        for path in sorted((self.repository / _DOCS).rglob("*")):
            place = PurePosixPath(path.relative_to(self.repository))
            if path.is_dir() or place.parts[1] in _SETTINGS or "__pycache__" in place.parts:
                continue
            if path.suffix == ".md":
                self._put_page(place)
            else:
                self._copy(path, self.site / self._in_site(place))
        for name in OUTSIDE:
            self._put_page(PurePosixPath(name))

    def put(self, name: str, content: bytes) -> None:
        """Write a page or picture that is made, as `name` in the site."""
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def copied(self, place: PurePosixPath) -> str:
        """Where in the site a copy of the file `place` of the repository lies; it is made."""
        name = f"{COPIES}/{place}"
        if place not in self._copied:
            self._copied.add(place)
            self._copy(self.repository / place, self.site / name)
        return name

    def _put_page(self, place: PurePosixPath) -> None:
        text = (self.repository / place).read_text(encoding="utf-8")
        self.put(str(self._in_site(place)), self._with_links(text, place).encode())

    def _with_links(self, text: str, page: PurePosixPath) -> str:
        """The text of `page` with links as they are in the site."""

        def linked(match: re.Match[str]) -> str:
            if match["target"] is None:
                return match[0]
            return f"{match['before']}{self._target(match['target'], page)}{match['after']}"

        return _LINK.sub(linked, text)

    def _target(self, target: str, page: PurePosixPath) -> str:
        name, mark, anchor = target.partition("#")
        if not name or _ELSEWHERE.match(target):
            return target
        place = PurePosixPath(os.path.normpath(page.parent / unquote(name)))
        if not (self.repository / place).is_file():
            raise BadLink(f"{page}: the link {target} leads to {place}, which is no file here")
        is_page = place.suffix == ".md" and (_DOCS in place.parents or str(place) in OUTSIDE)
        if is_page or _DOCS in place.parents:
            there = str(self._in_site(place))
        else:
            there = self.copied(place)
        start = self._in_site(page).parent
        return f"{PurePosixPath(os.path.relpath(there, start))}{mark}{anchor}"

    @staticmethod
    def _in_site(place: PurePosixPath) -> PurePosixPath:
        """Where a file of the repository lies in the site: `docs/` is its top."""
        return place.relative_to(_DOCS) if _DOCS in place.parents else place

    @staticmethod
    def _copy(source: Path, destination: Path) -> None:
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, destination)
