"""Chromium with a record of all that it asks the network for, and of what pages do to a person.

The record is the browser's own log of its network. A proxy would not see all of it: a browser that
has a proxy looks up no names beforehand. The log has every request, every socket and every look-up
of a name, whatever part of the browser wanted it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Dialog, Page, Response, sync_playwright

from bench.labs import jupyterlab

#: What the browser itself asks for, whatever page is open.
ERRANDS = re.compile(
    r"(update|optimizationguide-pa|safebrowsing|content-autofill|clients?\d?|android\.clients|"
    r"redirector|edgedl|mtalk|accounts|www|dl)\.(googleapis|google|gvt1)\.com"
)
_OWN = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])?")
_ASKED = re.compile(r'"(?:url|host|destination|origin)":"([^"]+)"')
#: Playwright's own choice switches look-ups beforehand off, which people's browsers make.
_NOT_AS_PEOPLE_HAVE_IT = ["--disable-background-networking"]
WIDTH, HEIGHT = 1_100, 900


@dataclass
class Recorded:
    """A browser and its record. `hosts` is complete when the browser has ended."""

    context: BrowserContext
    #: What pages did while they were open: dialogs, answers that are errors of the server.
    events: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def page(self) -> Page:
        """A new page, whose dialogs are recorded and closed."""
        page = self.context.new_page()
        page.on("dialog", self._dialog)
        page.on("popup", lambda popup: self.events.append(f"a new window: {popup.url[:80]}"))
        page.on("download", lambda one: self.events.append(f"a download: {one.url[:80]}"))
        page.on("response", self._response)
        page.on("pageerror", lambda error: self.events.append(f"script: {str(error)[:80]}"))
        return page

    def _dialog(self, dialog: Dialog) -> None:
        self.events.append(f"a dialog: {dialog.message[:80]}")
        dialog.dismiss()

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self.events.append(f"HTTP {response.status}: {response.url[:120]}")

    def taken(self) -> list[str]:
        """The events since the last call."""
        taken, self.events[:] = list(self.events), []
        return taken


@contextmanager
def recorded() -> Iterator[Recorded]:
    """A Chromium as people have it, with an empty profile."""
    with tempfile.TemporaryDirectory(prefix="ticklab-chromium-") as scratch:
        log = Path(scratch) / "net-log.json"
        with sync_playwright() as playwright:
            context = playwright.chromium.launch_persistent_context(
                Path(scratch) / "profile",
                executable_path=jupyterlab.CHROMIUM,
                viewport={"width": WIDTH, "height": HEIGHT},
                ignore_default_args=_NOT_AS_PEOPLE_HAVE_IT,
                args=[
                    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                    "--disable-component-update", f"--log-net-log={log}",
                ],
            )  # fmt: skip
            one = Recorded(context)
            try:
                yield one
            finally:
                context.close()
        one.hosts = set(_foreign(log))


def _foreign(log: Path) -> Iterator[str]:
    """Every name of another machine in the log."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            for asked in _ASKED.findall(line):
                host = _host(asked)
                if not _OWN.fullmatch(host) and not ERRANDS.fullmatch(host):
                    yield host


def _host(asked: str) -> str:
    """The name of the machine in an address, or in what stands for one in the log."""
    if asked.startswith(("data:", "file:", "blob:", "chrome", "devtools:", "about:")):
        return ""
    try:
        return urlsplit(asked if "//" in asked else f"//{asked}").hostname or ""
    except ValueError:
        return asked
