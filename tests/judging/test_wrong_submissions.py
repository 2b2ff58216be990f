"""The list of wrong submissions that `python -m bench wrong_submissions` makes, and how it judges.

The submissions themselves are measured by the benchmark; here is what needs no run.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bench.wrong.case import Case, Kind, Lab
from bench.wrong.labs import LABS
from bench.wrong.laid import Laid, lay
from bench.wrong.naming import NAMELESS, Naming, judged
from bench.wrong.student import C, NoMistake, Run, Shelf, Student
from bench.wrong.submissions import LEAST, LEAST_OF_LAB, verdict_on
from bench.wrong.truths import TRUTHS
from grader import figures
from grader.figures.verdict import Finding, Level, Outcome, Verdict
from grader.pitfalls import CATALOGUE
from labs.recording import file
from labs.recording.file import parse
from labs.run.measure import Plan
from support.paths import FIXTURES, REPOSITORY

#: Labs all of whose right runs are among the saved ones.
SAVED = [
    lab
    for lab in LABS
    if all(
        (FIXTURES / "honest" / lab.lab / "recordings" / f"{name}.csv").exists() for name in lab.runs
    )
]
#: In the saved runs of labs 04 and 11, these values are by chance those of another formula too.
BY_CHANCE = ("twelve-over-twelve", "ticks-for-cycles", "slip-own-tenfold")
#: The share of a lab's wrong values, conclusions and files of which the true cause is named.
NAMED_OF_LAB = 0.75
#: Cases that may come out right by chance, so that the list must hold some more than are promised.
SPARE = 5


@pytest.mark.parametrize("lab", LABS, ids=[lab.lab for lab in LABS])
def test_every_lab_has_enough_cases_of_its_figures_and_each_has_a_truth(lab: Lab) -> None:
    names = [case.name for case in lab.cases]
    known = {spec.id for spec in figures.figures_of(lab.lab)}
    assert len(names) >= LEAST_OF_LAB + SPARE
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert set(TRUTHS[lab.lab]) == set(names)
    assert {case.figure for case in lab.cases} <= known
    assert set(lab.right) == {spec.id for spec in figures.figures_of(lab.lab) if not spec.of}
    assert set(lab.right.values()) <= set(lab.runs)


def test_the_list_is_as_long_as_promised_and_mixed() -> None:
    kinds = Counter(case.kind for lab in LABS for case in lab.cases)
    total = sum(kinds.values())
    assert total >= LEAST + len(LABS) * SPARE
    assert kinds[Kind.VALUE] >= 0.3 * total
    assert kinds[Kind.RUN] >= 0.3 * total
    assert kinds[Kind.CONCLUSION] >= 0.1 * total


def test_the_list_knows_nothing_of_the_catalogue() -> None:
    """It says what students do, in plain words: no module of it names a code or imports one."""
    codes = {pitfall.code for pitfall in CATALOGUE}
    for path in sorted((REPOSITORY / "bench/wrong").rglob("*.py")):
        if path.name.startswith("truth") or path.name == "naming.py":
            continue
        text = path.read_text(encoding="utf-8")
        assert "grader.pitfalls" not in text
        # The id of a figure or a case is not a code's where it is a name on its own.
        quoted = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', text))
        names = {case.name.partition("/")[0] for lab in LABS for case in lab.cases}
        assert (quoted & codes) - names == set()


def test_the_codes_of_the_truths_are_in_the_catalogue() -> None:
    codes = {pitfall.code for pitfall in CATALOGUE}
    used = {code for table in TRUTHS.values() for truth in table.values() for code in truth.codes}
    assert used <= codes
    assert codes >= NAMELESS


def test_every_piece_of_c_is_used() -> None:
    sources = {path.relative_to(C).with_suffix("").as_posix() for path in C.rglob("*.c")}
    text = "".join(path.read_text(encoding="utf-8") for path in (C.parent / "labs").rglob("*.py"))
    used = {name for name in sources if re.search(rf'"{Path(name).name}( |"|\.c)', text)}
    whole = {name for name in sources if f'"{name}.c"' in text}
    assert sources - used - whole == set()


def _not_measured(student: Student, name: str, _: Plan) -> Run:
    raise NoMistake(f"{name} of {student.folder.name} has to be measured")


@pytest.mark.parametrize("lab", SAVED, ids=[lab.lab for lab in SAVED])
def test_what_is_wrong_with_right_runs_is_named_by_saved_ones(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is measured here, so that these verdicts are the same on every machine. An old figure
    of another machine may by chance be the sum of two results."""
    monkeypatch.setattr(Student, "measured", _not_measured)
    # All students have copies of the same runs: each is parsed and fitted once.
    once = functools.cache(lambda content, name: parse(content, where=name))
    monkeypatch.setattr(file, "parse", lambda content, where: once(content, Path(where).name))
    shelf = Shelf(lab.runs, FIXTURES / "honest" / lab.lab / "recordings")
    cases = [case for case in lab.cases if case.kind is not Kind.RUN and case.name not in BY_CHANCE]
    results = [
        judged(laid, verdict_on(laid))
        for laid in lay(replace(lab, cases=cases), shelf, tmp_path)
        if not laid.no_case
    ]
    bad = {
        each.laid.case.name: each.words
        for each in results
        if each.naming in (Naming.PASSED, Naming.MISNAMED)
    }
    assert bad == {}
    slips = [each for each in results if each.laid.case.name.startswith("slip-")]
    assert [each.laid.case.name for each in slips if each.naming is not Naming.NAMED] == []
    named = sum(each.naming is Naming.NAMED for each in results)
    assert named >= NAMED_OF_LAB * len(results)


