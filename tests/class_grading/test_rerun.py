"""The C of a submission, run again in the sandbox: what is noted. No points depend on it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.class_grading import rerun_own_c as module
from grader.class_grading.rerun_own_c import CannotRerun, Rerun, note_of, rerun
from grader.commands.cli import main
from grader.sandbox import refusal
from labs.c_kernels.toolchain import source_hash
from labs.recording.file import read
from support.honest_cases import FOLDER as HONEST

LAB, FIGURE, OWN = "05-task-creation", "creation-own", "recordings/own.csv"
why = refusal()
needs_sandbox = pytest.mark.skipif(why is not None, reason=str(why))

#: It prints what a C kernel prints, and always as many samples.
FIXED = r"""
#include <stdio.h>
int main(void)
{
    printf("variant,sample,batch,ticks\n");
    for (int i = 0; i < %d; i++)
        printf("fork,%%d,1,5\nown,%%d,1,5\n", i, i);
}
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in which anna handed in the honest submission."""
    shutil.copytree(HONEST / LAB, tmp_path / "submitted" / "anna" / LAB)
    return tmp_path


def hand_in(course: Path, source: str, ending: str = ".c", **conditions: str) -> None:
    """Anna's own C is `source`, and her recording states that it was made with it."""
    path = course / "submitted" / "anna" / LAB / OWN
    path.with_suffix(ending).write_text(source)
    recording = read(path)
    stated = {**recording.conditions, "source.sha256": source_hash(source), **conditions}
    replace(recording, conditions=stated).write(path)


def again(course: Path) -> Rerun:
    (done,) = rerun(course, LAB, "anna", FIGURE)
    return done


@needs_sandbox
def test_an_honest_submission_is_as_it_should_be(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rerun", LAB, "anna", "--course", str(course)]) == 0
    said = capsys.readouterr().out
    assert "recordings/own.csv (creation-own)\n  It compiles.\n" in said
    assert "Asked for 120 samples, it printed as many." in said
    assert said.endswith("No points were changed.\n")
    note = json.loads(note_of(course, LAB, "anna").read_text())
    assert [run["as it should"] for run in note["runs"]] == [True]
    assert sorted(path.name for path in course.iterdir()) == ["reruns", "submitted"]


@needs_sandbox
def test_c_that_does_not_compile(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "int main(void) { return missing; }\n", ticklab="0.0.9")
    assert main(["rerun", LAB, "anna", "--course", str(course)]) == 1
    said = capsys.readouterr().out
    assert "It does not compile here.\n  own.c:1:25: error: " in said
    assert "made with Ticklab 0.0.9, and compiled again with the headers of" in said


@needs_sandbox
def test_c_plus_plus_is_compiled_as_such(course: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    hand_in(course, FIXED.replace("int i", "auto i") % 60, ".cc")
    done = again(course)
    assert done.seen.compiles and not done.seen.scales, done.seen


@needs_sandbox
@pytest.mark.parametrize("printed", [60, 120])
def test_c_that_prints_always_as_many_samples(course: Path, printed: int) -> None:
    """Once it is asked for 60 samples, and once for 120."""
    hand_in(course, FIXED % printed)
    done = again(course)
    assert done.seen.compiles and not done.seen.emits and not done.seen.scales
    assert "Asked for twice as many, it did not print twice as many." in done.sentences()


@needs_sandbox
def test_c_that_crashes_or_prints_something_else(course: Path) -> None:
    hand_in(course, "#include <signal.h>\nint main(void) { return raise(SIGSEGV); }\n")
    assert again(course).seen.trouble == "It was ended by signal 11."
    hand_in(course, '#include <stdio.h>\nint main(void) { puts("\\033[2J5 ns"); }\n')
    done = again(course)
    assert done.seen.compiles and "printed no line" in done.seen.trouble
    assert all(letter.isprintable() for letter in "".join(done.sentences()))


@needs_sandbox
def test_c_reads_nothing_of_the_instructor(course: Path) -> None:
    """Not even when it is compiled: a compiler quotes the lines that it cannot read."""
    secret = course / "grades.txt"
    secret.write_text("anna has 12345 points\n")
    hand_in(course, f'#include "{secret}"\nint main(void) {{ return 0; }}\n')
    done = again(course)
    assert not done.seen.compiles and "No such file" in done.seen.trouble
    assert "12345" not in note_of(course, LAB, "anna").read_text()
    opens = f'#include <stdio.h>\nint main(void) {{ return !fopen("{secret}", "r") ? 7 : 0; }}\n'
    hand_in(course, opens)
    assert again(course).seen.trouble == "It ended with status 7 and printed no error."


@needs_sandbox
def test_flags_that_a_student_wrote_reach_only_the_sandbox(course: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hand_in(course, "int main(void) { return 0; }\n", flags=f"-wrapper /bin/sh,-c,'touch {ran}'")
    again(course)
    hand_in(course, "int main(void) { return 0; }\n", flags="'unfinished")
    assert again(course).seen.compiles
    assert not ran.exists()


@needs_sandbox
def test_the_kits_own_c_is_not_run(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rerun", LAB, "anna", "--figure", "creation-thread", "--course", str(course)]
    assert main(words) == 0
    assert "Nothing was run" in capsys.readouterr().out
    assert not (course / "reruns").exists()


@needs_sandbox
@pytest.mark.parametrize("part", [LAB, "recordings", "recordings/own.c"])
def test_links_are_not_followed(course: Path, part: str) -> None:
    """Grace hands in a link to anna's work."""
    anna = course / "submitted" / "anna" / LAB
    grace = course / "submitted" / "grace" / LAB
    if part == LAB:
        grace.parent.mkdir()
        grace.symlink_to(anna)
        with pytest.raises(CannotRerun):
            rerun(course, LAB, "grace")
    else:
        shutil.copytree(anna, grace)
        if (grace / part).is_dir():
            shutil.rmtree(grace / part)
        else:
            (grace / part).unlink()
        (grace / part).symlink_to(anna / part)
        assert rerun(course, LAB, "grace") == []
    assert not (course / "reruns").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((LAB, "nobody"), "no submission of nobody"),
        ((LAB, "anna/.."), "holds /"),
        (("../06", "anna"), "there is no lab ../06"),
        ((LAB, "anna", "--figure", "own"), "no figure own; there is creation-"),
    ],
)
def test_what_cannot_be_run(
    course: Path,
    words: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "demand", lambda: None)
    assert main(["rerun", *words, "--course", str(course)]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_without_a_sandbox_nothing_is_run(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    refusal.cache_clear()
    try:
        assert main(["rerun", LAB, "anna", "--course", str(course)]) == 2
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert "no program bwrap" in capsys.readouterr().err
    assert not (course / "reruns").exists()
