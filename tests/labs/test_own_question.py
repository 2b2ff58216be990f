"""The exercise in C of lab 11: the examples of its hints count, and what does not count is told."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from grader.figures import figure_named
from grader.figures.case import Case
from grader.judging.check import open_case
from grader.pitfalls import conclusions
from grader.with_nbgrader.release import STUB_LINE
from labs.course.figures import Figure
from labs.messages import Refused
from labs.notebook import ckernel_magic
from labs.notebook.session import Session
from labs.recording.file import Recording
from support.c_programs import LINUX
from support.paths import REPOSITORY

LAB, COST = "11-own-question", "own-question-cost"
#: A third of the compiler's time. The examples of the hints are built as students build them.
LINE = (
    "own_question --variant operation,other --samples 100 --processes 3 --warmup 4 --save own "
    "--flags=-O0"
)

FRAME = """#include "own_question.h"
{declared}
static void set_up(void) {{ {set_up} }}
TICKLAB_INLINE int operation(void) {{ {operation} }}
TICKLAB_INLINE int other(void) {{ {other} }}
TICKLAB_INLINE int baseline(void) {{ {baseline} }}
static long counted(void) {{ {counted} }}
MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)
"""
ATOMIC = {
    "declared": "static long shared, plain, seen;",
    "set_up": "",
    "operation": "return __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST) > 0;",
    "other": "return ++*(volatile long *)&plain > 0;",
    "baseline": "return 1;",
    "counted": "const long before = seen; seen = shared; return seen - before;",
}
PIPE = {
    "declared": "#include <fcntl.h>\n#include <unistd.h>\nstatic int ends[2];",
    "set_up": 'if (pipe2(ends, O_NONBLOCK) != 0) stop(STATUS_FAILED, "no pipe");',
    "operation": 'return write(ends[1], "x", 1) == 1;',
    "other": 'return write(ends[1], "x", 0) == 0;',
    "baseline": "return 1;",
    "counted": "char all[512]; long n = 0; "
    "for (ssize_t got; (got = read(ends[0], all, sizeof all)) > 0;) n += got; return n;",
}
COPY = {
    "declared": "static unsigned char blocks[256][4096]; static int at;\n"
    "TICKLAB_INLINE int next(void) { const int from = at; at = (at + 1) % 256; return from; }",
    "set_up": "memset(blocks, 0, sizeof blocks);",
    "operation": "const int from = next(); memcpy(blocks[at], blocks[from], 4096); "
    "blocks[at][9]++; return 1;",
    "other": "const int from = next(); memcpy(blocks[at], blocks[from], 64); return 1;",
    "baseline": "return next() >= 0;",
    "counted": "const long n = blocks[at][9]; memset(blocks, 0, sizeof blocks); return n;",
}


def measured(folder: Path, parts: dict[str, str], line: str = LINE) -> tuple[Recording, str]:
    text = FRAME.format(**parts)
    return ckernel_magic.measure_cell(Session(LAB, folder), line, text).recording, text


def case_of(recording: Recording, text: str) -> Case:
    figure = Figure(COST, 1.0, "ns", "recordings/own.csv")
    found = open_case(figure_named(COST), figure, recording, text)
    assert isinstance(found, Case)
    return found


@LINUX
@pytest.mark.parametrize("parts", [ATOMIC, PIPE, COPY], ids=["atomic", "pipe", "copy"])
def test_the_examples_of_the_hints_are_counted(parts: dict[str, str], tmp_path: Path) -> None:
    case = case_of(*measured(tmp_path, parts, LINE.replace("-O0", "-O2")))
    trials = conclusions.trials_of(case)
    assert len(trials) == len(case.recording.processes) >= 3
    assert all(each.of_operation == each.tried >= 3 for each in trials)
    assert {(each.idle, each.of_baseline) for each in trials} == {(0, 0)}
    held, counted = conclusions.in_samples(case)
    assert counted is not None and counted >= held > 0
    assert conclusions.claims_by_itself(case) is None
    assert conclusions.counts_itself.find(case) is None


def test_a_process_cannot_know_how_many_operations_are_tried(tmp_path: Path) -> None:
    line = LINE.replace("--processes 3", "--processes 8").replace("--samples 100", "--samples 160")
    trials = conclusions.trials_of(case_of(*measured(tmp_path, ATOMIC, line)))
    assert len({each.tried for each in trials}) > 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"operation": "return 0;"}, "operation() returned 0"),
        ({"other": "(void)plain; return 0;"}, "other() returned 0"),
        ({"baseline": "return 0;"}, "baseline() returned 0"),
        ({"operation": "return 1;"}, "counted by your function: 0. Did all happen?"),
        ({"operation": "shared += 2; return 1;"}, "It must count each operation once"),
        ({"counted": "(void)seen; return shared;"}, "none that an earlier call of it has counted"),
    ],
)
def test_a_run_whose_operations_are_not_counted_ends_with_a_message(
    change: dict[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as refused:
        measured(tmp_path, ATOMIC | change)
    assert said in str(refused.value)


def test_each_count_has_its_own_advice(tmp_path: Path) -> None:
    """A count that is too small may come from large samples, and one that is too large may not."""
    advice = "smaller batches: --batch, or batches= of lab.measure"
    with pytest.raises(Refused) as refused:
        measured(tmp_path, ATOMIC | {"counted": "(void)seen; return 4;"})
    assert "counted by your function: 4. Did all" in str(refused.value)
    assert advice in str(refused.value) and "count each" not in str(refused.value)
    with pytest.raises(Refused) as refused:
        measured(tmp_path, ATOMIC | {"counted": "(void)seen; return 4000;"})
    assert "counted by your function: 4000. It must count each" in str(refused.value)
    assert "batches" not in str(refused.value)


def test_a_function_with_another_name_is_called_by_it(tmp_path: Path) -> None:
    renamed = FRAME.replace("other(void)", "half(void)").replace(
        "operation, other", "operation, half"
    )
    text = renamed.format(**ATOMIC | {"other": "(void)plain; return 0;"})
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(Session(LAB, tmp_path), LINE, text)
    assert "half() returned 0" in str(refused.value)


def test_what_the_baseline_does_is_counted_too(tmp_path: Path) -> None:
    change = {"baseline": "return ++*(volatile long *)&shared > 0;"}
    trials = conclusions.trials_of(case_of(*measured(tmp_path, ATOMIC | change)))
    assert all(each.of_baseline == each.tried for each in trials)


def source_of_cell(cell_id: str) -> str:
    notebook = json.loads(
        (REPOSITORY / "notebooks" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8")
    )
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == cell_id)
    return "".join(cell["source"])


def test_the_second_run_of_the_solution_changes_one_thing_only() -> None:
    """Its other options, and what takes part in the run, are those of the first one."""
    first, tested = (measured_in(source_of_cell(each)) for each in ("own-run", "tested-run"))
    changed = {name for name in first.keys() | tested.keys() if first.get(name) != tested.get(name)}
    assert changed - {"save"} == {"batches"}


def measured_in(code: str) -> dict[str, object]:
    """What the only `lab.measure(...)` of a cell is asked for."""
    (call,) = (
        each
        for each in ast.walk(ast.parse(code))
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "lab.measure"
    )
    given: dict[str, object] = {f"argument {i}": ast.unparse(a) for i, a in enumerate(call.args)}
    return given | {str(each.arg): ast.unparse(each.value) for each in call.keywords}


def test_the_skeleton_lacks_only_the_operation(tmp_path: Path) -> None:
    """Without its #error, what the student is given builds, and the run says what is missing."""
    stubs = map(STUB_LINE.fullmatch, source_of_cell("own-c").splitlines())
    parts = [line[2] for line in stubs if line is not None and not line[2].startswith("#error")]
    assert len(parts) == 5
    skeleton = "\n".join(['#include "own_question.h"', *parts, FRAME.splitlines()[-1]])
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(Session(LAB, tmp_path), LINE, skeleton)
    assert "did not work" in str(refused.value)
