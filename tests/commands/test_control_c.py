"""Control-C ends a measurement, and what whole processes have measured is printed and saved."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from labs.commands import cli, measure
from labs.recording.cut_short import CANCELLED, cut_short
from labs.recording.file import read
from labs.run.measure import Kept, Plan

#: A C kernel whose first processes measure, and whose next one waits without end. Each of them
#: leaves a file of its number.
SOURCE = """
#define _GNU_SOURCE
#include "harness.h"
#include <fcntl.h>
static uint64_t interval(long batch)
{{
    const uint64_t begin = counter_begin();
    for (long i = 0; i < batch; i++)
        __asm__ volatile("" : "+r"(i));
    return counter_end() - begin;
}}
static const long batches[] = {{64, 128, 256}};
static const struct variant variants[] = {{
    {{.name = "add", .about = "adds", .interval = interval, .read = counter_begin}}}};
int main(int argc, char **argv)
{{
    static const struct c_kernel kernel = {{
        .name = "adds", .about = "adds", LISTED_VARIANTS(variants), LISTED_BATCHES(batches)}};
    for (int number = 0; argc > 2 && number <= {whole}; number++) {{
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", "{folder}", number);
        const int seen = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (seen < 0)
            continue;
        close(seen);
        if (number == {whole})
            pause();
        break;
    }}
    return measure(&kernel, argc, argv);
}}
"""


def interrupted(folder: Path, whole: int, *words: str) -> tuple[int, str, str]:
    """The exit status and the output of `labs WORDS`, ended by Control-C after so many processes.

    The C kernel is `adds.c` in `folder`.
    """
    marks = folder / "marks"
    marks.mkdir()
    (folder / "adds.c").write_text(SOURCE.format(whole=whole, folder=marks))
    run = subprocess.Popen(
        [sys.executable, "-m", "labs.commands.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    while not (marks / f"{whole}").exists():
        assert run.poll() is None, run.communicate()
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    return run.returncode, printed, said


MEASURE = ("measure", "adds.c", "--samples", "900", "--warmup", "0", "--processes", "10")


def test_the_figure_of_the_processes_that_had_finished_is_printed(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 6, *MEASURE, "--save", "run.csv")
    assert status == 130, said
    assert "samples from 6 processes" in printed or "of 6 processes" in printed
    assert "the run was cancelled after 6 of 10 processes" in printed
    found = cut_short(read(tmp_path / "run.csv"))
    assert found is not None
    assert (found.by, found.whole, found.planned) == (CANCELLED, 6, 10)


def test_json_states_it_too(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 6, *MEASURE, "--json")
    stated = json.loads(printed)
    assert status == 130, said
    assert stated["conditions"]["cut_short.by"] == CANCELLED
    (warning,) = [each for each in stated["warnings"] if each["code"] == "cut-short"]
    assert "after 6 of 10 processes" in warning["symptom"]


def test_without_a_whole_process_nothing_is_printed(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 0, *MEASURE, "--save", "run.csv")
    assert (status, printed, said.splitlines()[-1]) == (130, "", "interrupted")
    assert not (tmp_path / "run.csv").exists()


def test_a_comparison_is_printed_from_what_had_finished(tmp_path: Path) -> None:
    words = ("compare", "adds.c", "timer_overhead:fenced", *MEASURE[2:])
    status, printed, said = interrupted(tmp_path, 6, *words)
    assert status == 130, said
    assert "the run was cancelled after 6 of 10 processes" in printed


@pytest.mark.parametrize("kept", [True, False])
def test_the_status_is_0_only_if_nobody_interrupts(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    carried_out = measure.carry_out

    def carry_out(plans: list[Plan], unit: str, keep: Kept) -> object:
        found = carried_out(plans, unit)
        if kept:
            keep(found)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(measure, "carry_out", carry_out)
    words = ["measure", "timer_overhead", "--samples", "100", "--processes", "2"]
    assert cli.main(words) == (130 if kept else 0)
    assert "timer_overhead fenced" in capsys.readouterr().out
