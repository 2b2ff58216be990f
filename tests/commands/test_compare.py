"""`labs compare`: who is measured with whom, what is said of it, and what is refused."""

from __future__ import annotations

import csv
import io
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labs.analysis.confidence import ByProcess, Estimate, Floats
from labs.commands.cli import main
from labs.commands.measure import CANNOT_TELL, SLOWER
from labs.recording.file import read
from labs.results.results_compared import Comparison, in_sentences, of_estimates
from support import given_times
from support.c_programs import LINUX
from support.given_times import BASELINE

pytestmark = pytest.mark.usefixtures("given_times")

QUICK = ["--samples", "200", "--processes", "4", "--replace", "0"]

C_LINKAGE = '#ifdef __cplusplus\nextern "C"\n#endif\n'
OWN = (
    C_LINKAGE
    + """long called(long);
#include "harness.h"
static uint64_t own(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--) {
        const long result = called(left);
        __asm__ volatile("" : "+r"(left) : "r"(result));
    }
    return counter_end() - begin;
}
static const struct variant variants[] = {{.name = "own", .about = "it", .interval = own}};
static const long batches[] = {8, 16, 24, 32};
MEASURE(.name = "kernel", .about = "it", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
"""
)
LARGER = Comparison("a", "b", "ns", 21.0, (20.0, 22.0), 3.1, (3.0, 3.3), True, side=1)
ALIKE = Comparison("a", "b", "ns", 0.11, (-0.2, 0.42), 1.01, (0.98, 1.041), False)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_difference_is_given_as_ratio_and_as_difference() -> None:
    ratio, gap = in_sentences(LARGER)
    assert ratio.startswith("a is 3.1") and ratio.endswith(" times b.")
    assert gap == "a takes 21 ns (20 to 22) more than b."


def test_two_programs_are_compared_by_all_pairs_and_it_is_said_with_which_intervals() -> None:
    def estimate(costs: Floats, kept: float) -> Estimate:
        each = ByProcess(object(), np.arange(10), costs, np.full(10, 0.01), turns="a call")
        return Estimate(kept, kept - 1, kept + 1, "ns", "", 900, 10, each)

    costs = np.linspace(20, 21, 10)
    found = of_estimates(("a", estimate(1.1 * costs, 30.0)), ("b", estimate(costs, 20.5)))
    ratio, gap, values = in_sentences(found)
    assert ratio == "a is 1.10 (1.10 to 1.10) times b."
    assert gap == "a takes 2.05 ns (2.00 to 2.10) more than b (both with 99.8 % intervals)."
    assert "the median of all pairs" in values and values.endswith("would give 1.46.")
    alike = of_estimates(("a", estimate(costs, 20.5)), ("b", estimate(costs, 20.5)))
    assert in_sentences(alike)[0].endswith("(by the 99.8 % interval).")


def test_no_difference_seen_says_how_large_it_is_at_most() -> None:
    (sentence,) = in_sentences(ALIKE)
    assert sentence.startswith("No difference seen between a and b: at most 0.42 ns, or 4.1 % of b")


def test_what_may_have_been_missed_is_never_rounded_down() -> None:
    wide = Comparison("a", "b", "ns", 0.0, (-0.4211, 0.42), None, None, False)
    assert "at most 0.43 ns (" in in_sentences(wide)[0]


def test_groups_of_processes_do_not_contradict_that_no_difference_was_seen() -> None:
    grouped = replace(ALIKE, modes=("a has two modes: in 4 of 10 processes it costs more.",))
    seen, groups, which = in_sentences(grouped)
    assert seen.startswith("No difference seen") and groups in grouped.modes
    assert which.startswith("The limit is for the mean of the processes")
    assert in_sentences(replace(LARGER, modes=grouped.modes))[-1] == groups


@LINUX
def test_variants_of_one_c_kernel_share_their_processes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "system_call:getppid", "system_call:invalid", *QUICK, "--save", "."]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "getppid is " in said and "getppid takes " in said and "recording: both.csv" in said
    text = (here / "both.csv").read_text(encoding="utf-8")
    assert "# variants: getppid,invalid" in text and "in_turns_with" not in text


