"""Pieces that accidents, spreadsheets and people with time leave in a file, and where they go."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

#: Inputs that grow beyond this are cut: the hostile inputs are the large ones.
MOST_BYTES = 48 * 1024

TOKENS: tuple[bytes, ...] = (
    b"", b"\n", b"\r\n", b"\r", b"\0", b",", b",,", b"#", b"# ", b": ", b"-", b"+", b" ", b"\t",
    b"0", b"1", b"-1", b"-0", b"1e308", b"1e999", b"-1e308", b"5e-324", b"NaN", b"nan", b"inf",
    b"-inf", b"9" * 8, b"9" * 10, b"9" * 18, b"9" * 19, b"9" * 400, b"1_000", b"0x10", b"1.5",
    "\u0663".encode(), "\u2028".encode(), "\x85".encode(), "\ufeff".encode(), "µs".encode(),
    b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b'"', b"{}", b"[]", b"[" * 3000, b"null",
    b"true", b"<script>", b"none", b"fenced", b"loop", b"# process.0: {}\n", b"# kernel: x\n",
    b'# process.0: {"a": 1}\n', b"# samples.count: 3\n", b"# a: b\n" * 50, b"x" * 20_000,
    # of notebooks, answers, names and C
    b"\x1b[2J", b"\x1b]0;x\x07", b"\xe2\x80\xae", b"../", b"`", b"$", b"$$", b"\\", b"](", b"![",
    b"<img src=", b"javascript:", b"http:///h/x.png", b"https:h/x", b"data:", b"onerror=", b"&#58;",
    b"<!--", b"```", b"\\rule{9em}{9em}", b"(", b"(*", b"asm", b"/*", b"sem_wait(", b"; (void)",
    b" " * 3000, b"# \n" * 1000, b"{" * 1000, b"grade_id", b'"cells": ', b"attachments",
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -0.0, 1, -1, 1e308, -1e308, 5e-324, 10**18, 10**400, "", "12", "ns", "us",
    "µs", "ticks", "cycles", "s", "times", "choice", "x", " ns ", "\ud800", "\0", "<b>", "a" * 5000,
    [], {}, [[]], [1], {"value": 1}, "recordings/none.csv", "recordings/../figures.json",
    "/etc/passwd", "recordings/a.csv\n", "2026-01-01", "9999-12-31T23:59:59+99:99", "\x1b[31m",
)  # fmt: skip

#: What means something: the value of a condition or of an entry in JSON, or a number.
_MEANING = re.compile(rb'(?<=: )[^\s{][^\n,}]*|"[^"\n]*"|\d+(?:\.\d+)?')
#: A word of a text; what a whole file means is in its first few thousand bytes.
_NEAR_THE_TOP = 4_000


def meaning_changed(
    content: bytes, chance: random.Random, changed: Callable[[bytes], bytes] | None = None
) -> bytes:
    """`content` with another value at one place; `changed` makes it, or else it is a token.

    Half of the places are in the first lines, which are few and say what all the others mean.
    """
    begin = chance.randint(0, len(content))
    if chance.random() < 0.5:
        begin = chance.randint(0, min(len(content), _NEAR_THE_TOP))
    found = _MEANING.search(content, begin)
    if found is None:
        return content
    old = found[0]
    if changed is not None and chance.random() < 0.4:
        new = changed(old)
    elif chance.random() < 0.3:
        new = json.dumps(chance.choice(VALUES)).encode()
    else:
        new = chance.choice(TOKENS)
    return content[: found.start()] + new + content[found.end() :]
