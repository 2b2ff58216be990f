"""figures.json, written by the kit or by hand."""

from __future__ import annotations

import contextlib
import json
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


GOOD_ENTRY = {"value": 1.5, "unit": "ns", "recording": "recordings/a.csv"}

BAD_ENTRIES: dict[str, tuple[object, str]] = {
    "a bare number": (16.4, "object"),
    "a list": ([16.4, "ns"], "object"),
    "nothing": (None, "object"),
    "no value": ({"unit": "ns"}, "value must be a number, not None"),
    "value as text": ({**GOOD_ENTRY, "value": "16.4"}, "not '16.4'"),
    "value with a comma": ({**GOOD_ENTRY, "value": "16,4"}, "value"),
    "value true": ({**GOOD_ENTRY, "value": True}, "value"),
    "value too large": ({**GOOD_ENTRY, "value": 10**400}, "too large"),
    "value an object": ({**GOOD_ENTRY, "value": {}}, "a dict"),
    "no unit": ({"value": 1}, "unit"),
    "unit a number": ({**GOOD_ENTRY, "unit": 1}, "unit"),
    "unit empty": ({**GOOD_ENTRY, "unit": ""}, "unit"),
    "unit long": ({**GOOD_ENTRY, "unit": "n" * 1000}, "unit"),
    "recording outside the folder": (
        {**GOOD_ENTRY, "recording": "recordings/../../other/a.csv"}, "recordings/NAME.csv"),
    "recording absolute": ({**GOOD_ENTRY, "recording": "/etc/passwd.csv"}, "recordings/NAME.csv"),
    "recording elsewhere": ({**GOOD_ENTRY, "recording": "a.csv"}, "recordings/NAME.csv"),
    "recording hidden": ({**GOOD_ENTRY, "recording": "recordings/.a.csv"}, "recordings/NAME.csv"),
    "recording with a line end": (
        {**GOOD_ENTRY, "recording": "recordings/a.csv\n"}, "recordings/NAME.csv"),
    "recording a list": ({**GOOD_ENTRY, "recording": ["recordings/a.csv"]}, "recording"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_a_bad_entry_is_told_and_hides_no_other(case: str, tmp_path: Path) -> None:
    entry, message = BAD_ENTRIES[case]
    found = figures.read(in_folder(tmp_path, json.dumps({"bad": entry, "good": GOOD_ENTRY})))
    bad = found["bad"]
    assert isinstance(bad, BadFigure) and message in bad.what
    assert isinstance(found["good"], Figure)


@pytest.mark.parametrize("name", ["", "Capital", "a b", "../a", "x" * 100, "a\n", "é"])
def test_a_bad_id_is_told_and_hides_no_other(name: str, tmp_path: Path) -> None:
    found = figures.read(in_folder(tmp_path, json.dumps({name: GOOD_ENTRY, "good": GOOD_ENTRY})))
    assert isinstance(found.pop("good"), Figure)
    assert [type(entry) for entry in found.values()] == [BadFigure]


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "line 1"),
    "a comma too many": (b'{\n "a": 1,\n}', "line 3"),
    "a comma missing": (b'{\n "a": {"value": 1 "unit": "ns"}\n}', "line 2, column 19"),
    "cut off": (BY_HAND.encode()[:90], "line 3"),
    "NaN": (b'{"a": {"value": NaN, "unit": "ns"}}', "NaN"),
    "Infinity": (b'{"a": {"value": -Infinity, "unit": "ns"}}', "Infinity"),
    "a list": (b"[]", "one object"),
    "a number": (b"3", "one object"),
    "not UTF-8": (BY_HAND.encode("utf-16"), "UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "BOM"),
    "nested deep": (b'{"a":' * 50_000, "too many nested"),
    "a number of many digits": (b'{"a": {"value": ' + b"9" * 10_000 + b"}}", "figures.json"),
    "too large": (b" " * 1_000_000, "at most"),
    "too many": (json.dumps({f"f{n}": GOOD_ENTRY for n in range(300)}).encode(), "300 figures"),
    "the same id twice": (b'{"a": {"value": 1}, "a": {"value": 2}}', "'a' appears twice"),
    "the value twice": (b'{"a": {"value": 1, "value": 2}}', "'value' appears twice"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_unusable_file_is_told_and_not_written_over(case: str, tmp_path: Path) -> None:
    content, message = BAD_FILES[case]
    folder = in_folder(tmp_path, content)
    with pytest.raises(BadFigures, match=message):
        figures.read(folder)
    with pytest.raises(BadFigures):
        figures.put(folder, Figure("new", 1.0, "ns", None))
    assert (folder / figures.FILE_NAME).read_bytes() == content


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
    try:
        found = figures.read(in_folder(folder, json.dumps(stated)))
    except BadFigures as error:
        assert "NaN" in str(error) or "Infinity" in str(error)
    else:
        assert len(found) == len(stated)
        assert all(isinstance(entry, Figure | BadFigure) for entry in found.values())
