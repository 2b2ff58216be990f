"""Inputs that were or would be harmful, and inputs as large as a reader takes, and larger.

The tables of `support/hostile` are among them.
"""

from __future__ import annotations

import base64
import functools
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PIL import Image

from bench.fuzz.good_inputs import Submission, released, with_c_source
from bench.fuzz.limits import Cost
from grader.figures import figures_of
from labs.course.figures import FILE_NAME
from labs.limits import MOST_ANSWER, MOST_JSON_BYTES, MOST_NOTEBOOK_BYTES, MOST_SOURCE_BYTES
from labs.limits import MOST_RECORDING_BYTES as MOST_BYTES
from labs.limits import MOST_RECORDING_ROWS as MOST_ROWS
from support.hostile import c_text, figures_file, in_answers, too_many

LAB = "01-timer-overhead"
HEAD = (
    b"# ticklab recording: 1\n# kernel: timer_overhead\n# counter: tsc\n# cpu.asked: none\n"
    b"# counter.frequency_hz: 2.6e9\n# core_cycle_ticks: 0.7\n"
    b"# clock.fenced.frequency_hz: 2.6e9\n# clock.fenced.step: 1\n"
)
HEADER = b"variant,process,sample,batch,ticks\n"
ONE = HEAD + b"# process.0: {}\n"
ROW = b"fenced,0,1,64,100\n"
#: The number of a submission, and C of which some is between the marks of a measured region.
_C = b"// %d\n// measured region begins\n%b\n// measured region ends\n"
#: What colours a terminal, names its window, and clears it.
ESCAPES = b"\x1b[31m\x1b]0;x\x07\x1b[2J"


@dataclass(frozen=True)
class Hostile:
    """An input for one target. `read`: whether it must be read; None where either is right."""

    target: str
    name: str
    content: Callable[[], bytes]
    read: bool | None = None

    def fault(self, cost: Cost) -> str:
        """What is wrong with what it cost or with how it was taken; empty if nothing is."""
        if not cost.too_much and self.read not in (None, cost.read):
            return "was read" if cost.read else "was not read"
        return cost.too_much


def cases() -> Iterator[Hostile]:
    """All of them. None is made before its content is asked for."""
    for name, made, read in (*_RECORDINGS, *_MARKS):
        yield Hostile("recordings", name, made, read)
    for name, made, read in _FIGURES:
        yield Hostile("figures", name, made, read)
    for name, file in figures_file.FILES.items():
        yield Hostile("figures", name, functools.partial(bytes, file))
    for name, entry in figures_file.ENTRIES.items():
        text = f'{{"{figures_file.ENTRY}": {entry}}}'.encode()
        yield Hostile("figures", name, functools.partial(bytes, text))
    for name in _SHOWN:
        make = too_many.TEXTS[name][0]
        yield Hostile("shown", name, lambda make=make: _folder(make().encode()))  # type: ignore[misc]
    for name in c_text.UNITS:
        for lab in ("03", "08"):  # every rule about C applies to one of these
            yield Hostile("c-sources", f"{name} ({lab})", functools.partial(_c_of, name, lab))
    own = ((name, text.encode()) for name, text in in_answers.ANSWERS.items())
    for name, text in (*_ANSWERS, *own):
        yield Hostile("answers", name, functools.partial(bytes, text[:MOST_ANSWER]))
    for name, held in _NOTEBOOKS:
        made = functools.partial(bytes, held) if isinstance(held, bytes) else held
        yield Hostile("notebooks", name, made)
    for name, text in _NAMES:
        yield Hostile("names", name, functools.partial(bytes, text))


