"""Tables: words at the left and numbers at the right, on a page and in plain text."""

from __future__ import annotations

import re

from labs.html import Table

TABLE = Table(
    "costs",
    ("variant", "cost", "why"),
    (
        ("00-start", "1,200 ns", "it is <cold>"),
        ("b", "-3.5", ""),
        ("c", "none", "no line could be fitted to what was measured"),
    ),
)


def sides(html: str) -> list[str]:
    return re.findall(r'<th scope="col" style="text-align:(\w+)', html)


def test_numbers_stand_at_the_right_names_and_words_at_the_left() -> None:
    assert sides(TABLE.as_html()) == ["left", "right", "left"]
    assert TABLE.as_text().splitlines()[2:4] == [
        "00-start  1,200 ns  it is <cold>",
        "b             -3.5",
    ]


def test_long_text_stands_at_the_left_even_if_it_begins_with_a_number() -> None:
    row = ("you", "42.6 ticks (95 % interval 42.2 to 43.0 ticks)")
    assert sides(Table("", ("who", "cost"), (row,)).as_html()) == ["left", "left"]


def test_what_is_short_is_not_broken_into_lines_and_all_is_escaped() -> None:
    page = TABLE.as_html()
    assert 'white-space:nowrap">1,200\xa0ns</td>' in page
    assert 'em)">it is &lt;cold&gt;</td>' in page


def test_a_column_in_which_nothing_stands_can_be_left_out() -> None:
    table = Table("", ("variant", "from", "cost"), (("a", "", "1"), ("b", "", "2")))
    assert table.without_empty() == Table("", ("variant", "cost"), (("a", "1"), ("b", "2")))
