"""figures.json with one entry, or all of it, as no kit writes it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from support.hostile.case import Hostile, changed

LAB, ENTRY = "01-timer-overhead", "timer-step"
#: The points of the honest submission, and those of all figures but ENTRY.
ALL, OTHERS = 18.0, 16.0

#: What stands in the place of the entry, as text of the file.
ENTRIES = {
    "null": "null",
    "a number": "26",
    "a text": '"26 ticks"',
    "a list": "[26]",
    "an empty object": "{}",
    "true as value": '{"value": true, "unit": "ticks"}',
    "a text as value": '{"value": "26", "unit": "ticks"}',
    "NaN as value": '{"value": NaN, "unit": "ticks"}',
    "Infinity as value": '{"value": -Infinity, "unit": "ticks"}',
    "an enormous value": '{"value": 1e400, "unit": "ticks"}',
    "a value of a thousand digits": '{"value": ' + "9" * 1_000 + ', "unit": "ticks"}',
    "a list as value": '{"value": [26], "unit": "ticks"}',
    "no unit": '{"value": 26}',
    "an unknown unit": '{"value": 26, "unit": "parsecs"}',
    "a unit that runs": '{"value": 26, "unit": "<script>alert(1)</script>"}',
    "a unit for the terminal": '{"value": 26, "unit": "\\u001b[2Jticks"}',
    "a unit of 100,000 letters": '{"value": 26, "unit": "' + "t" * 100_000 + '"}',
    "half a character": '{"value": 26, "unit": "\\ud800"}',
    "a recording above the folder": '{"value": 26, "unit": "ticks", "recording": "../x.csv"}',
    "a recording anywhere": '{"value": 26, "unit": "ticks", "recording": "/etc/passwd"}',
    "a recording that is a folder": '{"value": 26, "unit": "ticks", "recording": "recordings"}',
    "a device": '{"value": 26, "unit": "ticks", "recording": "recordings/../../dev/zero"}',
    "a zero byte in a path": '{"value": 26, "unit": "ticks", "recording": "recordings/a\\u0000"}',
    "the value twice": '{"value": 26, "value": 27, "unit": "ticks"}',
    "nested 10,000 deep": "[" * 10_000 + "]" * 10_000,
}
#: What stands in the place of the file.
FILES = {
    "empty": b"",
    "no JSON": b"I measured 26 ticks.",
    "a list": b"[]",
    "half of it": b'{"timer-step": {"val',
    "only zero bytes": bytes(4_000),
    "not UTF-8": b'{"timer-step": "\xff\xfe"}',
    "nested 100,000 deep": b'{"a":' * 50_000,
    "larger than it may be": b'{"timer-step": "' + b"x" * 400_000 + b'"}',
    "of another format": b'{"format": 2, "timer-step": {"value": 26, "unit": "ticks"}}',
    "of format true": b'{"format": true, "timer-step": {"value": 26, "unit": "ticks"}}',
    "of a format that is a file": b'{"format": {"value": 26, "unit": "ticks"}}',
    "10,000 entries": json.dumps({f"figure-{n}": 1 for n in range(10_000)}).encode(),
}


def _with_entry(text: str, folder: Path) -> None:
    path = folder / "figures.json"
    figures = json.loads(path.read_text(encoding="utf-8"))
    figures[ENTRY] = "HERE"
    path.write_text(json.dumps(figures).replace('"HERE"', text), encoding="utf-8")


def _with_file(content: bytes, folder: Path) -> None:
    (folder / "figures.json").write_bytes(content)


def _with_mark(folder: Path) -> None:
    path = folder / "figures.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def _with_other_id(folder: Path) -> None:
    path = folder / "figures.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"{ENTRY}"', '"__proto__/../\\u202estep"'), encoding="utf-8")


CASES = [
    *(
        Hostile(name, "an entry", LAB, changed(LAB, partial(_with_entry, text)), points=OTHERS)
        for name, text in ENTRIES.items()
    ),
    *(
        Hostile(name, "figures.json", LAB, changed(LAB, partial(_with_file, content)), points=0.0)
        for name, content in FILES.items()
    ),
    Hostile("a byte-order mark", "figures.json", LAB, changed(LAB, _with_mark), points=ALL),
    Hostile("an id that is none", "figures.json", LAB, changed(LAB, _with_other_id), points=OTHERS),
]