def finding(code: str, evidence: str = "You gave 3 ns.") -> Finding:
    return Finding(
        code, Level.INTERPRETATION, "It is off.", evidence, "Somebody thought so.", "Try."
    )


def verdict(*findings: Finding, points: float = 2.0) -> Verdict:
    outcome = Outcome.FAILED if points < 4 else Outcome.PASSED
    return Verdict("call-args0", outcome, points, 4.0, "A reason.", findings=findings)


def of(name: str, lab: str = "04-procedure-call", refused: str = "") -> Laid:
    cases = {case.name: case for each in LABS if each.lab == lab for case in each.cases}
    case: Case = cases[name]
    return Laid(lab, case, Path(), refused)


def naming(name: str, *findings: Finding) -> Naming:
    return judged(of(name), verdict(*findings)).naming


def test_full_marks_are_a_pass_whatever_is_said_beside() -> None:
    full = verdict(finding("loop-counted-along"), points=4.0)
    assert judged(of("loop-and-call"), full).naming is Naming.PASSED


def test_a_true_code_names_and_another_code_beside_it_misnames() -> None:
    assert naming("loop-and-call", finding("loop-counted-along")) is Naming.NAMED
    assert naming("loop-and-call", finding("half-or-double")) is Naming.MISNAMED
    both = (finding("loop-counted-along"), finding("half-or-double"))
    assert naming("loop-and-call", *both) is Naming.MISNAMED


def test_words_name_too_and_honest_ignorance_is_no_name() -> None:
    plain = finding("figure-not-from-recording")
    told = finding("figure-not-from-recording", "What you gave is the cost of loop.")
    assert naming("loop", plain) is Naming.NAMELESS
    assert naming("loop", told) is Naming.NAMED


def test_ignorance_is_the_truth_where_the_value_is_of_no_run() -> None:
    assert naming("published", finding("figure-not-from-recording")) is Naming.NAMED


def test_what_is_true_of_short_runs_misnames_no_measurement_but_a_value() -> None:
    few = finding("too-few-samples")
    assert naming("c-two-calls-flags-o2", few) is Naming.NAMELESS
    assert naming("loop-and-call", few) is Naming.MISNAMED


def test_a_refused_run_is_caught_and_named_by_its_message() -> None:
    silent = of("c-two-calls-flags-o2", refused="status 1")
    telling = of("c-two-calls-flags-o2", refused="own_procedure makes two calls")
    assert judged(silent, None).naming is Naming.NAMELESS
    assert judged(telling, None).naming is Naming.NAMED
