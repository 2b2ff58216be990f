"""`labs report`: what it says of a student's figures is true, and what is missing is said."""

from __future__ import annotations

import html
import json
import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from grader.own_report import COMMAND, FigureRow, Lab, labs_in, page, summary
from grader.own_report import __main__ as command
from labs.commands import cli
from labs.course import predicted_and_found
from labs.files import CannotWrite
from labs.html import write_page
from labs.recording.file import read
from labs.results import remarks
from labs.results.result import result_of
from support.paths import FIXTURES

CALLS, SWITCHES, TRIAL = (
    "03-system-call",
    "06-process-and-thread-switch",
    "08-five-reports-on-trial",
)
HOSTILE = "My **own** conclusion.\n\n<script>alert(1)</script>\n\n![x](http://example.org/x.png)"


def notebook(text: str) -> str:
    """A notebook with one cell of the student's."""
    marks = {"nbgrader": {"grade_id": "report", "solution": True, "grade": True}}
    cell = {"cell_type": "markdown", "metadata": marks, "source": [text]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labs with everything in them that a report must not hide or believe."""
    place = tmp_path_factory.mktemp("labs")
    for lab in (CALLS, SWITCHES, TRIAL):
        shutil.copytree(FIXTURES / "honest" / lab, place / lab)
    calls = place / CALLS
    figures = json.loads((calls / "figures.json").read_text())
    figures["system-call-setuid"]["value"] *= 1000  # a slip
    del figures["system-call-read0"]
    (calls / "figures.json").write_text(json.dumps(figures))
    when = "2026-01-01T00:00:00+00:00"
    guess = {"value": 200, "unit": "ns", "because": "", "sure": 0.5, "late": False, "when": when}
    (calls / "predictions.json").write_text(json.dumps({"system-call-getppid": [guess]}))
    answer = {"text": "It never <b>entered</b> the OS kernel.", "when": when}
    (calls / "answers.json").write_text(json.dumps({"wrong": [answer]}))
    (calls / f"{CALLS}.ipynb").write_text(notebook(HOSTILE))
    return place


@pytest.fixture(scope="module")
def labs(folder: Path) -> list[Lab]:
    return labs_in(folder)


@pytest.fixture(scope="module")
def report(folder: Path, labs: list[Lab]) -> str:
    some = [lab for lab in labs if lab.name != TRIAL]  # its plots are of the same kind
    return page(some, predicted_and_found.of_labs(folder), "A. Student")


def row_of(labs: list[Lab], figure: str) -> FigureRow:
    return next(row for lab in labs for row in lab.rows if row.spec.id == figure)


def test_a_figure_is_what_its_run_shows_in_every_unit(folder: Path, labs: list[Lab]) -> None:
    recording = read(folder / CALLS / "recordings" / "calls.csv")
    values = row_of(labs, "system-call-getppid").values()
    for unit, text in zip(("ns", "cycles", "ticks"), values, strict=True):
        estimate = result_of(recording, "getppid", unit).estimate
        assert estimate is not None
        printed = [float(word.replace(",", "")) for word in re.findall(r"[\d.,]+", text)]
        assert printed == pytest.approx([estimate.value, estimate.low, estimate.high], rel=0.01)


def test_a_value_that_was_handed_in_wrong_is_not_the_value_of_the_report(labs: list[Lab]) -> None:
    row = row_of(labs, "system-call-setuid")
    assert not row.passed and row.handed_in
    assert row.values()[0].startswith("453 ")  # of the recording, not 450,000
    assert "45" in row.as_submitted() and row.as_submitted() not in row.values()[0]
    assert any("[" in doubt for doubt in row.in_doubt())
    assert row_of(labs, "system-call-getppid").in_doubt() == []


def test_what_is_missing_is_said(labs: list[Lab], report: str) -> None:
    assert "not handed in" in row_of(labs, "system-call-read0").check
    calls = next(lab for lab in labs if lab.name == CALLS)
    assert any("(system-call-read0)" in each for each in calls.missing)
    assert any(each.startswith("an answer: ") for each in calls.missing)
    assert not any("what is wrong with report B" in each for each in calls.missing)
    (first, absent) = summary(labs)
    of = sum(len(lab.rows) for lab in labs)
    assert first == (
        f"{of - 2} of {of} figures pass the check; 1 does not, and 1 is not handed in."
    )
    assert "01-timer-overhead" in absent and "<li>01-timer-overhead</li>" in report


def test_evidence_is_never_claimed_for_a_mistake_that_is_repeated(labs: list[Lab]) -> None:
    assert "one trap each" in row_of(labs, "trial-a-repaired").evidence()
    # The same C kernel's name and variant, but the C answers from a cache.
    assert "trap" not in row_of(labs, "trial-a-reproduced").evidence()
    counted = row_of(labs, "process-switch-pipe-pinned").evidence()
    assert re.fullmatch(r"[\d,]+ switches counted, [\d,]+ claimed", counted)
    assert "they disagree" in row_of(labs, "switch-convoy-count").evidence()


def test_evidence_of_a_broken_c_kernel_that_was_handed_in_claims_no_trap(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder / CALLS, tmp_path / CALLS)
    calls = tmp_path / CALLS / "recordings" / "calls.csv"
    stated = re.sub(r"(?m)^(# source.sha256: ).*$", rf"\g<1>{'0' * 64}", calls.read_text())
    calls.write_text(stated)
    row = row_of(labs_in(tmp_path), "system-call-getppid")
    assert "trap" not in row.evidence() and "off the line" in row.evidence()


def test_evidence_counts_only_what_the_variant_itself_did() -> None:
    def evidence(lab: str, name: str, variant: str) -> str:
        recording = read(FIXTURES / "honest" / lab / "recordings" / f"{name}.csv")
        return remarks.evidence_of(result_of(recording, variant))

    assert re.fullmatch(
        r"[\d,]+ tasks created, [\d,]+ page faults of children counted",
        evidence("05-task-creation", "kinds", "fork-wait"),
    )
    # Its run has switches, of another variant; it claims none.
    assert "off the line" in evidence(SWITCHES, "threads", "condvar-alone")
    assert evidence("02-first-iteration", "cold", "call") == "first sample of 20 processes"


def test_conclusions_and_ratios_are_shown_as_such(labs: list[Lab]) -> None:
    (text, *others) = row_of(labs, "system-call-trap-share").values()
    assert text == "“more than half of it is the way in and out”" and others == ["", ""]
    assert re.fullmatch(r"[\d.]+ times \([\d.]+ to [\d.]+\)", row_of(
        labs, "system-call-vdso-ratio").values()[0])  # fmt: skip


def test_the_page_stands_alone_and_a_student_s_text_can_do_nothing(report: str) -> None:
    assert "<script" not in report
    for address in re.findall(r'(?:src|href)="([^"]*)"', report):
        assert address.startswith(("data:", "#")), address
    assert "My <strong>own</strong> conclusion." in report
    assert html.escape("<b>entered</b>") in report and "<b>entered" not in report
    assert "A. Student" in report and "In the student" in report


def test_the_page_has_configuration_plots_predictions_and_published_machines(report: str) -> None:
    for words in (
        "What the recordings state", "core clock", "GHz, measured in each run", "pinning",
        "Published machines",
        "What speaks against the published figures", "Your predictions, and what you found",
    ):  # fmt: skip
        assert words in report, words
    assert report.count("<img") >= 6
    assert "system-call-getppid" in report and "200\xa0ns" in report


def test_a_configuration_lists_every_value_that_the_runs_had(folder: Path) -> None:
    recordings = [
        read(folder / CALLS / "recordings" / "calls.csv"),
        read(folder / SWITCHES / "recordings" / "process.csv"),
    ]
    facts = dict(remarks.configuration_of(recordings))
    assert facts["Ticklab"] == recordings[0].conditions["ticklab"]
    assert facts["pinning"] == "tasks that switch: to one CPU"
    assert "step" in facts["clock"] and "MHz" in facts["clock"]
    other = {**recordings[1].conditions, "machine.cpu": "Another CPU"}
    recordings[1] = replace(recordings[1], conditions=other)
    both = dict(remarks.configuration_of(recordings))
    assert both["CPU"].endswith("; Another CPU") and ";" not in facts["CPU"]


def test_a_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    mine = tmp_path / "report.html"
    mine.write_text("mine")
    with pytest.raises(CannotWrite, match="was not made by"):
        write_page(mine, "<p>", COMMAND)
    assert mine.read_text() == "mine"
    link = tmp_path / "link.html"
    link.symlink_to(mine)
    with pytest.raises(CannotWrite):
        write_page(link, "<p>", COMMAND)
    made = tmp_path / "made.pdf"
    command.write_pdf(made, b"%PDF-1.4\n%%EOF\n", COMMAND)
    command.write_pdf(made, b"%PDF-1.7\n%%EOF\n", COMMAND)
    assert made.read_bytes().startswith(b"%PDF-1.7")
    (tmp_path / "thesis.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    with pytest.raises(CannotWrite):
        command.write_pdf(tmp_path / "thesis.pdf", b"%PDF-1.4\n", COMMAND)
    with pytest.raises(CannotWrite):  # of another command
        command.write_pdf(made, b"%PDF-1.4\n", "labs survey")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A lab with one text and no figure: the shortest report."""
    (tmp_path / CALLS).mkdir()
    (tmp_path / CALLS / f"{CALLS}.ipynb").write_text(notebook("A text."))
    return tmp_path


def browser_that(tmp_path: Path, script: str) -> str:
    """A program in place of a browser."""
    place = tmp_path / "a-browser"
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


WRITES = """
for word
do case $word in --print-to-pdf=*) printf "%%PDF-1.4" > "${word#*=}";; esac
done"""


@pytest.mark.parametrize(
    ("script", "status", "words"),
    ids=["printed", "refused", "no browser"],
    argvalues=[
        (WRITES, 0, "PDF: "),
        ("echo no display >&2; exit 1", 1, "could not print (no display); open "),
        (None, 1, "no Chromium, Chrome or Edge was found here; open "),
    ],
)
def test_a_pdf_is_printed_or_it_is_said_how(
    empty: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: str | None,
    status: int,
    words: str,
) -> None:
    program = None if script is None else browser_that(empty, script)
    monkeypatch.setattr(command, "browser", lambda: program)
    output = empty / "report.html"
    assert command.main([str(empty), f"--output={output}", "--pdf"]) == status
    printed = capsys.readouterr()
    assert words in printed.out + printed.err
    assert output.is_file() and (empty / "report.pdf").is_file() == (status == 0)
    assert not list(empty.glob("ticklab-pdf-*"))


def test_the_command_reports_in_the_folder_of_the_labs(
    empty: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(empty / CALLS), "--name", "A. Student"]) == 0
    assert f"page: {empty / 'ticklab-report.html'}" in capfd.readouterr().out
    assert "A. Student" in (empty / "ticklab-report.html").read_text(encoding="utf-8")


def test_without_labs_or_figures_there_is_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(tmp_path)]) == 1
    assert "there are no labs and no recordings in" in capsys.readouterr().err
    (tmp_path / CALLS).mkdir()
    assert command.main([str(tmp_path), f"--output={tmp_path / 'r.html'}"]) == 1
    assert "has a figure or a text yet" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


PAGE_OF_ITS_OWN = "<style>@media print { section { break-before: page; } }</style></head>"


def pages_of(text: str, folder: Path) -> int:
    """How many pages of paper a page takes."""
    place = folder / "printed.html"
    place.write_text(text, encoding="utf-8")
    return len(re.findall(rb"/Type /Page\b", command.printed(place)))


@pytest.mark.browser
@pytest.mark.skipif(command.browser() is None, reason="no browser is installed")
def test_no_lab_leaves_the_page_before_it_nearly_empty(report: str, tmp_path: Path) -> None:
    """What is left of a lab, such as one plot, shares its page with the next lab."""
    apart = report.replace("</head>", PAGE_OF_ITS_OWN)
    assert 1 < pages_of(report, tmp_path) < pages_of(apart, tmp_path)
