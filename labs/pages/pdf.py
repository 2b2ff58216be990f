"""A PDF of a page, by a browser that is already on this machine: Chromium, Chrome or Edge."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

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
    found = next(filter(None, map(shutil.which, _NAMES)), None)
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
            made = Path(folder) / "page.pdf"
            command = [
                program, *_OPTIONS, *_as_root(), f"--user-data-dir={Path(folder) / 'browser'}",
                f"--print-to-pdf={made}", page.resolve().as_uri(),
            ]  # fmt: skip
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False,
                timeout=_TIME_LIMIT_S, stdin=subprocess.DEVNULL,
            )  # fmt: skip
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
