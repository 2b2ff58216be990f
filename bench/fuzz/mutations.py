"""Change a file as accidents, spreadsheets and people with time on their hands do."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

#: Inputs that grow beyond this are cut: size has tests of its own.
MOST_BYTES = 48 * 1024

TOKENS: tuple[bytes, ...] = (
    b"", b"\n", b"\r\n", b"\r", b"\0", b",", b",,", b"#", b"# ", b": ", b"-", b"+", b" ", b"\t",
    b"0", b"1", b"-1", b"-0", b"1e308", b"1e999", b"-1e308", b"5e-324", b"NaN", b"nan", b"inf",
    b"-inf", b"9" * 8, b"9" * 10, b"9" * 18, b"9" * 19, b"9" * 400, b"1_000", b"0x10", b"1.5",
    "\u0663".encode(), "\u2028".encode(), "\x85".encode(), "\ufeff".encode(), "µs".encode(),
    b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b'"', b"{}", b"[]", b"[" * 3000, b"null",
    b"true", b"<script>", b"none", b"fenced", b"loop", b"# process.0: {}\n", b"# kernel: x\n",
    b'# process.0: {"a": 1}\n', b"# samples.count: 3\n", b"# a: b\n" * 50, b"x" * 20_000,
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -0.0, 1, -1, 1e308, -1e308, 5e-324, 10**18, 10**400, "", "12", "ns", "us",
    "µs", "ticks", "cycles", "s", "times", "choice", "x", " ns ", "\ud800", "\0", "<b>", "a" * 5000,
    [], {}, [[]], [1], {"value": 1}, "recordings/none.csv", "recordings/../figures.json",
    "/etc/passwd", "recordings/a.csv\n", "2026-01-01", "9999-12-31T23:59:59+99:99",
)  # fmt: skip

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_VALUE = re.compile(rb'(?<=: )[^\n{][^\n]*|(?<=": ")[^"\n]*')


class Mutator:
    """Changes that one seed decides. `others` is what may be spliced in."""

    def __init__(self, seed: int | str, others: Sequence[bytes]) -> None:
        self.random = random.Random(seed)
        self.others = others

    def changed(self, content: bytes, *, most: int = 4) -> bytes:
        """`content` after one to `most` changes."""
        ways: tuple[Callable[[bytes], bytes], ...] = (
            self._byte, self._token, self._cut, self._doubled, self._spliced, self._number,
            self._number, self._value, self._value, self._lines, self._line_of_another,
        )  # fmt: skip
        for _ in range(self.random.randint(1, most)):
            content = self.random.choice(ways)(content)
        return content[:MOST_BYTES]

    def changed_figures(self, content: bytes) -> bytes:
        """A figures.json that is still JSON, with something else at some place in it."""
        try:
            stated = json.loads(content)
        except (ValueError, RecursionError):
            return self.changed(content)
        if not isinstance(stated, dict) or not stated or self.random.random() < 0.02:
            return json.dumps(self._value_of_json()).encode()
        for _ in range(self.random.randint(1, 3)):
            name = self.random.choice(list(stated))
            entry = stated[name]
            chance = self.random.random()
            if chance < 0.1 or not isinstance(entry, dict):
                stated[name] = self._value_of_json()
            elif chance < 0.2:
                stated[str(self._value_of_json())] = entry
            else:
                key = self.random.choice(["value", "value", "unit", "recording", "when", "new"])
                entry[key] = self._another(entry.get(key))
        return json.dumps(stated).encode()

    def _value_of_json(self) -> Any:
        return copy.deepcopy(self.random.choice(VALUES))

    def _another(self, value: Any) -> Any:
        known = isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**15)
        if known and self.random.random() < 0.6:
            return value * self.random.choice([-1, 0, 0.5, 1.1, 2, 1e3, 1e-3, 1e300, 2.596])
        return self._value_of_json()

    def _range(self, content: bytes, most: int = 200) -> tuple[int, int]:
        begin = self.random.randint(0, len(content))
        return begin, min(begin + self.random.randint(0, most), len(content))

    def _byte(self, content: bytes) -> bytes:
        if not content:
            return content
        place = self.random.randrange(len(content))
        return content[:place] + bytes([self.random.randrange(256)]) + content[place + 1 :]

    def _token(self, content: bytes) -> bytes:
        begin, end = self._range(content, 8)
        return content[:begin] + self.random.choice(TOKENS) + content[end:]

    def _cut(self, content: bytes) -> bytes:
        begin, end = self._range(content)
        return content[:begin] if self.random.random() < 0.2 else content[:begin] + content[end:]

    def _doubled(self, content: bytes) -> bytes:
        begin, end = self._range(content)
        return content[:end] + content[begin:end] * self.random.choice([1, 2, 50]) + content[end:]

    def _spliced(self, content: bytes) -> bytes:
        other = self.random.choice(self.others)
        return content[: self._range(content)[0]] + other[self._range(other)[0] :]

    def _number(self, content: bytes) -> bytes:
        return self._replaced(content, _NUMBER)

    def _value(self, content: bytes) -> bytes:
        """Another value of one condition, in the head or of one process."""
        return self._replaced(content, _VALUE)

    def _replaced(self, content: bytes, form: re.Pattern[bytes]) -> bytes:
        begin = self.random.randint(0, len(content))
        # Half of the time within the conditions, which are few and say what all rows mean.
        if self.random.random() < 0.5:
            begin = self.random.randint(0, min(len(content), 4000))
        match = form.search(content, begin)
        if match is None:
            return content
        token = self.random.choice(TOKENS)
        return content[: match.start()] + token + content[match.end() :]

    def _lines(self, content: bytes) -> bytes:
        """Lines that are doubled, left out, or in another order."""
        lines = content.splitlines(keepends=True)
        if not lines:
            return content
        place, other = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
        chance = self.random.random()
        if chance < 0.3:
            del lines[place]
        elif chance < 0.6:
            lines.insert(place, lines[other])
        elif chance < 0.7:
            self.random.shuffle(lines)
        return b"".join(lines)

    def _line_of_another(self, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        taken = self.random.choice(self.others).splitlines(keepends=True)
        if not lines or not taken:
            return content
        lines[self.random.randrange(len(lines))] = self.random.choice(taken)
        return b"".join(lines)
