"""What the grader says of a student's own C: its counts are measured, its samples are saved ones.

Times differ from machine to machine, and counts do not. So the C is built and run with a few
samples only, and what it counts replaces the counts of an honest recording of the same exercise.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.figures import figure_named
from grader.figures.verdict import Level, Outcome, Verdict
from grader.judging.check import check
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import source_hash
from labs.course import figures
from labs.recording.file import Recording, read
from support.c_programs import Program, conditions_of
from support.paths import FIXTURES
from support.programs import call


def build(text: str, name: str) -> Program:
    """C of students as a program. Raises CompileError at a warning."""
    return toolchain.build_text(text, name, ("-O2", "-Wextra", "-Werror")).path


def must_fail(verdict: Verdict, code: str, evidence: str = "", *more: str) -> None:
    """Asserts that a figure has only these findings and no praise; `evidence` is of the first."""
    assert verdict.outcome is Outcome.FAILED
    assert {finding.code for finding in verdict.findings} == {code, *more}
    assert evidence in verdict.findings[0].evidence
    assert verdict.levels[Level.VALIDITY][0] == 0
    assert not verdict.praise


#: Which answer a program with several of them takes.
_CHOSEN = """
static int answer(void)
{
    static int chosen = -1;
    if (chosen < 0)
        chosen = atoi(getenv("OWN_WORK"));
    return chosen;
}
"""


@dataclass(frozen=True)
class Exercise:
    """An exercise in C, and answers to it by name.

    An answer is what the student writes: functions whose names end with `@` here. `begin` comes
    before it and `end` after it. All answers are built as one program, because to build each alone
    takes long: `dispatchers` are the functions that `end` names, and pass each call on. In place of
    `CASES` each of them has its `call`. `beside` are other variants whose counts are judged too.
    """

    figure: str
    variant: str
    begin: str
    answers: Mapping[str, str]
    dispatchers: Mapping[str, str]
    end: str
    beside: tuple[str, ...] = ()

    def source(self, name: str) -> str:
        """The C of one answer, as its student wrote it."""
        return f"{self.begin}\n{self.answers[name].replace('@', '')}\n{self.end}\n"

    @functools.cached_property
    def program(self) -> Program:
        """All answers as one program. Raises CompileError at a warning."""
        answers = [text.replace("@", f"_{i}") for i, text in enumerate(self.answers.values())]
        dispatchers = [
            function.replace("CASES", self._cases(call))
            for function, call in self.dispatchers.items()
        ]
        parts = (self.begin, _CHOSEN, *answers, *dispatchers, self.end)
        return build("\n".join(parts) + "\n", self.variant)

    def _cases(self, call: str) -> str:
        cases = (
            f"case {i}: {call.replace('@', f'_{i}')}; break;" for i in range(len(self.answers))
        )
        return f"switch (answer()) {{ {' '.join(cases)} default: abort(); }}"

    def counts(self, name: str, *options: str) -> dict[str, str]:
        """What a short run of this answer states of its variants. Asserts that it ran."""
        variants = (self.variant, *self.beside)
        chosen = {**os.environ, "OWN_WORK": str(list(self.answers).index(name))}
        done = call(self.program, "--variant", ",".join(variants), *options, env=chosen)
        assert done.returncode == os.EX_OK, done.stderr
        stated = conditions_of(done.stdout)
        of_them = tuple(f"variant.{name}." for name in variants)
        return {key: value for key, value in stated.items() if key.startswith(of_them)}

    def verdict_of_run(self, name: str, *options: str) -> Verdict:
        """The verdict on five short runs of this answer, which stand for the processes of one.

        A disturbed process decides nothing then, as in a real run.
        """
        return self.verdict(name, *(self.counts(name, *options) for _ in range(5)))

    def verdict(self, name: str, *counts: Mapping[str, str]) -> Verdict:
        """The verdict on the honest figure, as if this answer had counted `counts`.

        One of them stands for all processes, several for one process each, in turns.
        """
        spec = figure_named(self.figure)
        folder = FIXTURES / "honest" / spec.lab
        figure = figures.read(folder)[self.figure]
        assert isinstance(figure, figures.Figure) and figure.recording is not None
        source = self.source(name)
        recording = with_counts(read(folder / figure.recording), counts, source)
        return check(spec, figure, recording, source)


def with_counts(
    recording: Recording, counts: Sequence[Mapping[str, str]], source: str
) -> Recording:
    """The recording as if its processes had counted `counts`: one of them all, or each its own."""
    keys = {key for each in counts for key in each}
    others = {key: value for key, value in recording.conditions.items() if key not in keys}
    of_all, of_each = (counts[0], [{}]) if len(counts) == 1 else ({}, counts)
    return replace(
        recording,
        conditions={**others, **of_all, "source.sha256": source_hash(source)},
        processes=tuple(
            {key: value for key, value in each.items() if key not in keys}
            | dict(of_each[number % len(of_each)])
            for number, each in enumerate(recording.processes)
        ),
    )
