"""What the grader says of a student's own C: its counts are measured, its samples are saved ones.

Times differ from machine to machine, and counts do not. So the C is built and run with a few
samples only, and what it counts replaces the counts of an honest recording of the same exercise.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cases.verdict import Verdict
from grader.figures import figure_named
from grader.judging.check import check
from labs.c_kernels.toolchain import source_hash
from labs.course import figures
from labs.recording.file import Recording, read
from testing.c_programs import Program, call, compile_c, conditions_of
from testing.paths import FIXTURES, REPOSITORY

FLAGS = ("-O2", "-std=gnu11", "-I", str(REPOSITORY / "kernels_c"))

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

    def build(self, into: Path) -> Program:
        """All answers as one program. Asserts that they build without a warning."""
        answers = [text.replace("@", f"_{i}") for i, text in enumerate(self.answers.values())]
        dispatchers = [
            function.replace("CASES", self._cases(call))
            for function, call in self.dispatchers.items()
        ]
        path = into / f"{self.variant}.c"
        parts = (self.begin, _CHOSEN, *answers, *dispatchers, self.end)
        path.write_text("\n".join(parts) + "\n", encoding="utf-8")
        return compile_c(into, *FLAGS, source=path)

    def _cases(self, call: str) -> str:
        cases = (
            f"case {i}: {call.replace('@', f'_{i}')}; break;" for i in range(len(self.answers))
        )
        return f"switch (answer()) {{ {' '.join(cases)} default: abort(); }}"

    def counts(self, program: Program, name: str, *options: str) -> dict[str, str]:
        """What a short run of this answer states of its variants. Asserts that it ran."""
        variants = (self.variant, *self.beside)
        chosen = {**os.environ, "OWN_WORK": str(list(self.answers).index(name))}
        done = call(program, "--variant", ",".join(variants), *options, env=chosen)
        assert done.returncode == os.EX_OK, done.stderr
        stated = conditions_of(done.stdout)
        of_them = tuple(f"variant.{name}." for name in variants)
        return {key: value for key, value in stated.items() if key.startswith(of_them)}

    def verdict(self, name: str, counts: Mapping[str, str]) -> Verdict:
        """The verdict on the honest figure, as if this answer had counted `counts`."""
        spec = figure_named(self.figure)
        folder = FIXTURES / "honest" / spec.lab
        figure = figures.read(folder)[self.figure]
        assert isinstance(figure, figures.Figure) and figure.recording is not None
        source = self.source(name)
        recording = _with_counts(read(folder / figure.recording), counts, source)
        return check(spec, figure, recording, source)


def _with_counts(recording: Recording, counts: Mapping[str, str], source: str) -> Recording:
    """The recording as if each of its processes had counted `counts`."""
    others = {key: value for key, value in recording.conditions.items() if key not in counts}
    return replace(
        recording,
        conditions={**others, **counts, "source.sha256": source_hash(source)},
        processes=tuple(
            {key: value for key, value in each.items() if key not in counts}
            for each in recording.processes
        ),
    )
