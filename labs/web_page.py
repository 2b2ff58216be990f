"""Pages in one file that load nothing: filled, written, and printed as a PDF.

A page can be read on a phone, in the dark, and on paper.
"""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from pathlib import Path

from labs import paths
from labs.files import CannotWrite, write_atomically
from labs.html import filled
from labs.version import __version__

_PAGE = Path(__file__).with_name("page.html.jinja")
_STYLE = Path(__file__).with_name("page.css")


def page(title: str, command: str, template: Path, **values: object) -> str:
    """A whole page with the `template` as its content. `command` made it, such as `labs survey`."""
    name = generator(command)
    return filled(
        _PAGE,
        title=title,
        generator=name,
        made_by=f"Made by {name}, version {__version__}.",
        style=_STYLE.read_text(encoding="utf-8"),
        content=filled(template, title=title, **values),
    )


def generator(command: str) -> str:
    """What a page states as the program that made it."""
    return f"Ticklab: {command}"


# A page or a PDF is written in one piece, and never in place of a file that somebody else made.

#: Pages state the program in their head, and PDFs in their last line.
_HEAD, _TAIL = 2_000, 200


def write_page(path: Path, text: str, command: str) -> None:
    """Write a page that `command` made. Raises CannotWrite."""
    refuse_others(path, command)
    write_atomically(path, text.encode("utf-8"))


def write_pdf(path: Path, content: bytes, command: str) -> None:
    """Write a PDF that `command` made; its last line is a comment that says so.

    Raises CannotWrite.
    """
    refuse_others(path, command)
    write_atomically(path, content.rstrip() + f"\n% {generator(command)}\n".encode())


def refuse_others(path: Path, command: str) -> None:
    """Raise CannotWrite if something is at `path` that `command` did not make."""
    if not path.is_symlink() and not path.exists():
        return
    if not _is_own(path, command):
        what = f"{path} was not made by `{command}`, so it stays as it is"
        raise CannotWrite(errno.EEXIST, f"{what}; choose another name, or move that file")


def _is_own(path: Path, command: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(max(path.stat().st_size - _TAIL, 0))
            tail = file.read()
    except OSError:
        return False
    mark = generator(command).encode()
    if head.startswith(b"%PDF-"):
        return tail.endswith(b"% " + mark + b"\n")
    return b'<meta name="generator" content="' + mark + b'">' in head


# A browser that is already on this machine prints a page: Chromium, Chrome or Edge.

_TIME_LIMIT_S = 120.0
_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "microsoft-edge-stable", "msedge",
)  # fmt: skip
_ON_MACOS = tuple(
    Path("/Applications") / f"{name}.app" / "Contents" / "MacOS" / name
    for name in ("Google Chrome", "Chromium", "Microsoft Edge")
)
#: No window, no network of its own, and nothing written outside the folder that it gets.
_OPTIONS = (
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-pdf-header-footer",
)  # fmt: skip


class NoPdf(RuntimeError):
    """No PDF could be made; the message says why and what to do."""


def browser() -> str | None:
    """The program of a browser that can print; None if there is none."""
    found = next(filter(None, map(paths.program, _NAMES)), None)
    return found or next((str(path) for path in _ON_MACOS if path.is_file()), None)


def printed(page: Path) -> bytes:
    """The PDF of the page in the file `page`. Raises NoPdf."""
    program = browser()
    by_hand = f"open {page} in a browser and print it to a PDF"
    if program is None:
        raise NoPdf(f"no Chromium, Chrome or Edge was found here; {by_hand}")
    # Beside the page: some browsers may read and write in the user's own folders only.
    try:
        # A browser may still write there when it has ended.
        with tempfile.TemporaryDirectory(
            prefix="ticklab-pdf-", dir=page.parent, ignore_cleanup_errors=True
        ) as folder:
            made = Path(folder).absolute() / "page.pdf"
            command = [
                program, *_OPTIONS, *_as_root(), f"--user-data-dir={made.with_name('browser')}",
                f"--print-to-pdf={made}", page.resolve().as_uri(),
            ]  # fmt: skip
            done = paths.run(command, _TIME_LIMIT_S)
            content = made.read_bytes() if made.is_file() else b""
    except subprocess.TimeoutExpired as error:
        raise NoPdf(f"{program} took longer than {_TIME_LIMIT_S:g} s; {by_hand}") from error
    except OSError as error:
        raise NoPdf(f"{program} could not print ({error.strerror or error}); {by_hand}") from error
    if not content.startswith(b"%PDF-"):
        last = (done.stderr.strip().splitlines() or ["it wrote no PDF"])[-1]
        raise NoPdf(f"{program} could not print ({last[:200]}); {by_hand}")
    return content


def _as_root() -> tuple[str, ...]:
    """Chromium refuses to run as root with its sandbox; the page is our own and runs nothing."""
    return ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
