"""The two pictures of a class in the docs: python -m bench.labs.live_pictures

A rehearsal on this machine, as an instructor would practise. Look at the pictures before you commit
them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect

from bench.labs import jupyterlab
from labs.files import write_atomically
from support.live_class import running
from support.paths import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
STUDENTS, LAB = 30, "01-timer-overhead"
WIDTH, HEIGHT = 1280, 720


def main() -> int:
    """Take both pictures."""
    options = ("--rehearse", str(STUDENTS), "--within", "1")
    with tempfile.TemporaryDirectory() as cache, running(Path(cache), *options, lab=LAB) as room:
        desk = room.cookie(room.desk_link)
        with jupyterlab.chromium() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(room.wall_link)
            expect(page.locator(".counts strong").nth(2)).to_have_text(str(STUDENTS))
            for name in ("predictions", "revealed"):
                if name == "revealed":
                    room.press(desk, "reveal")
                    expect(page.locator("h2")).to_have_count(1)
                write_atomically(IMAGES / f"live-{name}.png", page.screenshot())
    return 0


if __name__ == "__main__":
    sys.exit(main())
