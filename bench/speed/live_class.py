"""A class of 500 on this machine: each predicts and hands in five figures, and the wall follows.

Students are tasks of one process, each with an own connection by TLS, and send everything again
after a while, as notebooks do. The wall is a real page in Chromium, which notes when a count
appears.
"""

from __future__ import annotations

import asyncio
import bisect
import json
import random
import secrets
import ssl
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from bench.labs import jupyterlab
from bench.report import must_hold, say, skipped, verdict
from grader.live.class_state import questions_of
from labs.course.in_class import AGAIN_S
from support.live_class import LAB, LiveClass, counts, running

STUDENTS, FIGURES = 500, 5
MOST_S, MOST_MB = 1.0, 300
#: Notes in the page when each count is on it; the first two columns are those of the question.
_NOTES = """() => {
  window.noted = [];
  const note = () => {
    const count = what => {
      const items = [...document.querySelectorAll('#counts li')];
      const item = items.find(each => each.textContent.includes(what));
      return item ? Number(item.querySelector('strong').textContent.replace(',', '')) : 0;
    };
    window.noted.push([Date.now() / 1000, count('predicted'), count('measured')]);
  };
  new MutationObserver(note).observe(document.getElementById('counts'), {childList: true});
}"""


def run(quick: bool) -> bool:
    """Ten minutes of a class, or one with `quick`."""
    seconds = 60.0 if quick else 600.0
    must_hold(
        f"{STUDENTS} students, each with a prediction and {FIGURES} figures in {seconds:.0f} s: "
        f"the wall follows within {MOST_S:g} s, the server has less than {MOST_MB} MB, nothing "
        "is lost"
    )
    if jupyterlab.CHROMIUM is None:
        return skipped("there is no Chromium for the wall")
    with (
        tempfile.TemporaryDirectory() as cache,
        running(Path(cache), "--share", "127.0.0.1") as room,
    ):
        return _class_of(room, seconds)


def _class_of(room: LiveClass, seconds: float) -> bool:
    desk = room.cookie(room.desk_link)
    with jupyterlab.chromium() as browser:
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(room.wall_link)
        page.wait_for_selector("#counts li")
        page.evaluate(_NOTES)
        sent = {"predicted": list[float](), "measured": list[float]()}
        with ThreadPoolExecutor(1) as apart:  # playwright has an event loop in this thread
            whole = _whole_class(room, desk, seconds, sent)
            most = apart.submit(asyncio.run, whole).result()
        page.wait_for_timeout(2_000)
        noted: list[list[float]] = page.evaluate("window.noted")
    late = []
    for column, what in ((1, "predicted"), (2, "measured")):
        shown = [int(row[column]) for row in noted]
        for number, when in enumerate(sorted(sent[what]), start=1):
            at = bisect.bisect_left(shown, number)
            late.append(noted[at][0] - when if at < len(noted) else float("inf"))
    late.sort()
    lost = _lost(room, desk)
    say(f"   {len(noted):,} changes of the wall; refused: {room.wall(desk)['refused']}")
    assert room.process is not None
    used = sum(psutil.Process(room.process.pid).cpu_times()[:2]) / seconds
    over = sum(each > MOST_S for each in late)
    say(
        f"   the server used {100 * used:.0f} % of a CPU; {over} of {len(late):,} came later than "
        f"{MOST_S:g} s, 99 % within {late[len(late) * 99 // 100]:.2f} s"
    )
    figures = (
        f"the wall follows within {late[-1]:.2f} s (median {late[len(late) // 2]:.2f}), "
        f"{most / 1e6:.0f} MB, {lost} lost of {STUDENTS * (FIGURES + 1):,}"
    )
    return verdict(late[-1] <= MOST_S and most < MOST_MB * 1e6 and lost == 0, figures)


def _lost(room: LiveClass, desk: str) -> int:
    """How many predictions and figures of the class are on no page of the wall."""
    missing = 0
    for number in range(FIGURES):
        found = counts(room.wall(desk))
        missing += STUDENTS - found["measured"]
        missing += STUDENTS - found["predicted"] if number == 0 else 0
        room.press(desk, "next")
    return missing


async def _whole_class(
    room: LiveClass, desk: str, seconds: float, sent: dict[str, list[float]]
) -> int:
    """Have the class work, and return the most bytes of memory that the server had."""
    assert room.process is not None
    server, most = psutil.Process(room.process.pid), 0
    begin = time.time()
    students = [
        asyncio.ensure_future(_student(room, number, begin, seconds, sent))
        for number in range(STUDENTS)
    ]
    revealed = False
    while not all(each.done() for each in students):
        await asyncio.sleep(0.5)
        most = max(most, server.memory_info().rss)
        if not revealed and time.time() > begin + seconds / 2:
            revealed = True
            await asyncio.to_thread(room.press, desk, "reveal")
    for each in students:
        each.result()
    return most


async def _student(
    room: LiveClass, number: int, begin: float, seconds: float, sent: dict[str, list[float]]
) -> None:
    """One student: all begin within two seconds, and each step comes at a time of its own."""
    chance = random.Random(number)
    await asyncio.sleep(chance.uniform(0, 2))
    line = await _Line.to(room)
    student = secrets.token_hex()
    ids = [each.spec.id for each in questions_of(LAB)][:FIGURES]
    shared: dict[str, Any] = {"version": 1, "predictions": {}, "figures": {}}
    await line.post("share", room.sharing(student, shared))
    steps = sorted(chance.uniform(2, 0.97 * seconds) for _ in range(FIGURES + 1))
    for place, when in enumerate(steps):
        while (wait := begin + when - time.time()) > 0:
            again = AGAIN_S * chance.uniform(0.8, 1.2)
            await asyncio.sleep(min(wait, again))
            if wait > again:
                await line.post("share", room.sharing(student, shared))
        value = 100 * chance.lognormvariate(0, 0.3)
        shared["version"] += 1
        if place == 0:
            shared["predictions"][questions_of(LAB)[0].prediction] = {"value": value, "unit": "ns"}
        else:
            shared["figures"][ids[place - 1]] = {
                "value": value, "unit": "times" if "ratio" in ids[place - 1] else "ns",
                "low": 0.95 * value, "high": 1.05 * value,
                "machine": chance.choice(("x86-64, AMD, virtual", "Arm, Apple, not virtual")),
                "findings": chance.choice(([], [], ["unit-slip"])),
            }  # fmt: skip
        if place < 2:
            sent["measured" if place else "predicted"].append(time.time())
        await line.post("share", room.sharing(student, shared))
    line.writer.close()


class _Line:
    """One connection by TLS that stays open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, room: LiveClass) -> _Line:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, _, port = room.address.partition(":")
        return cls(*await asyncio.open_connection(host, int(port), ssl=context))

    async def post(self, path: str, stated: object) -> dict[str, Any]:
        body = json.dumps(stated).encode()
        head = f"POST /{path} HTTP/1.1\r\nHost: room\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()
        answer = await self.reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        length = next(e for e in answer.lower().split(b"\r\n") if e.startswith(b"content-length:"))
        return dict(json.loads(await self.reader.readexactly(int(length.partition(b":")[2]))))
