"""`labs survey`: every measurement becomes rows; what cannot be measured says why."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from labs.analysis.confidence import Estimate
from labs.commands import cli
from labs.machine.description import read_machine
from labs.results.result import result_of
from labs.run import variants
from labs.survey import survey
from labs.survey.survey import MEASUREMENTS, Measurement, Row
from labs.units import rounded
from support import simulate
from support.c_programs import LINUX
from support.declarations import as_declared

CHEAP = Measurement(
    "system_call", ("getpid", "getpid-libc"), (400, 800), processes=(2, 2),
)  # fmt: skip
SWITCH = Measurement(
    "process_switch", ("pipe-pinned",), (200, 400), processes=(2, 2),
)  # fmt: skip
UNKNOWN = Measurement("timer_overhead", ("sundial",), (100, 100))
NOWHERE = Measurement("no_such_kernel", ("it",), (100, 100))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, given_times: dict[str, int]) -> None:
    """A survey of four measurements, two of which cannot be made; the others take given times."""
    monkeypatch.setattr(survey, "MEASUREMENTS", (CHEAP, UNKNOWN, NOWHERE, SWITCH))


@pytest.fixture
def impossible(tmp_path: Path) -> Measurement:
    """A C kernel that says by its exit status that this machine cannot do it."""
    source = tmp_path / "never.c"
    source.write_text(
        "#include <stdio.h>\n"
        'int main(void) { fprintf(stderr, "it: not on this machine: no moon\\n"); return 3; }\n'
    )
    return Measurement(str(source), ("it",), (100, 100))


def rows_of_all(quick: bool = True) -> list[Row]:
    return [row for _, _, rows in survey.carry_out(quick) for row in rows]


def test_every_variant_becomes_a_row_whatever_comes_of_the_others(short: None) -> None:
    rows = rows_of_all()
    assert [row.variant for row in rows] == [
        "getpid",
        "getpid-libc",
        "sundial",
        "it",
        "pipe-pinned",
    ]
    assert [row.result is not None for row in rows] == [True, True, False, False, True]
    by_name = {row.variant: row for row in rows}
    assert "sundial" in by_name["sundial"].why_not
    assert "no_such_kernel" in by_name["it"].why_not
    assert all(row.why_not == "" for row in rows if row.result and row.result.estimate)


def test_what_this_machine_cannot_do_is_a_row_that_says_so(
    impossible: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "MEASUREMENTS", (impossible,))
    (row,) = rows_of_all()
    assert row.result is None
    assert "no moon" in row.why_not
    lines = survey.text([row]).splitlines()
    assert "○ no figure" in lines[0] and "no moon" in lines[-1]
    page = survey.page([row], read_machine())
    assert "no moon" in page


def test_a_reason_that_names_an_option_names_the_command_that_has_it() -> None:
    few = "10 samples are too few for 3 batch sizes; raise --samples"
    rows = [Row(SWITCH, name, None, f"{name}: {few}.", ()) for name in SWITCH.variants]
    (line,) = survey.notes(rows)
    first = f"labs measure {SWITCH.kernel} --variant {SWITCH.variants[0]}"
    assert line.endswith(f": {few} (of `{first}`).")
    (line,) = survey.notes([Row(SWITCH, "x", None, "x: there is no moon.", ())])
    assert line.endswith(": there is no moon.")


def test_progress_goes_from_nothing_to_all(short: None) -> None:
    seen: list[float] = []
    for _ in survey.carry_out(True, seen.append):
        pass
    assert seen == sorted(seen)
    assert seen[-1] == 1 and 0 <= seen[0] < 0.5


@LINUX
def test_a_switch_is_proved_and_a_system_call_told_apart(short: None) -> None:
    proofs = {row.variant: row.proof() for row in rows_of_all()}
    assert re.search(r"[\d,]+ switches counted, [\d,]+ claimed", proofs["pipe-pinned"])
    assert "not bound" not in proofs["pipe-pinned"]
    assert "trap" in proofs["getpid"]
    assert proofs["sundial"] == ""


@LINUX
def test_a_switch_that_could_not_be_bound_to_one_cpu_says_so(short: None) -> None:
    (row,) = (row for row in rows_of_all() if row.variant == "pipe-pinned")
    assert row.result is not None
    of = row.result.recording
    stated = {
        **of.conditions,
        "cpu.pinning": "none: this system offers no pinning",
        "cpu.allowed": "0-1",
        "cpus.online": "2",
    }
    unbound = dataclasses.replace(of, conditions=stated)
    result = dataclasses.replace(row.result, recording=unbound)
    output = dataclasses.replace(row, result=result).proof()
    assert output.endswith("; not bound to one CPU")


def test_published_figures_stand_beside_with_a_mark_where_they_are_suspect(short: None) -> None:
    rows = rows_of_all()
    by_name = {row.variant: row for row in rows}
    assert by_name["getpid-libc"].published and not by_name["getpid"].published
    page = survey.page(rows, read_machine())
    assert re.search(r"A [\d.,]+( to [\d.,]+)?\*", page)
    assert survey.reasons(rows)


def test_the_terminal_shows_a_line_for_each_row_in_80_columns(short: None) -> None:
    rows = rows_of_all()
    lines = survey.text(rows).splitlines()
    assert max(map(len, lines)) <= 80
    for row in rows:
        assert any(line.startswith(f"  {survey.name_of(row)} ") for line in lines)


def test_a_bar_is_as_long_as_its_figure_is_large_in_all_groups() -> None:
    rows = [
        line_of("args0", 10, "procedure_call"),
        line_of("fork-wait", 1e3, "task_creation"),
        line_of("noon", 1e5, "sundials"),
    ]
    lines = [line for line in survey.text(rows).splitlines() if "●" in line]
    bars = [line.count("━") for line in lines]
    # Each is a hundred times the one before, so the steps of a logarithmic axis are alike.
    assert abs((bars[2] - bars[1]) - (bars[1] - bars[0])) <= 1 and bars[0] > 3
    assert len({line.index("━") for line in lines}) == 1


def test_all_figures_are_on_one_axis_with_what_was_published(short: None) -> None:
    rows = rows_of_all()
    drawing = survey.overview(rows)
    assert drawing is not None
    drawn = {(name, value) for _, name, value in drawing.table.rows}
    for row in rows:
        if row.result is not None and row.result.estimate is not None:
            assert (survey.name_of(row), rounded(row.result.estimate.value, 4)) in drawn
        for each in row.published:
            assert ("published", rounded(each.ns, 4)) in drawn
    without = {survey.name_of(row) for row in rows if row.why_not}
    assert {name for name, value in drawn if value == "no figure"} == without and without
    words = {each.text for each in ElementTree.fromstring(drawing.svg).iter() if each.text}
    assert {"1 ns", "10 ms"} <= words


def test_one_table_has_each_row_under_its_group(short: None) -> None:
    rows = rows_of_all()
    table = survey.figures(rows)
    names = [row[0] for row in table.rows]
    for section in survey.sections(rows):
        begin = names.index(section.heading)
        assert not any(table.rows[begin][1:])
        mine = [survey.name_of(row) for row in section.rows]
        assert names[begin + 1 : begin + 1 + len(mine)] == mine
    assert survey.page(rows, read_machine()).count("<table") == 1


class Page(html.parser.HTMLParser):
    """Whether every element is closed, and what it refers to."""

    VOID = ("meta", "br", "img", "hr", "link", "input", "path", "use", "rect", "circle", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not (value or "").startswith(
                ("data:", "#")
            ):
                self.outside.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
            self.open.pop()


def test_the_page_is_whole_and_needs_nothing_else(short: None) -> None:
    text = survey.page(rows_of_all(), read_machine())
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == [] and page.outside == []
    assert "script" not in page.tags and "table" in page.tags
    assert {"svg", "img"} & set(page.tags)
    assert not re.search(r"(url|@import)\s*\(?\s*['\"]?http", text)


def line_of(name: str, cost: float, kernel: str, flags: str = "-O2") -> Row:
    """The row of a variant that costs so many ns, from a simulated recording."""
    machine = simulate.Machine(cost=cost, batches=(8, 16, 32, 64), samples=400, frequency_hz=1e9)
    made = simulate.run(machine, 3)
    conditions = {
        key.replace(simulate.VARIANT, name): value for key, value in made.conditions.items()
    }
    if kernel.endswith("switch"):
        conditions |= {"claimed.switches": "9", f"variant.{name}.switches": "2"}
    named = dataclasses.replace(made, variants=(name,), conditions={**conditions, "flags": flags})
    recording = as_declared(named, kernel)
    measurement = Measurement(kernel, (name,), (1, 1), flags=(flags,))
    return Row(measurement, name, result_of(recording, name), "", ())


def test_long_numbers_stay_in_80_columns() -> None:
    names = ("processes-32-256k", "processes-32-1m", "threads-32-256k")
    rows = [line_of(name, 1.6e7, "switch_footprint") for name in names]
    lines = survey.text(rows).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(" 16 ms " in line for line in lines[2:])


def test_from_a_tenth_of_a_millisecond_on_numbers_have_no_decimals() -> None:
    def value_of(ns: float) -> str:
        return survey.numbers(Estimate(ns, ns - 0.04, ns + 0.04, "ns", "", 400, 5))[0]

    assert "." in value_of(99_999.44) and value_of(100_000.44) == "100,000"


def test_a_full_survey_has_70_lines_and_a_series_shows_its_lowest_and_highest() -> None:
    rows = []
    for each in MEASUREMENTS:
        cheap, dear = (line_of("a", cost, "sundials") for cost in (20, 500))
        for name in each.variants:
            result = dear.result if name == each.variants[-1] else cheap.result
            rows.append(Row(each, name, result, "", ()))
    lines = survey.text(rows).splitlines()
    assert len(lines) <= 70 and max(map(len, lines)) <= 80
    of_calls = next(line for line in lines if line.startswith("  args0 to 12 -O0 "))
    assert re.search(r" 20(\.\d)? to (499|500|501) ns ", of_calls) and of_calls.count("●") == 2
    # One that has no figure has a line of its own, which says why.
    missing = [dataclasses.replace(rows[0], variant="args0", result=None, why_not="args0: no moon")]
    assert "  args0 ○ no moon" in survey.text(missing)


def test_a_reason_that_other_programs_give_takes_one_line() -> None:
    why = "other programs had the CPU during 55 of 63 samples, and too few are left; measure again"
    rows = [
        Row(each, name, None, f"{why}, {name}", ())
        for each in MEASUREMENTS
        for name in each.variants
    ]
    lines = survey.text(rows).splitlines()
    assert len(lines) == 1 + len(rows) + len(list(survey.sections(rows)))
    assert max(map(len, lines)) <= 80


def test_two_measurements_never_share_a_recording() -> None:
    names = [each.file_name for each in MEASUREMENTS]
    assert len(names) == len(set(names))


def test_the_command_prints_json_that_scripts_can_read(
    short: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["survey", "--quick", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert [each["variant"] for each in output][:2] == ["getpid", "getpid-libc"]
    for each in output:
        assert {
            "kernel",
            "variant",
            "value",
            "method",
            "proof",
            "flags",
            "published",
        } <= each.keys()
    by_name = {each["variant"]: each for each in output}
    assert by_name["sundial"]["value"] is None and "sundial" in by_name["sundial"]["method"]
    switch = by_name["pipe-pinned"]
    # Where other programs bend the line there is no figure, and the method says so.
    assert "off the line" in switch["method"] or switch["round_trip"] > switch["unsubtracted"]
    marks = [each["suspect"] for each in by_name["getpid-libc"]["published"]]
    assert any(marks)


def test_it_is_all_saved_where_asked(
    short: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["survey", "--quick", "--save", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "index.html").stat().st_size > 2_000
    saved = sorted(path.name for path in (tmp_path / "out" / "recordings").iterdir())
    assert saved == ["process_switch-pipe-pinned.csv", "system_call-getpid-getpid-libc.csv"]
    assert "getpid" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_costs_nothing_but_the_page(
    short: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert cli.main(["survey", "--quick", "--save", str(tmp_path / "file")]) == 1
    printed = capsys.readouterr()
    for name in ("getpid", "sundial", "pipe-pinned"):
        assert name in printed.out
    assert "labs survey:" in printed.err


def test_where_nothing_can_be_measured_the_status_says_so(
    impossible: Measurement, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(survey, "MEASUREMENTS", (impossible,))
    assert cli.main(["survey", "--quick"]) == 1
    assert "no moon" in capsys.readouterr().out


def test_a_plan_takes_all_that_its_measurement_states() -> None:
    assert any(each.batches for each in MEASUREMENTS)
    for each in MEASUREMENTS:
        for quick in (True, False):
            plan, which = each.plan(quick), 0 if quick else 1
            for name in ("kernel", "variants", "flags", "batches", "warmup"):
                assert getattr(plan, name) == getattr(each, name), (each.file_name, name)
            assert (plan.samples, plan.processes) == (each.samples[which], each.processes[which])


def test_the_survey_asks_for_nothing_that_the_c_kernels_do_not_have() -> None:
    for each in MEASUREMENTS:
        known = {listed.name for listed in variants.of_kernel(each.kernel)}
        assert set(each.variants) <= known
        if each.samples[0]:
            each.plan(quick=True).check()
        each.plan(quick=False).check()


def test_every_c_kernel_that_is_measured_has_a_group() -> None:
    of_groups = {kernel for _, kernels in survey.GROUPS for kernel in kernels}
    assert of_groups == {each.kernel for each in MEASUREMENTS}
    assert len(of_groups) == sum(len(kernels) for _, kernels in survey.GROUPS)


def test_nothing_is_measured_twice_nor_with_more_memory_than_it_needs() -> None:
    names = [(each.kernel, name, each.flags) for each in MEASUREMENTS for name in each.variants]
    assert len(names) == len(set(names))
    # A fork's parent may be asked to hold more, on purpose; with it the survey stays below 300 MB.
    asked = [re.search(r"-(\d+)(mb|gb)$", name) for _, name, _ in names]
    assert {match[0] for match in asked if match} == {"-1mb", "-16mb", "-64mb"}
    for each in MEASUREMENTS:
        # What is in memory would count for whatever shares the run.
        assert len(each.variants) == 1 or not any(re.search("[mg]b$", n) for n in each.variants)


#: Two processes of each C kernel fill as much memory as ten.
FEW_PROCESSES = """
import sys
from dataclasses import replace
from labs.commands import cli
from labs.survey import survey
survey.MEASUREMENTS = [replace(each, processes=(2, 2)) for each in survey.MEASUREMENTS]
sys.exit(cli.main(["survey", "--quick", "--save", sys.argv[1]]))
"""
MEASURED_BY = f"""
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-c", {FEW_PROCESSES!r}, sys.argv[1]])
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.slow
@LINUX
def test_a_quick_survey_stays_below_300_mb(tmp_path: Path) -> None:
    # In a process of its own: what other tests have started does not count.
    done = subprocess.run(
        [sys.executable, "-c", MEASURED_BY, str(tmp_path / "out")],
        capture_output=True, text=True, check=True, timeout=110,
    )  # fmt: skip
    status, kilobytes = done.stderr.split()[-2:]
    assert status == "0", done.stderr
    assert int(kilobytes) < 300 * 1024
    assert (tmp_path / "out" / "index.html").exists()