@LINUX
def test_two_sources_take_turns_and_keep_their_c(
    here: Path, capsys: pytest.CaptureFixture[str], given_times: dict[str, int]
) -> None:
    given_times |= {"own": 902, "loop": 2, "invalid": 300}
    assert main(["new", "mine"]) == 0
    capsys.readouterr()
    command = ["compare", "mine.c", "system_call:invalid", *QUICK, "--save", ".", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"]["variant"], found["second"]["variant"]) == ("own", "invalid")
    assert found["ratio"]["value"] == pytest.approx(3, rel=0.02) and found["ratio"]["told_apart"]
    assert (found["first"]["recording"], found["second"]["recording"]) == ("a.csv", "b.csv")
    for name, other in (("a", "system_call"), ("b", "mine.c")):
        text = (here / f"{name}.csv").read_text(encoding="utf-8")
        assert f"# in_turns_with: labs measure {other} " in text
    assert (here / "a.c").read_text() == (here / "mine.c").read_text()


@LINUX
def test_a_variant_and_itself_are_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "timer_overhead:fenced", "timer_overhead", *QUICK, "--csv"]) == 0
    assert main(["compare", "system_call:invalid", "system_call:invalid", *QUICK, "--csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out.rpartition("what,value")[2])))
    assert [row[0] for row in rows[1:]][:2] == ["the first invalid", "the second invalid"]
    assert rows[-1][0] == "difference" and float(rows[-1][2]) <= float(rows[-1][3])


def named(lines: list[str]) -> list[str]:
    """The names of the results, in the table below the comparison."""
    header = next(n for n, line in enumerate(lines) if line.endswith("samples"))
    return [line.partition("  ")[0] for line in lines[header + 1 : header + 3]]


@LINUX
def test_two_files_that_call_themselves_the_same_are_named_by_their_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "mine"]) == 0
    (here / "other.c").write_text((here / "mine.c").read_text())
    capsys.readouterr()
    assert main(["compare", "mine.c", "other.c", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert named(lines) == ["mine.c own", "other.c own"]
    assert "other.c own" in lines[0] and "the first" not in " ".join(lines)
    assert main(["compare", "mine.c", "mine.c", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert named(lines) == ["the first own", "the second own"]


@LINUX
def test_markdown_is_a_table_and_the_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "system_call:getppid", "system_call:invalid", *QUICK, "--markdown"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| | ns | 95 % interval |", "|---|---:|---:|"]
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["getppid", "invalid"]
    assert any(line.startswith("getppid is ") for line in lines[4:])


@LINUX
@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["system_call:getpdi", "system_call"], 2, "did you mean"),
        (["system_call:", "system_call"], 2, "has no variant ''"),
        (["system_cal", "system_call"], 2, "no C kernel 'system_cal'"),
        (["nowhere.c", "system_call"], 2, "there is no file nowhere.c"),
        (["system_call", "system_call:loop", "--save", "nowhere"], 2, "there is no folder nowhere"),
        (["system_call", "system_call:loop", "--unit", "miles"], 2, "miles"),
        (["system_call", "system_call:loop", "--cpu", "99999"], 2, "cpu 99999"),
        (["bad.c", "system_call:loop"], 1, "bad.c, line 1: error"),
        (["system_call", "system_call", "--source-b", "no.cc"], 2, "--source no.cc: there is no"),
        (["system_call", "system_call", "--flags-a", "O3"], 2, "O3"),
    ],
)
def test_what_cannot_be_compared_is_explained(
    words: list[str], status: int, why: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.c").write_text("int main(void) { return nothing; }\n")
    assert main(["compare", *words]) == status
    printed = capsys.readouterr()
    assert why in printed.err and printed.err.startswith("labs compare: ") and not printed.out


@LINUX
@pytest.mark.parametrize(
    ("ticks", "limit", "status", "said"),
    [
        (1100, "5%", SLOWER, "getppid is slower by more than 5 % than invalid"),
        (1020, "5", 0, "getppid is not slower by more than 5 % than invalid"),
        (900, "5%", 0, "is not slower"),
    ],
)
def test_the_status_says_whether_a_is_slower(
    ticks: int,
    limit: str,
    status: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    given_times: dict[str, int],
) -> None:
    given_times |= {"getppid": ticks + BASELINE, "invalid": 1000 + BASELINE}
    command = ["compare", "system_call:getppid", "system_call:invalid", *QUICK, "--at-most", "0.1"]
    assert main([*command, "--fail-if", f"slower:{limit}"]) == status
    assert said in capsys.readouterr().err
    no_line = ["--batch", "8"]  # so there is no figure
    assert main([*command, "--fail-if", f"slower:{limit}", *no_line]) == CANNOT_TELL
    assert "cannot tell whether A is slower" in capsys.readouterr().err


@LINUX
@pytest.mark.parametrize(
    ("limit", "within"), [("5", "2.5"), ("3", "2"), ("300", "50"), ("5 --within 9", "9")]
)
def test_a_limit_is_looked_for_by_an_interval_half_as_wide(
    limit: str, within: str, here: Path, given_times: dict[str, int]
) -> None:
    given_times |= {"getppid": 1000 + BASELINE, "invalid": 1000 + BASELINE}
    command = ["compare", "system_call:getppid", "system_call:invalid", *QUICK, "--at-most", "0.1"]
    main([*command, "--save", ".", "--fail-if", *f"slower:{limit}".split(" ")])
    (saved, *_) = here.rglob("*.csv")
    assert f"--within {within} " in read(saved).conditions["command"]


@LINUX
def test_what_processes_disagree_on_cannot_be_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_turns = itertools.cycle([1030, 1070])

    class InTurns(dict[str, int]):
        def __getitem__(self, name: str) -> int:
            return next(in_turns) + BASELINE if name == "getppid" else super().__getitem__(name)

    given_times.give(monkeypatch, InTurns(invalid=1000 + BASELINE, getppid=0))
    command = ["compare", "system_call:getppid", "system_call:invalid", *QUICK, "--at-most", "0.1"]
    assert main([*command, "--fail-if", "slower:5 %"]) == CANNOT_TELL
    said = capsys.readouterr().err
    assert "cannot tell whether getppid is slower by more than 5 %" in said


@pytest.mark.parametrize(
    "limit", ["5%", "faster:5%", "slower", "slower:0%", "slower:-1", "slower:1e9"]
)
def test_a_limit_that_is_none_is_explained(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", "system_call", "system_call:invalid", "--fail-if", limit])
    assert ended.value.code == 2 and "write slower:PERCENT" in capsys.readouterr().err


@LINUX
def test_each_side_has_flags_and_sources_of_its_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "own.cpp").write_text(OWN)
    for name in ("old.cc", "new.c"):
        (here / name).write_text(C_LINKAGE + "long called(long n) { return 3 * n; }\n")
    sides = ["--source-a", "new.c", "--source-b", "old.cc", "--flags-b=-O1", "--flags=-O2 -DX"]
    assert main(["compare", "own.cpp", "own.cpp", *QUICK, *sides, "--save", ".", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first"]["variant"] == "own"
    flags = [read(here / f"{name}.csv").conditions["flags"] for name in "ab"]
    assert flags == ["-O2 -DX new.c", "-O1 old.cc"]
    assert (here / "a.cpp").read_text() == OWN
