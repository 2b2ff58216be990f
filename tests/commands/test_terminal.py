"""Nothing that somebody wrote into a file can command a terminal."""

from __future__ import annotations

import io
import json
import logging
import math
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from markupsafe import Markup

from labs import terminal
from labs.html import inline
from labs.terminal import keep_logs_safe, safe, say, say_json, typeset

CLEAR, TITLE, CLIPBOARD = "\x1b[2J", "\x1b]0;owned\x07", "\x1b]52;c;AAAA\x07"


#: A soft hyphen, letters without width or ink, a selector, a tag that spells a hidden text.
INVISIBLE = ["\xad", "\u200b", "\u200d", "\u2060", "\u3164", "\u034f", "\ufe0f", "\U000e0041"]


def test_a_command_is_shown_and_not_obeyed() -> None:
    for command in (CLEAR, TITLE, CLIPBOARD, "\x9b2J", "\r", "\x08", "\u202e", *INVISIBLE):
        shown = safe(f"a{command}b")
        assert shown.isprintable(), command
        assert shown.startswith("a\\"), command
        assert shown.endswith("b"), command


def test_text_stays() -> None:
    for text in ("two\nlines", "a\ttab", "32 µs ± 1", "naïve", "测试", "\U0001f600"):
        assert safe(text) == text


def test_a_page_shows_what_nobody_sees() -> None:
    for unseen in ("\x1b", "\u202e", *INVISIBLE):
        page = inline("<pre>{{ c }}</pre>{{ made }}", c=f"a{unseen}b", made=Markup("<b>a\n</b>"))
        assert page == f"<pre>a{ascii(unseen)[1:-1]}b</pre><b>a\n</b>"


@pytest.mark.parametrize("encoding", ["C", "ascii", "iso8859-2", "koi8-r", "gbk", "cp437", "utf-8"])
def test_a_terminal_of_another_encoding_shows_a_figure(encoding: str) -> None:
    code = "from labs.commands.command_line import status_of; from labs.terminal import say; "
    said = ascii("32 µs ± 1, 4 × 3 → \U0001f600")
    code += f"status_of(lambda: say({said}) or 0)"
    settings = {"PYTHONIOENCODING": encoding}
    if encoding == "C":  # the locale in which Python writes what it could not read
        settings, encoding = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, "ascii"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings, "PYTHONUTF8": "0"},
        capture_output=True,
        check=True,
    )
    shown = done.stdout.decode(encoding).strip()
    assert shown.startswith(("32 µs", "32 us")) and "Traceback" not in done.stderr.decode("ascii")
    if encoding == "ascii":
        assert shown == "32 us +/- 1, 4 x 3 -> ?"


def test_microseconds_have_their_symbol_and_what_is_typed_stays() -> None:
    assert typeset("cost 2.5 us (2 to 3 us), 7 use") == "cost 2.5 µs (2 to 3 µs), 7 use"
    for typed in ('lab.predict("x", 20, "us")', "--unit us", "1 user", "20us"):
        assert typeset(typed) == typed


def test_a_number_below_0_has_a_minus_where_it_is_shown() -> None:
    for typed, shown in (
        ("-7 ns (-17 to 3 ns)", "−7 ns (−17 to 3 ns)"),
        ("-0.2\xa0us, -5 % of it", "−0.2\xa0µs, −5 % of it"),
        ("`lab.figure(-3 ns)`, -2 ns", "`lab.figure(-3 ns)`, −2 ns"),
        ("return -1; a -2, 2026-11-28 to 2026-11-29, x-3 ns", None),
    ):
        assert typeset(typed) == (shown or typed)


def test_lines_of_windows_are_lines() -> None:
    assert safe("int f;\r\nint g;\r") == "int f;\nint g;\\r"


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


def test_the_answer_of_a_result_is_bold_in_a_terminal_and_plain_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.say_result("a is 2 times b\nmore")
    assert capsys.readouterr().out == "a is 2 times b\nmore\n"
    monkeypatch.setattr(terminal, "in_colour", lambda _: True)
    terminal.say_result("a is \x1b[31m2 times b\nmore")
    # What the text brings itself is shown, and commands nothing.
    assert capsys.readouterr().out == "\x1b[1ma is \\x1b[31m2 times b\x1b[0m\nmore\n"
