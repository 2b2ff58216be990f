"""Own C of labs 01 to 04: right but unusual C passes, wrong C does not, whatever the number is.

Each file is built and run: those of a lab are one program, because to build each alone takes long.
What the run saw of it is then laid into an honest recording, whose number is right: so only what
the C did decides, and no state of the machine.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.figures import figure_named
from grader.figures.verdict import Level, Outcome
from grader.judging.check import check
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from labs.results.result import result_of
from support.c_programs import Program, conditions_of
from support.own_work import build, with_counts
from support.paths import FIXTURES, REPOSITORY
from support.programs import call

FILES = sorted((REPOSITORY / "tests" / "labs" / "own_c").glob("*/*.c"))
FINDING = re.compile(r"Finding: ([a-z-]+)\.")
#: By lab the figure, its unit, and the variants that are run.
OWN = {
    "01-timer-overhead": ("timer-own-addition", "cycles", "own"),
    "02-first-iteration": ("first-call-own", "ns", "own,unprepared"),
    "03-system-call": ("system-call-read0", "ns", "read0,invalid"),
    "04-procedure-call": ("call-own", "cycles", "own"),
}
#: What the files define.
DEFINED = """
    add_one both chosen get_ready helper now own_interval own_read page read_into read_nothing
    successor
"""
#: By lab, what the macro at the end of a file defines.
AROUND = {
    "01-timer-overhead": "own own_64 own_128 own_256 own_512 watched_pair run_watched_pair "
    "watch_pair",
    "02-first-iteration": "own_call prepare_own_call unprepared_call prepare_unprepared_call "
    "run_own_ready watch_own_ready",
    "03-system-call": "own_calls own_calls_that_work watched_calls run_watched_call "
    "run_call_that_fails watch_call",
    "04-procedure-call": "own own_loop own_kit watched_calls run_watched_calls watch_calls "
    "watch_and_time",
}
#: Right C that gets the second praise: it touches the code by its name, and not at its address, or
#: nothing in it looks at the result of its call.
UNSEEN = ("right_by_name", "right_result_ignored")


@functools.lru_cache(maxsize=len(OWN))
def honest(lab: str) -> Recording:
    return read(FIXTURES / "honest" / lab / "recordings" / "own.csv")


@functools.cache
def built(lab: str) -> Program:
    """The program of all files of a lab, each of them with its own `main`."""
    texts = [path.read_text(encoding="utf-8") for path in FILES if path.parent.name == lab]
    names = ["main", *DEFINED.split(), *AROUND[lab].split()]
    parts = [line for line in texts[0].splitlines() if line.startswith("#include")]
    for number, text in enumerate(texts):
        parts += [f"#define {name} {name}_{number}" for name in names]
        parts += [text, *(f"#undef {name}" for name in names)]
    mains = ", ".join(f"main_{number}" for number in range(len(texts)))
    parts.append(
        "int main(int argc, char **argv)\n{\n"
        f"    int (*const mains[])(int, char **) = {{{mains}}};\n"
        '    return mains[atoi(getenv("OWN_C"))](argc, argv);\n}\n'
    )
    return build("\n".join(parts), lab)


def watched(program: Program, path: Path) -> dict[str, str]:
    """What a short run of this file saw of its C."""
    files = [each for each in FILES if each.parent == path.parent]
    few = ("--variant", OWN[path.parent.name][2], "--samples", "20", "--warmup", "1")
    done = call(program, *few, env={**os.environ, "OWN_C": str(files.index(path))})
    assert done.returncode == os.EX_OK, done.stderr
    stated = conditions_of(done.stdout)
    return {key: value for key, value in stated.items() if ".watched_" in key or ".beside_" in key}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name[:2]}-{path.stem}")
def test_own_c_is_judged_by_what_it_did(path: Path) -> None:
    lab, text = path.parent.name, path.read_text(encoding="utf-8")
    figure, unit, _ = OWN[lab]
    # The median of several processes decides: a disturbed one does not.
    counts = [watched(built(lab), path) for _ in range(5)]
    if not counts[0]:
        pytest.skip("this system does not let a process watch its child")
    run = with_counts(honest(lab), counts, text)
    spec = figure_named(figure)
    estimate = result_of(run, spec.variant, unit).estimate
    assert estimate is not None
    handed_in = Figure(figure, estimate.value, unit, "recordings/own.csv")
    verdict = check(spec, handed_in, run, text)
    asked = FINDING.search(text)
    assert [each.code for each in verdict.findings] == ([asked[1]] if asked else [])
    assert (verdict.outcome is Outcome.PASSED) == (asked is None)
    sentence = spec.praises[path.stem in UNSEEN].text
    assert verdict.praise == ("" if asked else sentence)
    if asked is not None:
        assert verdict.levels[Level.VALIDITY][0] == 0.0


def test_every_lab_has_four_unusual_right_ones_and_three_wrong_ones() -> None:
    for lab in OWN:
        names = [path.stem.partition("_")[0] for path in FILES if path.parent.name == lab]
        assert names.count("right") >= 4 and names.count("wrong") >= 3, lab


@pytest.mark.parametrize("lab", OWN)
def test_c_that_nobody_watched_is_praised_only_for_its_samples(lab: str) -> None:
    figure, unit, _ = OWN[lab]
    spec, run = figure_named(figure), honest(lab)
    conditions = {key: value for key, value in run.conditions.items() if "watched" not in key}
    run = replace(run, conditions=conditions)
    estimate = result_of(run, spec.variant, unit).estimate
    assert estimate is not None
    source = (FIXTURES / "honest" / lab / "recordings" / "own.c").read_text(encoding="utf-8")
    handed_in = Figure(figure, estimate.value, unit, "recordings/own.csv")
    verdict = check(spec, handed_in, run, source)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.praise == spec.praises[-1].text
