"""What `page_fault` calls a page fault is one, by the count of the OS; a run without it fails."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from labs.results.remarks import evidence_of
from labs.results.result import result_of
from labs.run.c_process import gather, parse_run
from support.c_programs import FOLDER, LINUX, Program, compile_c, conditions_of, rows_of
from support.programs import call

pytestmark = LINUX

ProgramOf = Callable[[str], Program]

KERNEL = "page_fault"
FAULTING = ("anonymous", "copy-on-write", "file", "zero-page")
THERE = ("touched", "file-touched", "prefaulted")
BATCHES = (32, 64, 96, 128)
SOME = ("--samples", "80", "--warmup", "4")
#: Page faults that the OS makes for reasons of its own, as a share of the pages touched.
ODD = 0.02


def counts(stated: dict[str, str], variant: str) -> tuple[int, int, int]:
    """Pages touched, page faults in the samples, page faults of later writes."""
    keys = ("touched", "faults", "later_faults")
    touched, faults, later = (int(stated[f"variant.{variant}.{key}"]) for key in keys)
    return touched, faults, later


@pytest.fixture(scope="module")
def output(program_of: ProgramOf) -> str:
    """One run of all variants."""
    every = ",".join((*FAULTING, *THERE, "populate"))
    done = call(program_of(KERNEL), "--variant", every, *SOME)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_touch_makes_one_page_fault_and_one_of_a_page_that_is_there_none(output: str) -> None:
    stated, rows = conditions_of(output), rows_of(output)
    for variant in FAULTING:
        touched, faults, _ = counts(stated, variant)
        assert touched >= sum(row[2] for row in rows if row[0] == variant) > 0, variant
        assert touched <= faults <= (1 + ODD) * touched, variant
    for variant in THERE:
        touched, faults, later = counts(stated, variant)
        assert touched > 0, variant
        assert max(faults, later) <= ODD * touched, variant


def test_only_a_page_that_was_read_lacks_memory_afterwards(output: str) -> None:
    stated = conditions_of(output)
    touched, _, later = counts(stated, "zero-page")
    assert later >= touched
    for variant in ("anonymous", "populate"):
        touched, _, later = counts(stated, variant)
        assert later <= ODD * touched


def test_more_pages_take_longer(output: str) -> None:
    """Eight times as many pages take clearly longer, and a touch without a page fault does not.

    The system call that populates takes as long as 16 of its pages on some machines.
    """

    def middle(name: str, batch: int) -> float:
        rows = [row for row in rows_of(output) if (row[0], row[2]) == (name, batch)]
        return statistics.median(ticks for *_, ticks in rows)

    for variant, times in {**dict.fromkeys(FAULTING, 1.5), "populate": 1.2}.items():
        few, many = middle(variant, BATCHES[0]), middle(variant, BATCHES[-1])
        assert many > times * few, variant
        assert many > 5 * middle("touched", BATCHES[-1]), variant


def test_the_evidence_of_a_figure_is_the_count(output: str) -> None:
    recording = gather({}, [parse_run(output.encode(), KERNEL)], KERNEL)
    touched, faults, _ = counts(conditions_of(output), "anonymous")
    said = evidence_of(result_of(recording, "anonymous"))
    assert said == f"{faults:,} page faults counted, {touched:,} pages"


def changed(folder: Path, old: str, new: str) -> Program:
    """The C kernel with another text in the only place where it has this one."""
    text = (FOLDER / f"{KERNEL}.c").read_text(encoding="utf-8")
    assert text.count(old) == 1
    for header in FOLDER.glob("*.h"):
        shutil.copy(header, folder)
    source = folder / f"{KERNEL}.c"
    source.write_text(text.replace(old, new), encoding="utf-8")
    return compile_c(folder, "-O0", source=source)


@pytest.mark.parametrize(
    ("variant", "old", "new"),
    [
        ("anonymous", "map_memory(), batch, WRITE", "map_and_write(batch), batch, WRITE"),
        ("anonymous", "map_memory(), batch, WRITE", "map_memory(), batch, READ"),
        ("touched", "INTERVAL(touched, map_and_write(batch)", "INTERVAL(touched, map_memory()"),
        ("file", "map_file(), batch, READ_APART", "map_file(), batch, READ"),
        ("copy-on-write", "share_pages(batch), batch, WRITE", "share_pages(batch), batch, READ"),
        ("populate", "MAP_FIXED | MAP_POPULATE", "MAP_FIXED"),
    ],
    ids=["memory-written-before", "only-read", "not-there", "neighbours", "not-copied", "no-flag"],
)
def test_a_run_without_its_page_faults_fails(
    tmp_path: Path, variant: str, old: str, new: str
) -> None:
    as_it_is = compile_c(tmp_path, "-O0", source=FOLDER / f"{KERNEL}.c")
    assert call(as_it_is, "--variant", variant, *SOME).returncode == 0
    done = call(changed(tmp_path, old, new), "--variant", variant, *SOME)
    assert done.returncode == 1
    assert "the OS counted other page faults than they claim" in done.stderr


def test_without_the_child_nothing_is_copied_and_the_run_fails(tmp_path: Path) -> None:
    """A page that nobody shares any more makes a page fault too, so the count shows nothing."""
    ended = (
        "    (void)kill(sharer, SIGKILL);\n    (void)waitpid(sharer, &status, 0);\n}\n\n/* Whether"
    )
    program = changed(tmp_path, "}\n\n/* Whether", ended)
    done = call(program, "--variant", "copy-on-write", *SOME)
    assert done.returncode != 0
    assert "calls failed inside the timed region" in done.stderr
