"""Lines fit a terminal, and no figure, unit or command is cut."""

from __future__ import annotations

import io
import json

import pytest

from labs import terminal
from labs.html import Table, in_columns
from labs.terminal import lines_of, say, say_json, unbroken, wrapped

SENTENCE = "fenced: 22.15 ns (95 % interval 21.98 to 22.31 ns; 10,000 samples from 10 processes)"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", range(20, 90))
def test_a_line_fits_and_keeps_its_words_and_figures(columns: int) -> None:
    lines = lines_of(SENTENCE, columns)
    assert all(len(line) <= columns for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE
    for figure in ("22.15 ns", "95 %", "21.98 to 22.31 ns" if columns > 24 else "22.31"):
        assert any(figure in line for line in lines)


def test_where_a_line_is_broken() -> None:
    for line, columns, lines in (
        ("short", 40, ["short"]),
        ("", 40, [""]),
        ("  - one two three", 12, ["  - one two", "    three"]),
        ("2. one two three", 11, ["2. one two", "   three"]),
        ("a" * 50 + " b", 40, ["a" * 50, "  b"]),
        ("run `labs list` now", 17, ["run `labs list`", "  now"]),
        ("please run `labs list` now", 17, ["please run", "  `labs list` now"]),
        ("a ± 1 and more", 9, ["a ± 1 and", "  more"]),
    ):
        assert lines_of(line, columns) == lines


def test_colours_take_no_room() -> None:
    plain = "CAUTION  " + "word " * 10 + "word"
    coloured = plain.replace("CAUTION", "\x1b[33mCAUTION\x1b[0m")
    assert wrapped(coloured, len(plain)) == coloured
    assert wrapped(coloured, len(plain) - 1).count("\n") == 1


def test_only_a_terminal_has_its_lines_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file, screen = io.StringIO(), Terminal()
    say("word " * 40, file=file)
    say("word " * 40, file=screen)
    assert file.getvalue().count("\n") == 1
    assert max(map(len, screen.getvalue().split("\n"))) <= 80
    monkeypatch.setenv("COLUMNS", "120")
    wide = Terminal()
    say("word " * 40, file=wide)
    assert 100 < max(map(len, wide.getvalue().split("\n"))) <= 120


def test_json_is_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")
    say_json({"a": "word " * 40})
    assert json.loads(screen.getvalue()) == {"a": "word " * 40}


def test_a_terminal_without_a_width_has_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.columns(Terminal()) == 80
    monkeypatch.setenv("COLUMNS", "many")
    assert terminal.columns(Terminal()) == 80
    closed = Terminal()
    closed.close()
    assert terminal.columns(closed) == 80


ROWS = [("lab", "done", "next"), ("01-timer-overhead", "3 of 12", "Measure " * 9 + "it in 5 ns")]


def test_a_table_fits_and_its_texts_are_whole() -> None:
    for width in (48, 60, 80, 100):
        lines = in_columns(ROWS, {1}, width)
        assert all(len(line) <= width for line in lines)
        at = lines[0].index("next")
        assert " ".join(line[at:] for line in lines[1:]) == ROWS[1][2], width
        assert lines[1].startswith("01-timer-overhead  3 of 12  Measure"), width
        assert [line for line in lines[2:] if line[:at].strip()] == [], width


def test_a_table_with_room_is_not_broken() -> None:
    assert in_columns(ROWS, {1}, 200) == in_columns(ROWS, {1})
    assert (
        Table("", ROWS[0], tuple(ROWS[1:])).as_text(200)
        == Table("", ROWS[0], tuple(ROWS[1:])).as_text()
    )


def test_long_words_above_numbers_are_broken_and_the_numbers_are_not() -> None:
    header = ("event", "in one operation", "lowest to highest process", "in one sample, as read")
    row = ("context-switches", "0.00", "0.00 to 0.00 (3 processes)", "0.00 (k = 32)")
    lines = Table("Events of own", header, (row,)).as_text(80).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) == 4  # the caption, the header in two lines, the row in one
    assert [text for text in row if text not in lines[-1]] == []


def test_on_a_page_no_line_ends_inside_a_figure() -> None:
    for text, parts in (
        ("more than 0.04 % off", ["more", "than", "0.04\xa0%", "off"]),
        ("1.5 ± 0.2 ns", ["1.5\xa0±\xa00.2\xa0ns"]),
        ("21.30 to 22.70 ns", ["21.30", "to", "22.70\xa0ns"]),
        ("10 names, `k = 12 % 5`", ["10", "names,", "`k", "=", "12", "%", "5`"]),
    ):
        assert unbroken(text).split(" ") == parts
        shown = unbroken(text).replace("\xa0", " ").replace("\u2011", "-")
        assert shown == text and unbroken(unbroken(text)) == unbroken(text)


def test_a_cell_of_a_page_keeps_its_figures_whole() -> None:
    cell = "no point is more than 0.04 % off the line"
    table = Table("Evidence of 12 ns", ("", "seen"), (("a", cell),))
    assert "0.04\xa0% off" in table.as_html() and "of 12\xa0ns" in table.as_html()
    assert cell in table.as_text()
