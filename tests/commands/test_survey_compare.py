"""`labs survey --compare`: ratios with intervals, and reasons where there is none."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from labs.commands import cli
from labs.survey import compare_report
from labs.survey.compare_report import Pair
from support.paths import FIXTURES

HONEST = FIXTURES / "honest" / "03-system-call" / "recordings"
SWITCHES = FIXTURES / "honest" / "06-process-and-thread-switch" / "recordings" / "process.csv"


def survey_of(folder: Path, file: Path, *changes: tuple[str, str]) -> compare_report.Saved:
    """A survey with one recording, of whose lines some are changed."""
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert re.search(old, text, re.MULTILINE), old
        text = re.sub(old, new, text, flags=re.MULTILINE)
    (folder / "recordings").mkdir(parents=True)
    (folder / "recordings" / file.name).write_text(text, encoding="utf-8")
    return compare_report.read_saved(folder)


def pair_of(folder: Path, *changes: tuple[str, str], file: Path = HONEST / "calls.csv") -> Pair:
    """The first operation of a recording, compared with the same one changed."""
    one = survey_of(folder / "one", file)
    other = survey_of(folder / "other", file, *changes)
    return compare_report.pairs(one, other)[0]


def test_the_same_survey_twice_has_ratios_of_1_that_are_not_distinguishable(tmp_path: Path) -> None:
    one = survey_of(tmp_path / "one", HONEST / "calls.csv")
    other = survey_of(tmp_path / "other", HONEST / "calls.csv")
    every = compare_report.pairs(one, other)
    assert len(every) >= 2 and not any(each.why_not for each in every)
    for each in every:
        assert each.ratio is not None and each.ratio.ratio is not None and each.ratio.ratio_interval
        low, high = each.ratio.ratio_interval
        assert each.ratio.ratio == pytest.approx(1) and low < 1 < high and each.ratio.side == 0
    assert "0 cost more" in " ".join(compare_report.summary(every, ("one", "other")))
    text = compare_report.text(one, other)
    assert text.count("≈") == len(every) + 1 and max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("width", "whole"), [(40, False), (43, False), (44, True), (60, True), (100, True)]
)
def test_a_table_fits_the_terminal_and_its_ratios_keep_their_sign(
    width: int, whole: bool, tmp_path: Path
) -> None:
    one = survey_of(tmp_path / "one", HONEST / "calls.csv")
    other = survey_of(tmp_path / "a-machine-with-a-long-name", HONEST / "calls.csv")
    lines = compare_report.text(one, other, width).splitlines()
    assert max(map(len, lines)) <= width
    for each in compare_report.pairs(one, other):
        (row,) = (line for line in lines if line.startswith(f"{each.name} "))
        assert re.search(r" [\d.]+ ≈", row) and (" to " in row) == whole


def test_a_machine_that_is_three_times_slower_is_found_to_be(tmp_path: Path) -> None:
    # A counter that ticks at a third of the speed stretches every time, and no core cycle.
    slower = (r'(frequency_hz": ")(\d+)', lambda found: f"{found[1]}{int(found[2]) // 3}")
    every = pair_of(tmp_path, slower)  # type: ignore[arg-type]
    assert every.ratio is not None and every.ratio.ratio == pytest.approx(3, rel=0.01)
    assert every.ratio.side == 1
    assert every.in_cycles is not None and every.in_cycles.ratio == pytest.approx(1, rel=0.01)
    assert every.in_cycles.side == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            [(r"^# source.sha256: .*", "# source.sha256: 00"), (r"^# ticklab: .*", "# ticklab: 9")],
            "another version of the kit, with another C kernel",
        ),
        ([(r"^# source.sha256: .*", "# source.sha256: 00")], "another text of the C kernel"),
        (
            [(r"^# variant.getppid.baseline(_times)?: .*\n", "")],
            "another method, what is subtracted",
        ),
        ([(r"^# flags: -O2", "# flags: -O0")], "not measured in one"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_says_why(
    tmp_path: Path, changes: list[tuple[str, str]], reason: str
) -> None:
    found = pair_of(tmp_path, *changes)
    assert found.ratio is None and reason in found.why_not


def test_another_version_with_the_same_c_kernel_is_compared_and_noted(tmp_path: Path) -> None:
    found = pair_of(tmp_path, (r"^# ticklab: .*", "# ticklab: 9.9"))
    assert found.ratio is not None and "versions 0.1.0 and 9.9" in found.notes[0]


def test_without_a_core_clock_only_the_ratio_of_times_is_there(tmp_path: Path) -> None:
    found = pair_of(tmp_path, (r'"core_cycle_ticks": "[\d.]+", ', ""))
    assert found.ratio is not None and found.in_cycles is None
    assert "another unit: the length of a core cycle was not measured in other" in (
        found.why_no_cycles
    )


def test_switches_of_tasks_that_were_not_bound_are_another_method(tmp_path: Path) -> None:
    free = (r"^# cpu.allowed: .*", "# cpu.allowed: 0-1\n# cpu.pinning: none: not permitted")
    found = pair_of(tmp_path, free, file=SWITCHES)
    assert found.ratio is None and "where the tasks ran" in found.why_not


def test_the_command_writes_a_page_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(HONEST / "calls.csv", tmp_path / name)
    (tmp_path / "two" / "broken.csv").write_text("nothing")
    words = ["survey", "--compare", str(tmp_path / "one"), str(tmp_path / "two")]
    assert cli.main([*words, "--save", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "A is one, and B is two." in printed and "two: broken.csv:" in printed
    page = (tmp_path / "out" / "compared.html").read_text(encoding="utf-8")
    assert "<img" in page and "What the recordings state" in page and "http:" not in page
    assert cli.main([*words, "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert {each["variant"] for each in entries} >= {"getppid"}
    assert any(each["ratio"] for each in entries)
    # A page of somebody else is kept.
    (tmp_path / "out" / "compared.html").write_text("mine")
    assert cli.main([*words, "--save", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out" / "compared.html").read_text() == "mine"


def test_a_folder_without_a_survey_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["survey", "--compare", str(tmp_path), str(tmp_path / "no")]) == 2
    assert "there is no recording of a survey in" in capsys.readouterr().err
