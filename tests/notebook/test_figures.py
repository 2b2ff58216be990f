"""figures.json, written by the kit or by hand."""

from __future__ import annotations

import contextlib
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.course import figures
from labs.course.figures import BadFigure, BadFigures, Figure

BY_HAND = """
{
  "timer-overhead-fenced": {"value": 16.4, "unit": "ns", "recording": "recordings/fenced.csv"},
  "timer-step": {"value": 26, "unit": "ticks", "recording": null}
}
"""


def in_folder(folder: Path, text: str | bytes) -> Path:
    content = text.encode() if isinstance(text, str) else text
    (folder / figures.FILE_NAME).write_bytes(content)
    return folder


def test_a_file_written_by_hand_is_read(tmp_path: Path) -> None:
    assert figures.read(in_folder(tmp_path, BY_HAND)) == {
        "timer-overhead-fenced": Figure(
            "timer-overhead-fenced", 16.4, "ns", "recordings/fenced.csv"
        ),
        "timer-step": Figure("timer-step", 26.0, "ticks", None),
    }


def test_no_file_is_no_figures_yet(tmp_path: Path) -> None:
    assert figures.read(tmp_path) == {}


def nested(depth: int) -> list[object]:
    return [nested(depth - 1)] if depth else []


GOOD_ENTRY = {"value": 1.5, "unit": "ns", "recording": "recordings/a.csv"}

NUMBER = "a finite number such as 16.4, without quotes"
UNIT = "unit must be a short text such as ns, not "
NAMED = (
    'recording must be recordings/NAME.csv (with / and a NAME of letters, digits, ".", "_" and "-")'
    ", not "
)
OBJECT = "it must be an object with value, unit and recording, not "

