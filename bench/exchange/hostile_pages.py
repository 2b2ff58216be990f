"""Every page that shows the work of a hostile class, opened in Chromium: each student's feedback,
and all pages of a running formgrader.

No page may ask another machine for anything, open a dialog or end in an error of the server, and
every score must be seen. Pages that do all of this on purpose are opened first, and must be found.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Route

from bench.exchange.recorded_browser import recorded
from bench.exchange.score_in_sight import Honest
from bench.exchange.tour import Graded, Tour
from bench.report import say
from support.served_formgrader import served_formgrader

SELF_CHECK = "self-check.example"
#: Where the formgrader and a page of feedback have their scores.
_SCORES = ".panel-heading, main > .total, main .score"
#: Each page does one thing that none may do; what must be found of it.
BAD: dict[str, tuple[str, str]] = {
    "a cover": ("<div style='position:fixed;inset:0;background:#000;z-index:9999'>", "covered"),
    "a cover that lets the mouse through": (
        "<div style='position:fixed;inset:0;background:#000;z-index:9999;pointer-events:none'>",
        "does not look as",
    ),
    "a cover that cannot be seen": (
        "<div style='position:fixed;inset:0;z-index:9999'>",
        "is covered by div",
    ),
    "a dialog": ("<script>alert('mine')</script>", "a dialog: mine"),
    "a wide page": (f"<style>{_SCORES} {{margin-left:1200px}}</style>", "beyond the window"),
    "another score": (
        f"<style>{_SCORES} {{text-transform:uppercase;font-weight:bold;font-style:italic}}</style>",
        "does not look as",
    ),
}
#: Ways to ask another machine, each under a name of its own. The first ones belong in a head.
ASKING = {
    "icon": "<link rel=icon href='http://icon.{host}/i.ico'>",
    "hint": "<link rel=dns-prefetch href='//hint.{host}/'>",
    "connection": "<link rel=preconnect href='http://connection.{host}/'>",
    "picture": "<img src='http://picture.{host}/a.png'>",
    "socket": "<script>new WebSocket('ws://socket.{host}/')</script>",
}
#: A browser looks up no names beforehand for a page that is a file.
NOT_ASKED = {("hint", "feedback")}


def self_check(tour: Tour, scratch: Path) -> Iterator[str]:
    """What is not found of pages that do on purpose what no page may do."""
    student = tour.honest_student
    for name, address, places in (
        ("feedback", tour.feedback(student), Graded.in_feedback),
        ("submission", tour.submission(student), Graded.in_formgrader),
    ):
        tour.open(tour.other, address)
        honest = Honest(tour.other)
        if good := tour.look(name, student, address, honest, places):
            yield f"the self-check has faults on a good page: {good[0]}"
        for kind, (added, expected) in BAD.items():
            with _spoiled(tour, address, scratch, added) as spoiled:
                found = tour.look(kind, student, spoiled, honest, places, tour.spoiled)
            if not any(expected in each for each in found):
                yield f"the self-check did not find {kind} on a page of {name}"
        asking = "".join(ASKING.values()).format(host=f"{name}.{SELF_CHECK}")
        with _spoiled(tour, address, scratch, asking, "</head>") as spoiled:
            tour.spoiled.goto(spoiled)
            tour.spoiled.wait_for_timeout(
                1_000
            )  # a browser asks for hints when it has nothing to do
        tour.browser.taken()


@contextmanager
def _spoiled(
    tour: Tour, address: str, scratch: Path, added: str, before: str = "</body>"
) -> Iterator[str]:
    """The address of the page at `address` with `added` to it, and without its policy."""

    def spoil(text: str) -> str:
        return text.replace("Content-Security-Policy", "x").replace(before, added + before, 1)

    if address.startswith("file:"):
        file = scratch / "spoiled.html"
        file.write_text(spoil(Path(address.removeprefix("file://")).read_text("utf-8")), "utf-8")
        yield file.as_uri()
        return

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=spoil(response.text()))

    tour.spoiled.route(address, answer)
    try:
        yield address
    finally:
        tour.spoiled.unroute(address)


def faults(course: Path, lab: str, what: dict[str, str], save: Path | None = None) -> list[str]:
    """What is wrong with the pages of a graded class, which is also said at once.

    `what` says what is hostile of each student: "honest" for honest ones. With `save`, a picture
    of each page lies there.
    """
    found: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="ticklab-pages-") as scratch,
        served_formgrader(course, Path(scratch) / "jupyter") as address,
        recorded() as browser,
    ):
        tour = Tour(course, lab, address, browser, what, save)
        for each in itertools.chain(
            self_check(tour, Path(scratch)),
            tour.of_crafted_addresses(),
            tour.of_the_class(),
            tour.of_each_student(),
        ):
            say(f"      {each}")
            found.append(each)
    asked: list[str] = []
    on_purpose = {host for host in browser.hosts if host.endswith(SELF_CHECK)}
    for name in ("feedback", "submission"):
        asked += [
            f"the self-check's {kind} of {name} is not in the record"
            for kind in ASKING
            if f"{kind}.{name}.{SELF_CHECK}" not in on_purpose and (kind, name) not in NOT_ASKED
        ]
    asked += [f"a page asked for {host}" for host in sorted(browser.hosts - on_purpose)]
    for each in asked:
        say(f"      {each}")
    found += asked
    say(f"   {lab:<22}{4 * len(tour.students) + 12:>4} pages opened, {len(found)} faults")
    return found