def _c_of(name: str, lab: str) -> bytes:
    """C as long as is read, and the number of the lab's first submission with C."""
    before, again, after = c_text.UNITS[name]
    room = MOST_SOURCE_BYTES - len(_C) - len(before) - len(after)
    source = (before + again * (room // len(again)) + after).encode()
    return _C % ([each.lab[:2] for each in with_c_source()].index(lab), source)


def largest(rows: int = MOST_ROWS, processes: int = 10) -> bytes:
    """A recording of so many rows, all of them good."""
    head = HEAD + b"".join(b"# process.%d: {}\n" % number for number in range(processes))
    each = rows // processes
    lines = (
        b"fenced,%d,%d,%d,%d\n" % (i // each, i % each, (0, 64, 128, 256, 512)[i % 5], 40 + i % 9)
        for i in range(each * processes)
    )
    return head + HEADER + b"".join(lines)


def _folder(recording: bytes) -> bytes:
    """A submission of lab 01 whose figures have this recording as evidence."""
    entry = {"value": 15, "unit": "ns", "recording": "recordings/run.csv"}
    entries = {spec.id: entry for spec in figures_of(LAB)}
    files = ((FILE_NAME, json.dumps(entries).encode()), ("recordings/run.csv", recording))
    return Submission(LAB, files).as_bytes()


def _described(processes: int, text: bytes = b"{}") -> bytes:
    return HEAD + b"".join(b"# process.%d: %b\n" % (i, text) for i in range(processes)) + HEADER


_Bytes = Callable[[], bytes]

_RECORDINGS: tuple[tuple[str, _Bytes, bool | None], ...] = (
    ("most rows", largest, True),
    ("a row too many", lambda: ONE + HEADER + ROW * (MOST_ROWS + 1), False),
    ("longest rows", lambda: ONE + HEADER + b"%b,0,1,1,%b\n" % (b"a" * 40, b"9" * 18) * 120_000,
     True),
    ("a bad last row", lambda: largest()[:-1] + b"x\n", False),
    ("most bytes of one line", lambda: ONE + HEADER + b"a" * (MOST_BYTES - len(ONE) - 99), False),
    ("a million columns", lambda: ONE + HEADER + b"1," * 1_000_000 + b"\n", False),
    ("a byte too many", lambda: ONE + HEADER + b"\n" * MOST_BYTES, False),
    ("nothing but lines", lambda: b"\n" * MOST_BYTES, False),
    ("nothing but zeros", lambda: b"\0" * MOST_BYTES, False),
    ("a million conditions", lambda: HEAD + b"".join(b"# a%d: b\n" % i for i in range(500_000)),
     False),
    ("a long condition", lambda: HEAD + b"# a: " + b"b" * 1_000_000 + b"\n" + HEADER + ROW, False),
    ("many processes", lambda: _described(100_000), False),
    ("deep JSON", lambda: _described(1, b"[" * 16_000), False),
    ("a long number", lambda: _described(1, b'{"a": ' + b"9" * 16_000 + b"}"), False),
    ("a variant a row", lambda: ONE + HEADER + b"".join(
        b"v%d,0,1,64,100\n" % i for i in range(200_000)), False),
    ("almost rows", lambda: ONE + HEADER + ROW * 200_000 + b"fenced,0,1,64,1e5\n", False),
)  # fmt: skip

_MARKS: tuple[tuple[str, _Bytes, bool | None], ...] = (
    ("a mark of byte order", lambda: b"\xef\xbb\xbf" + ONE + HEADER + ROW, None),
    ("UTF-16", lambda: (ONE + HEADER + ROW).decode().encode("utf-16"), False),
    ("a key twice in a process", lambda: _described(1, b'{"a": "1", "a": "2"}') + ROW, None),
    ("escapes in a condition", lambda: ONE + b"# u: " + ESCAPES + b"\n" + HEADER + ROW, None),
    ("escape sequences in a bad row", lambda: ONE + HEADER + ESCAPES + b",0,1,64,1\n", False),
)  # fmt: skip

_MOST = MOST_JSON_BYTES
_FIGURES: tuple[tuple[str, _Bytes, bool | None], ...] = (
    ("deep objects", lambda: b'{"a":' * (_MOST // 5), False),
    ("a long number", lambda: b'{"a": ' + b"9" * (_MOST - 7) + b"}", None),
    ("a long fraction", lambda: b'{"a": 0.' + b"9" * (_MOST - 9) + b"}", None),
    ("a long name", lambda: b'{"' + b"a" * (_MOST - 7) + b'": 1}', None),
    ("one name", lambda: b'{"a": 1' + b', "a": 1' * 25_000 + b"}", None),
    ("many names, the last twice", lambda: b"{" + b"".join(
        b'"a%d": 1,' % i for i in range(20_000)) + b'"b": 1, "b": 1}', None),
    ("escapes", lambda: b'{"a": "' + b"\\u0000" * 40_000 + b'"}', None),
    ("a byte too many", lambda: b" " * (_MOST + 1), False),
)  # fmt: skip

#: Of the recordings with too many of something, those that are drawn.
_SHOWN = (
    *("batch sizes", "alternating processes", "CPU lists, all alike", "CPU lists, all different"),
    *("as much as is read", "as many rows as are read"),
)

_ANSWERS = (
    ("20,000 headings", b"#\n" * 20_000),
    ("deep quotes", b">" * 40_000),
    ("deep lists", b"".join(b"  " * i + b"- a\n" for i in range(190))),
    ("open brackets", b"[" * 40_000),
    ("pictures in pictures", b"![" * 20_000),
    ("stars", b"*a **a " * 5_500),
    ("backticks", b"".join(b"`" * (i % 90) + b" " for i in range(880))),
    ("a table of many columns", b"|a" * 9_900 + b"|\n" + b"|-" * 9_900 + b"|\n"),
    ("open TeX", b"$" * 39_999),
    ("deep TeX", b"".join(b"$" + b"{" * 99 + b"}" * 99 + b"$ " for _ in range(100))),
    ("roots of roots", b"$" + b"\\sqrt{" * 30 + b"}" * 30 + b"$ "),
    ("fractions of fractions", b"$" + b"\\frac{a}{" * 17 + b"}" * 17 + b"$ "),
    ("many formulas", b"$x^{2}$ " * 5_000),
    ("a rule over the page", b"$\\smash{\\rlap{\\rule{99em}{99em}}}$"),
    ("open TeX environments", b"\\begin{a}" * 4_400),
    ("open tags", b"<b>" * 13_000),
    ("open comments", b"<!--" * 10_000),
    ("links to one definition", b"[a]: /b\n" * 2_500 + b"[a]" * 6_600),
    ("nothing but line ends", b"\n" * 40_000),
    ("escape sequences", ESCAPES * 9),
)


def _cells(text: bytes) -> bytes:
    return b'{"cells": [' + text + b'], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}'


_CELL = b'{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "b"}'


def _picture(content: bytes, kind: bytes = b"png") -> bytes:
    """A notebook whose every cell has the same eight pictures."""
    text = base64.b64encode(content)
    every = b",".join(b'"%d": {"image/%b": "%b"}' % (i, kind, text) for i in range(8))
    cell = b'{"attachments": {%b}, "source": "![x](attachment:0)"' % every
    ids = [each["metadata"].get("nbgrader", {}).get("grade_id") for each in released()["cells"]]
    marks = b', "metadata": {"nbgrader": {"grade_id": "%b"}}}'
    return _cells(b",".join(cell + marks % each.encode() for each in ids if each))


def _png(side: int) -> bytes:
    """A picture in one colour: small as a file, and large in memory."""
    file = io.BytesIO()
    Image.new("1", (side, side)).save(file, "png")
    return file.getvalue()


_NOTEBOOKS: tuple[tuple[str, bytes | _Bytes], ...] = (
    ("deep", b"[" * 1_000_000),
    ("deep metadata", _cells(b'{"metadata": ' + b'{"a":' * 100_000)),
    ("most bytes", lambda: b" " * (MOST_NOTEBOOK_BYTES + 1)),
    ("one long text", lambda: _cells(_CELL.replace(b'"b"', b'"%b"' % (b"b" * 15_000_000)))),
    ("100,000 cells", lambda: _cells(b",".join([_CELL] * 100_000))),
    ("a source of a million lines", _cells(
        _CELL.replace(b'"b"', b"[" + b'"b",' * 1_000_000 + b'"b"]'))),
    ("a long number", _cells(b'{"source": "a", "x": ' + b"9" * 1_000_000 + b"}")),
    ("NaN", _cells(b'{"source": "a", "metadata": {"nbgrader": {"points": NaN}}}')),
    ("a key twice", b'{"cells": [], ' + _cells(_CELL)[1:]),
    ("a mark of byte order", b"\xef\xbb\xbf" + _cells(_CELL)),
    ("UTF-16", _cells(_CELL).decode().encode("utf-16")),
    ("pictures of many pixels", lambda: _picture(_png(4_900))),
    ("pictures of too many pixels", lambda: _picture(_png(20_000))),
    ("pictures cut off", lambda: _picture(_png(4_000)[:-900])),
    ("pictures that are programs", lambda: _picture(b"<svg onload='x'/>", b"svg+xml")),
    ("half a character", _cells(_CELL.replace(b'"b"', b'"\\ud800"'))),
)  # fmt: skip

_NAMES = (
    ("escape sequences", ESCAPES),
    ("a line end", b"anna\nbert"),
    ("not UTF-8", b"\xff\xfe\0anna\xe9"),
    ("a tab", b"an\tna"),
    ("text that runs to the left", "anna\u202etxt".encode()),
    ("as long as a name may be", b"a" * 255 + b"\0" + b"b" * 216),
    ("signs of a pattern", b"*\0[a\0?\0{a,b}\0~\0-rf\0$HOME\0;ls"),
    ("pluses", b"+\0++\0+++++\0a+b+c+d\0+01-timer-overhead+x+y\0a+01-timer-overhead+yesterday+x"),
    ("dots", b"...\0.a\0..b\0a/../b"),
    ("the name of another file", b"figures.json\0recordings\0timestamp.txt\0submitted"),
)
