"""The forms of output: what each command offers, and that equal results are printed alike."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from labs.commands import measure, outputs
from labs.commands.cli import main
from labs.commands.outputs import FORMS, Form
from labs.recording.file import Recording, read
from labs.results.result import result_of, sensible
from labs.units import fixed
from support.paths import FIXTURES

SAVED = FIXTURES / "honest" / "03-system-call" / "recordings" / "calls.csv"
MEASURED = ["system_call", "--variant", "getppid,invalid"]
Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is the saved one."""
    monkeypatch.chdir(tmp_path)
    gives(monkeypatch, read(SAVED))


def gives(monkeypatch: pytest.MonkeyPatch, recording: Recording) -> None:
    monkeypatch.setattr(measure, "carry_out", lambda *_: (recording,))


def printed(words: list[str], capsys: Printed, status: int = 0) -> tuple[str, str]:
    try:
        ended = main(words)
    except SystemExit as stopped:
        ended = int(stopped.code or 0)
    found = capsys.readouterr()
    assert ended == status, found.err
    return found.out, found.err


def options(command: str) -> list[str]:
    return [f"--{name}" for name, form in FORMS.items() if command in form.words and form.about]


def test_every_function_of_the_table_is_there() -> None:
    for form in FORMS.values():
        for place in form.words.values():
            module, _, name = place.partition(":")
            assert callable(getattr(importlib.import_module(f"labs.{module}"), name)), place


def test_record_prints_in_each_form_what_measure_prints(capsys: Printed) -> None:
    for option in [[], *([each] for each in options("measure") if each != "--text")]:
        command = [*MEASURED, "--save", "run.csv", *option]
        assert printed(["record", *command], capsys) == printed(["measure", *command], capsys)


def test_show_prints_the_figures_of_a_saved_run_as_measure_does(capsys: Printed) -> None:
    show = ["show", "run.csv", "--variant", "getppid,invalid"]
    printed(["measure", *MEASURED, "--save", "run.csv"], capsys)
    for option in ("--csv", "--markdown"):
        assert printed([*show, option], capsys) == printed(["measure", *MEASURED, option], capsys)
    shown, _ = printed([*show, "--json"], capsys)
    told, _ = printed(["measure", *MEASURED, "--save", "run.csv", "--json"], capsys)
    figures = [[(each["value"], each["ratio" if n else "unit"]) for n, each in enumerate(of)]
               for of in (json.loads(shown), json.loads(told))]  # fmt: skip
    assert figures[0] == figures[1] and json.loads(shown)[0]["recording"] == "run.csv"
    assert not list(Path().glob("*.html"))


def test_a_new_form_needs_only_its_row(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"measure": "results.results_compared:as_csv"}
    monkeypatch.setattr(outputs, "FORMS", {**FORMS, "sheet": Form("print a sheet", words)})
    for command in ("measure", "record"):
        assert "print a sheet" in printed([command, "--help"], capsys)[0]
        assert printed([command, *MEASURED, "--sheet"], capsys)[0].startswith("what,value,")
    assert "no option --sheet" in printed(["show", "x", "--sheet"], capsys, 2)[1]


def test_a_form_that_a_command_does_not_have_is_refused(capsys: Printed) -> None:
    assert options("survey") == options("survey --compare") == ["--text", "--json"]
    assert "labs survey: no option --csv" in printed(["survey", "--csv"], capsys, 2)[1]
    for first, second in (("--csv", "--json"), ("--markdown", "--csv")):
        said = printed(["measure", *MEASURED, first, second], capsys, 2)[1]
        assert f"argument {second}: not allowed with argument {first}" in said


def test_a_table_says_beside_it_why_there_is_no_figure(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = read(SAVED)
    gives(monkeypatch, replace(saved, ticks=np.full_like(saved.ticks, 100)))
    text, said = printed(["measure", *MEASURED, "--csv"], capsys)
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1:] == [["getppid", "", "", "", "ns"], ["invalid", "", "", "", "ns"]]
    assert said.count(": no figure: ") == 2
    table, said = printed(["measure", *MEASURED, "--markdown"], capsys)
    assert table.count("| no figure |") == 2 and said.count(": no figure: ") == 2


@pytest.mark.parametrize("unit", ["ns", "cycles"])
def test_each_form_prints_value_interval_and_unit_and_loses_no_warning(
    unit: str, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = read(SAVED)
    stated = MappingProxyType({**saved.conditions, "preloaded.ld_preload": "libfast.so"})
    run = replace(saved, conditions=stated)
    gives(monkeypatch, run)
    results = [result_of(run, name, unit).estimate for name in ("getppid", "invalid")]
    for option in [[], *([each] for each in options("measure") if each != "--text")]:
        text, said = printed(["measure", *MEASURED, "--unit", unit, *option], capsys)
        numbers = re.findall(r"\d+\.\d+", text)
        for estimate in results:
            assert estimate is not None
            for expected in sensible(estimate):
                _, _, decimals = expected.partition(".")
                same = [each for each in numbers if fixed(float(each), len(decimals)) == expected]
                assert same, (option, expected)
        assert unit in text, option
        assert "libfast.so" in text + said, option


def test_each_form_of_a_comparison_prints_ratio_and_difference(capsys: Printed) -> None:
    run = read(SAVED)
    one, other = (result_of(run, name, "ns").estimate for name in ("getppid", "invalid"))
    assert one is not None and other is not None
    pair = ["compare", "system_call:getppid", "system_call:invalid"]
    for option in [[], *([each] for each in options("compare") if each != "--text")]:
        text, said = printed([*pair, *option], capsys)
        for value in (one.value / other.value, abs(one.value - other.value)):
            assert f"{value:.4g}"[:4] in text, (option, value, text, said)


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "timer_overhead", "--variant", "fenced", "--save", "recordings/x.csv"],
        ["record", "timer_overhead", "--save", "recordings/x.csv"],
        ["compare", "timer_overhead:fenced", "timer_overhead:unfenced", "--save", "recordings"],
    ],
    ids=lambda words: words[0],
)
def test_a_run_is_not_saved_through_a_link(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    lab, elsewhere = tmp_path / "01-timer-overhead", tmp_path / "elsewhere"
    lab.mkdir()
    elsewhere.mkdir()
    (lab / "recordings").symlink_to(elsewhere)
    monkeypatch.chdir(lab)
    assert main(words) == 2
    assert "is a link to another folder" in capsys.readouterr().err
    assert not list(elsewhere.iterdir())
