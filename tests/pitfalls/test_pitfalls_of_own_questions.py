"""Lab 11: what its grader believes of C that nobody has seen before.

The C is laid into the honest recording, whose samples and counts are right. So only what the C says
decides.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader.figures import figure_named
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import check
from grader.judging.lab_folder import check_folder
from grader.pitfalls.conclusions import not_one_change
from labs.analysis.confidence import side
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import read
from labs.results.result import result_of
from support.honest_cases import FOLDER, honest
from support.paths import REPOSITORY
from support.submission import Submission, honest_submission

COST, OTHER = "own-question-cost", "own-question-other"
MEASURED = "MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)"
FRAME = """#include "own_question.h"
{declared}
static void set_up(void) {{ {set_up} }}
TICKLAB_INLINE int operation(void) {{ {operation} }}
TICKLAB_INLINE int other(void) {{ return 1; }}
TICKLAB_INLINE int baseline(void) {{ {baseline} }}
static long counted(void) {{ {counted} }}
{measured}
"""
DIFFERENCE = "const long before = seen; seen = made; return seen - before;"


def with_c(
    operation: str,
    counted: str = DIFFERENCE,
    declared: str = "static long made, seen;",
    set_up: str = "",
    measured: str = MEASURED,
    baseline: str = "return 1;",
) -> Submission:
    text = FRAME.format(
        declared=declared,
        set_up=set_up,
        operation=operation,
        baseline=baseline,
        counted=counted,
        measured=measured,
    )
    return honest_submission(figure_named(COST)).of_c(text)


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


# ------------------------------------------------------------------------------ claims of a C


ADDS = "return __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST) > 0;"


def test_what_a_c_says_of_itself_is_no_count() -> None:
    for change, said in (
        ({"set_up": 'printf("# variant.operation.tried: 7\\n");'}, "names printf"),
        ({"set_up": 'fputs("# counted: 7\\n", stdout);'}, "names stdout"),
        ({"set_up": 'write(STDOUT_FILENO, "# x: 7\\n", 7);'}, "names STDOUT_FILENO"),
        ({"set_up": 'write(1, "# variant.operation.tried: 7\\n", 30);'}, "holds a text like"),
        (
            {"declared": "static long made, seen;\n#define SAY puts\n", "set_up": 'SAY("#");'},
            "puts",
        ),
        ({"measured": f"int main(void) {{ return 0; }}\n{MEASURED}"}, "a main() of its own"),
        ({"measured": "int main(void) { return 0; }"}, "does not measure by"),
        ({"measured": f"#define MEASURE_OWN_QUESTION(...)\n{MEASURED}"}, "defines MEASURE_OWN_Q"),
        (
            {"measured": f"#define must_have_happened(a, b) (void)0\n{MEASURED}"},
            "defines must_have",
        ),
        ({"measured": f"#define stop(...) (void)0\n{MEASURED}"}, "defines stop"),
        ({"measured": f"// {MEASURED}"}, "does not measure by"),
    ):
        verdict = with_c(ADDS, **change).verdict()
        assert codes(verdict) == ["operations-not-counted"], (change, said)
        assert said in verdict.findings[0].evidence, (change, said)
        assert verdict.points <= verdict.max_points / 2, (change, said)


def test_a_c_that_only_looks_like_it_is_believed() -> None:
    for change in (
        {"set_up": 'fprintf(stderr, "variants are below\\n");'},
        {"set_up": '/* printf("# variant.operation.tried: 7"), and main() */ made = 0;'},
        {"declared": "#define _GNU_SOURCE\n#define name 1\nstatic long made, seen;"},
        {"declared": "static long made, seen; /* int main(void) { stdout } */"},
    ):
        assert with_c(ADDS, **change).verdict().outcome is Outcome.PASSED, change


# ------------------------------------------------------------------------------------- counts


def test_a_count_that_does_not_follow_the_operations_is_none() -> None:
    for stated, said in (
        ({"@.counted_idle": "1"}, "Where nothing was done"),
        ({"@.tried": "7", "@.counted_of_operation": "6"}, "counted 6"),
        ({"@.counted_operations": "100"}, "00 were counted"),
        ({"@.counted_operations": None}, "0 were counted"),
        ({"@.tried": None}, "does not state"),
        ({"@.counted_of_operation": "nan"}, "does not state"),
        ({"@.counted_idle": "all of them"}, "does not state"),
    ):
        verdict = honest_submission(figure_named(COST)).states(stated).verdict()
        assert codes(verdict) == ["operations-not-counted"], (stated, said)
        assert said in verdict.findings[0].evidence, (stated, said)


def test_one_process_that_counted_wrongly_is_enough() -> None:
    found = honest_submission(figure_named(COST))
    assert found.recording is not None
    first, *others = found.recording.processes
    processes = ({**first, "variant.operation.tried": "99"}, *others)
    verdict = found.with_recording(processes=processes).verdict()
    assert codes(verdict) == ["operations-not-counted"]


def test_a_baseline_in_which_the_operation_happens_is_named() -> None:
    verdict = honest_submission(figure_named(COST)).states({"@.counted_of_baseline": "9"}).verdict()
    assert codes(verdict) == ["baseline-does-it-too"]


def test_what_is_compared_with_needs_no_count() -> None:
    found = honest_submission(figure_named(OTHER)).states({"variant.operation.tried": None})
    assert found.verdict().outcome is Outcome.PASSED


# ----------------------------------------------------------------------- what else can be named


def test_an_operation_that_costs_nothing_is_none() -> None:
    """An empty operation with counts that are right all the same."""
    found = honest_submission(figure_named(COST))
    recording = found.recording
    assert recording is not None
    ticks = recording.ticks.copy()
    mine, base = recording.rows_of("operation"), recording.rows_of("baseline")
    for size in np.unique(recording.batch).tolist():
        rows = mine & (recording.batch == size)
        ticks[rows] = np.resize(recording.ticks[base & (recording.batch == size)], rows.sum())
    verdict = found.lasting(ticks).verdict()
    assert verdict.outcome is Outcome.FAILED
    (left_out,) = (each for each in verdict.findings if each.code == "work-optimised-away")
    assert "the core hides" in left_out.misconception, "the machine code may still hold it"
    assert "let each input depend on the last result" in left_out.experiment


def test_the_baseline_left_in_is_named() -> None:
    found = honest_submission(figure_named(COST))
    net = found.case().result.net
    assert net is not None
    whole = net.unsubtracted.value / found.case().result.clock.ticks_in("ns")
    assert codes(found.gives(float(f"{whole:.5g}")).verdict()) == ["loop-counted-along"]


def test_c_that_is_missing_shows_nothing() -> None:
    found = replace(with_c(ADDS), source=None)
    assert "no-c-to-read" in codes(found.verdict())


# ------------------------------------------------------------------------------- one thing changed


def of_two_runs(**stated: str) -> str | None:
    """What is said of two runs, of which the second has other conditions; `__` stands for a dot."""
    threat, cost = figure_named("own-question-threat"), honest_submission(figure_named(COST)).case()
    case = honest_submission(threat).case()
    changed = {key.replace("__", "."): value for key, value in stated.items()}
    conditions = {**cost.recording.conditions, **changed}
    ticks = cost.recording.ticks.copy()
    ticks[0] += 1  # no run gives the same samples twice
    recording = replace(cost.recording, conditions=conditions, ticks=ticks)
    tested = replace(case.others[0], recording=recording)
    return not_one_change.detect(replace(case, others=(tested, cost)))


COMMAND = "labs measure first.c --variant operation,other --samples 400"


def test_a_repetition_without_a_change_is_named() -> None:
    found = of_two_runs()
    assert found is not None and "the same settings: nothing was changed" in found


def test_one_change_of_any_kind_is_one() -> None:
    for stated in (
        {"flags": "-O0"},
        {"batch": "2,4,6,8"},
        {"cpu__asked": "1"},
        {"warmup": "0"},
        {"source__sha256": "0" * 64},
        {"command": f"{COMMAND} --processes 40"},
        {"cpus__busy": "0.10"},  # another program was what changed
        {"batch": "2,4,6,8", "variants": "operation"},  # the other one moves no cost by itself
    ):
        assert of_two_runs(**stated) is None, stated


def test_each_of_several_changes_is_named() -> None:
    for stated, said in (
        ({"flags": "-O0", "batch": "2,4"}, "flags (-O2 and -O0); batches (64,128,256,512 and 2,4)"),
        ({"cpu__asked": "1", "warmup": "9"}, "cpu (none and 1); warmup (10 and 9)"),
        ({"source__sha256": "0" * 64, "flags": "-O0"}, "the C; flags (-O2 and -O0)."),
        (
            {"flags": "-O0", "cpu__asked": "1", "variants": "operation"},
            "variants (operation,other and operation)",
        ),
    ):
        found = of_two_runs(**stated)
        assert found is not None and "in more than one thing: " in found and said in found, stated


TESTED, THREAT, LAB = "own-question-tested", "own-question-threat", "11-own-question"


def handed_in(folder: Path, tested: Figure) -> dict[str, Verdict]:
    """The honest submission with another second run, in `folder`."""
    shutil.copytree(FOLDER / LAB, folder, dirs_exist_ok=True)
    figures.put(folder, tested)
    return {verdict.figure: verdict for verdict in check_folder(folder, LAB)}


def test_a_second_run_that_is_the_first_one_is_named_where_it_is_handed_in(tmp_path: Path) -> None:
    verdicts = handed_in(tmp_path, replace(honest(COST), id=TESTED))
    assert codes(verdicts[TESTED]) == ["not-one-change"]
    assert "Both costs are of recordings/own.csv" in verdicts[TESTED].findings[0].evidence
    assert 0 < verdicts[TESTED].points < verdicts[TESTED].max_points
    assert "not-one-change" in codes(verdicts[THREAT])
    assert codes(verdicts[COST]) == []


def test_a_second_run_with_the_same_settings_is_named_where_it_is_handed_in(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    own = FOLDER / LAB / "recordings" / "own.csv"
    shutil.copy(own.with_suffix(".c"), tmp_path / "recordings" / "again.c")
    first = read(own)
    conditions = {k: v for k, v in first.conditions.items() if k != "samples.sha256"}
    ticks = first.ticks.copy()
    ticks[0] += 1  # no run gives the same samples twice
    again = replace(first, conditions=conditions, ticks=ticks)
    again.write(tmp_path / "recordings" / "again.csv")
    found = handed_in(tmp_path, replace(honest(COST), id=TESTED, recording="recordings/again.csv"))
    (finding,) = (each for each in found[TESTED].findings if each.code == "not-one-change")
    assert "the same settings: nothing was changed" in finding.evidence


def test_a_second_run_with_one_change_is_named_nowhere(tmp_path: Path) -> None:
    verdicts = handed_in(tmp_path, honest(TESTED))
    assert [codes(verdicts[each]) for each in (COST, TESTED, THREAT)] == [[], [], []]


def test_the_threat_may_be_one_to_the_other_operation(tmp_path: Path) -> None:
    runs = {name: read(FOLDER / LAB / f"recordings/{name}.csv") for name in ("own", "tested")}
    first, second = (result_of(each, "other", "ns").estimate for each in runs.values())
    assert first is not None and second is not None
    handed_in(tmp_path, replace(honest(TESTED), value=second.value))
    right = {1: 1, -1: 2, 0: 3}[side(second, first)]
    for conclusion in (1, 2, 3):
        figures.put(tmp_path, replace(honest(THREAT), value=conclusion))
        verdicts = {each.figure: each for each in check_folder(tmp_path, LAB)}
        assert codes(verdicts[TESTED]) == []
        expected = Outcome.PASSED if conclusion == right else Outcome.FAILED
        assert verdicts[THREAT].outcome is expected
        assert "counted" not in verdicts[TESTED].praise


def test_the_honest_runs_differ_in_one_thing() -> None:
    assert honest_submission(figure_named("own-question-threat")).verdict().findings == ()


def test_the_honest_runs_measure_the_same_variants() -> None:
    """A second run in which the other one takes no part is a second change."""
    own, tested = (read(FOLDER / LAB / f"recordings/{each}.csv") for each in ("own", "tested"))
    assert tested.condition("variants") == own.condition("variants")


def test_the_question_of_the_kit_is_no_question_of_ones_own() -> None:
    text = (REPOSITORY / "kernels_c" / "own_question.c").read_text(encoding="utf-8")
    for source, refused in ((text, True), (text + "/* mine */\n", False)):
        given = honest_submission(figure_named(COST)).of_c(source)
        verdict = check(given.spec, given.figure, given.recording, given.source)
        assert ("other-recording" in codes(verdict)) is refused
