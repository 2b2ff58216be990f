"""Nothing that somebody wrote into a file can command a terminal."""

from __future__ import annotations

import io
import json
import logging
import math
from collections.abc import Iterator

import pytest

from labs.terminal import keep_logs_safe, safe, say, say_json

CLEAR, TITLE, CLIPBOARD = "\x1b[2J", "\x1b]0;owned\x07", "\x1b]52;c;AAAA\x07"


@pytest.mark.parametrize("command", [CLEAR, TITLE, CLIPBOARD, "\x9b2J", "\r", "\x08", "\u202e"])
def test_a_command_is_shown_and_not_obeyed(command: str) -> None:
    shown = safe(f"a{command}b")
    assert shown.isprintable()
    assert shown.startswith("a\\")
    assert shown.endswith("b")


@pytest.mark.parametrize(
    "text", ["two\nlines", "a\ttab", "32 µs ± 1", "naïve", "测试", "\U0001f600"]
)
def test_text_stays(text: str) -> None:
    assert safe(text) == text


def test_half_a_character_can_be_printed() -> None:
    safe("\ud800").encode("utf-8")


def test_colours_of_the_kit_are_kept_and_no_other_command() -> None:
    file = io.StringIO()
    say(f"\x1b[31mred\x1b[0m {CLEAR}{TITLE}", file=file, colours=True)
    assert file.getvalue() == "\x1b[31mred\x1b[0m \\x1b[2J\\x1b]0;owned\\x07\n"


@pytest.fixture
def safe_logs() -> Iterator[None]:
    before = logging.getLogRecordFactory()
    keep_logs_safe()
    keep_logs_safe()
    yield
    logging.setLogRecordFactory(before)


@pytest.mark.usefixtures("safe_logs")
def test_logs_are_safe_too(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("course")
    log.warning("student %s: %d files", f"eve{CLEAR}", 3)
    log.warning("100 %% of %(name)s", {"name": TITLE})
    assert caplog.messages == [
        "student eve\\x1b[2J: 3 files",
        "100 % of \\x1b]0;owned\\x07",
    ]


def test_json_is_json_whatever_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"a": math.inf, "b": [math.nan, -math.inf, 1.5], "c": {"d": (2, "NaN")}})
    stated = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert stated == {"a": None, "b": [None, None, 1.5], "c": {"d": [2, "NaN"]}}