BAD_ENTRIES: dict[str, tuple[object, str]] = {
    "a bare number": (16.4, f"{OBJECT}16.4"),
    "a list": ([16.4, "ns"], f"{OBJECT}a list"),
    "nothing": (None, f"{OBJECT}null"),
    "not a number at all": (math.nan, f"{OBJECT}NaN"),
    "no value": ({"unit": "ns"}, f"value is missing; it must be {NUMBER}"),
    "value as text": ({**GOOD_ENTRY, "value": "16.4"}, f"value must be {NUMBER}, not '16.4'"),
    "value with a comma": ({**GOOD_ENTRY, "value": "16,4"}, f"value must be {NUMBER}, not '16,4'"),
    "value true": ({**GOOD_ENTRY, "value": True}, f"value must be {NUMBER}, not true"),
    "value NaN": ({**GOOD_ENTRY, "value": math.nan}, f"value must be {NUMBER}, not NaN"),
    "value infinite": (
        {**GOOD_ENTRY, "value": -math.inf}, f"value must be {NUMBER}, not -Infinity"),
    "value too large": ({**GOOD_ENTRY, "value": 10**400},
        "it cannot be read (line 1): a number has 401 digits; round it"),
    "value an object": ({**GOOD_ENTRY, "value": {}}, f"value must be {NUMBER}, not an object"),
    "no unit": ({"value": 1}, "unit is missing; it must be a short text such as ns"),
    "unit a number": ({**GOOD_ENTRY, "unit": 1}, f"{UNIT}1"),
    "unit empty": ({**GOOD_ENTRY, "unit": " "}, f"{UNIT}' '"),
    "unit long": ({**GOOD_ENTRY, "unit": "n" * 1000}, f"{UNIT}'{'n' * 59}"),
    "half a character": ({**GOOD_ENTRY, "unit": "\ud800"}, f"{UNIT}'\\ud800'"),
    "recording outside the folder": (
        {**GOOD_ENTRY, "recording": "recordings/../../other/a.csv"},
        f"{NAMED}'recordings/../../other/a.csv'"),
    "recording absolute": ({**GOOD_ENTRY, "recording": "/a/b.csv"}, f"{NAMED}'/a/b.csv'"),
    "recording elsewhere": ({**GOOD_ENTRY, "recording": "a.csv"}, f"{NAMED}'a.csv'"),
    "recording hidden": ({**GOOD_ENTRY, "recording": "recordings/.a.csv"},
        f"{NAMED}'recordings/.a.csv'"),
    "recording with an escape": ({**GOOD_ENTRY, "recording": "recordings\fenced.csv"},
        f"{NAMED}'recordings\\x0cenced.csv'"),
    "recording a list": ({**GOOD_ENTRY, "recording": ["recordings/a.csv"]}, f"{NAMED}a list"),
    "two things": ({"value": "1", "unit": ""}, f"value must be {NUMBER}, not '1'; {UNIT}''"),
    "nested deep": ({**GOOD_ENTRY, "mine": nested(40)},
        "it has more than 20 nested objects and lists (line 1)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_a_bad_entry_is_told_and_hides_no_other(case: str, tmp_path: Path) -> None:
    entry, message = BAD_ENTRIES[case]
    found = figures.read(in_folder(tmp_path, json.dumps({"bad": entry, "good": GOOD_ENTRY})))
    bad = found["bad"]
    assert isinstance(bad, BadFigure) and bad.what == message
    assert isinstance(found["good"], Figure)


@pytest.mark.parametrize("name", ["", "Capital", "a b", "../a", "x" * 100, "a\nb", "é"])
def test_a_bad_id_is_told_and_hides_no_other(name: str, tmp_path: Path) -> None:
    found = figures.read(in_folder(tmp_path, json.dumps({name: GOOD_ENTRY, "good": GOOD_ENTRY})))
    assert isinstance(found.pop("good"), Figure)
    assert [type(entry) for entry in found.values()] == [BadFigure]


GOOD = json.dumps(GOOD_ENTRY)

#: Spelled as JSON cannot be by json.dumps: `good` is whatever the rest of the file holds.
BAD_TEXTS: dict[str, tuple[str, str]] = {
    "a comma missing": ('{\n "bad": {"value": 1 "unit": "ns"}, "good": %s}',
        "it is not valid JSON (line 2, column 21): a comma is missing here"),
    "a decimal comma": ('{"bad": {"value": 16,4, "unit": "ns"}, "good": %s}',
        "it is not valid JSON (line 1, column 22): a name in double quotes is missing here, or the "
        "comma before it is one too many; a number has a decimal point, not a comma"),
    "no quotes": ('{"bad": {"value": 1, "unit": ns}, "good": %s}',
        "it is not valid JSON (line 1, column 30): a value is missing here, or a text without "
        "double quotes"),
    "no colon": ('{"bad": {"value" 1}, "good": %s}',
        "it is not valid JSON (line 1, column 18): a colon is missing here"),
    "no value": ('{"bad": , "good": %s}',
        "it is not valid JSON (line 1, column 9): a value is missing here, or a text without "
        "double quotes"),
    "a line end in a text": ('{"bad": {"value": 1, "unit": "ns\n }, "good": %s}',
        "it is not valid JSON (line 1, column 33): this text has no closing quote in its line"),
    "a backslash": (r'{"bad": {"recording": "recordings\x.csv"}, "good": %s}',
        r"it is not valid JSON (line 1, column 34): in JSON, \ begins an escape: write / between a "
        "folder and a file"),
    "nested as deep as fits": ('{"bad": ' + "[" * 99_000 + "]" * 99_000 + ', "good": %s}',
        "it has more than 20 nested objects and lists (line 1)"),
    "many digits": ('{\n"bad": {"value": ' + "9" * 99_000 + '}, "good": %s}',
        "it cannot be read (line 2): a number has 99000 digits; round it"),
    "the same id twice": ('{"bad": {"value": 1},\n "good": %s,\n "bad": {"value": 2}}',
        "its name appears in line 1 and again in line 3; keep one of the two"),
    "the value twice": ('{"bad": {"value": 1, "value": 2}, "good": %s}',
        "it cannot be read (line 1): 'value' appears twice; keep one of them"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_a_mistake_inside_an_entry_costs_this_entry_alone(case: str, tmp_path: Path) -> None:
    text, told = BAD_TEXTS[case]
    folder = in_folder(tmp_path, text % GOOD)
    found = figures.read(folder)
    assert found == {
        "bad": BadFigure("bad", told),
        "good": Figure("good", 1.5, "ns", "recordings/a.csv"),
    }
    # Nothing that cannot be read is lost, unless it is what the new figure replaces.
    with pytest.raises(BadFigures, match=re.escape(f"figures.json, entry bad: {told}")):
        figures.put(folder, Figure("new", 1.0, "ns", None))
    assert (folder / figures.FILE_NAME).read_text() == text % GOOD
    figures.put(folder, Figure("bad", 1.0, "ns", None, "now"))
    assert figures.read(folder) == found | {"bad": Figure("bad", 1.0, "ns", None, "now")}


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is not valid JSON (line 1, column 1): it must hold one object, { ... }"),
    "a list": (b"[]", "is not valid JSON (line 1, column 1): it must hold one object, { ... }"),
    "a number": (b" 3", "is not valid JSON (line 1, column 2): it must hold one object, { ... }"),
    "cut off": (BY_HAND.encode()[:-3],
        "is not valid JSON (line 2, column 1): this { has no partner"),
    "a brace too many": (b"{}\n}", "is not valid JSON (line 2, column 1): nothing may follow here"),
    "a wrong partner": (b'{"a": [1}',
        "is not valid JSON (line 1, column 9): this } has no partner"),
    "a quote missing": (b'{"a": {"unit": "ns},\n "b": {}}',
        "is not valid JSON (line 1, column 16): this text has no closing quote"),
    "no quotes at an id": (b"{a: 1}", "is not valid JSON (line 1, column 2): "
        'here an entry must begin, such as "name": { ... }'),
    "a bad escape in an id": (rb'{"\a": 1}', "is not valid JSON (line 1, column 3): "
        r"in JSON, \ begins an escape: write / between a folder and a file"),
    "not UTF-8": (b'{"\xff": 1}', "is not UTF-8 text: byte 2; save it as UTF-8"),
    "UTF-16 without its mark": (BY_HAND.encode("utf-16-le"),
        "is not UTF-8 text: it has bytes that are 0; save it as UTF-8"),
    "nested without an end": (b'{"a":' * 50_000,
        "is not valid JSON (line 1, column 249996): this { has no partner"),
    "too many": (json.dumps({f"f{n}": GOOD_ENTRY for n in range(300)}).encode(),
        "has more than 200 entries"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_unusable_file_is_told_and_not_written_over(case: str, tmp_path: Path) -> None:
    content, message = BAD_FILES[case]
    folder = in_folder(tmp_path, content)
    with pytest.raises(BadFigures) as raised:
        figures.read(folder)
    assert str(raised.value) == f"figures.json {message}"
    with pytest.raises(BadFigures):
        figures.put(folder, Figure("new", 1.0, "ns", None))
    assert (folder / figures.FILE_NAME).read_bytes() == content


def test_a_file_that_is_too_large_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFigures, match=r"has 1000000 bytes; at most 262144 are read"):
        figures.read(in_folder(tmp_path, b" " * 1_000_000))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_does_no_harm(encoding: str, tmp_path: Path) -> None:
    without = figures.read(in_folder(tmp_path, BY_HAND))
    assert figures.read(in_folder(tmp_path, BY_HAND.encode(encoding))) == without
    figures.put(tmp_path, Figure("new", 1.0, "ns", None, "now"))
    assert figures.read(tmp_path) == without | {"new": Figure("new", 1.0, "ns", None, "now")}


@pytest.mark.parametrize(
    "path",
    ["./recordings/a.csv", r"recordings\a.csv", r".\recordings\a.csv", " recordings/a.csv \n"],
)
def test_other_spellings_of_a_path_are_read(path: str, tmp_path: Path) -> None:
    entry = {"value": 1.5, "unit": " ns ", "recording": path}
    found = figures.read(in_folder(tmp_path, json.dumps({" a ": entry})))
    assert found == {"a": Figure("a", 1.5, "ns", "recordings/a.csv")}


@pytest.mark.parametrize(
    "text", ['{"a": %s, "b": %s,\n}', '{,"a": %s,, "b": %s}', '{"a": %s "b": %s}']
)
def test_commas_too_many_or_missing_between_entries_do_no_harm(text: str, tmp_path: Path) -> None:
    found = figures.read(in_folder(tmp_path, text % (GOOD, GOOD)))
    assert [type(each) for each in found.values()] == [Figure, Figure]


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(BY_HAND)
    (tmp_path / figures.FILE_NAME).symlink_to("other.json")
    with pytest.raises(BadFigures, match="symbolic link"):
        figures.read(tmp_path)


@pytest.mark.parametrize("place", ["nowhere.json", "/dev/zero"])
def test_a_link_to_nothing_or_to_a_device_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / figures.FILE_NAME).symlink_to(place)
    with pytest.raises(BadFigures):
        figures.read(tmp_path)


def test_a_new_figure_is_laid_beside_the_others(tmp_path: Path) -> None:
    mine = {"note": "kept", "timer-step": {"value": 26, "unit": "ticks", "mine": [1]}}
    in_folder(tmp_path, json.dumps(mine))
    figures.put(tmp_path, Figure("cost", 3.5, "ns", "recordings/a.csv"))
    stated = json.loads((tmp_path / figures.FILE_NAME).read_text())
    assert stated["note"] == "kept" and stated["timer-step"] == mine["timer-step"]
    written = figures.read(tmp_path)["cost"]
    assert isinstance(written, Figure)
    assert (written.value, written.unit, written.recording) == (3.5, "ns", "recordings/a.csv")
    assert written.when is not None and written.when.endswith("+00:00")


def test_the_newest_figure_wins(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        figures.put(tmp_path, Figure("cost", value, "ns", None, "2026-01-01"))
    assert figures.read(tmp_path) == {"cost": Figure("cost", 2.0, "ns", None, "2026-01-01")}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_figure_is_not_written(value: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="finite"):
        figures.put(tmp_path, Figure("cost", value, "ns", None))
    assert list(tmp_path.iterdir()) == []


@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_else(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    for text in (content, b'{"a": ' + content + b"}"):
        with contextlib.suppress(BadFigures):
            figures.read(in_folder(folder, text))


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8), values | st.fixed_dictionaries(
    {"value": values, "unit": values, "recording": values}), max_size=4))  # fmt: skip
def test_arbitrary_json_gives_a_figure_or_says_why_not(
    tmp_path_factory: pytest.TempPathFactory, stated: dict[str, object]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "json"
    folder.mkdir(exist_ok=True)
    found = figures.read(in_folder(folder, json.dumps(stated)))
    assert len(found) == len({name.strip() for name in stated})
    assert all(isinstance(entry, Figure | BadFigure) for entry in found.values())
