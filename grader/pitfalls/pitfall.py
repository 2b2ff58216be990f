"""What an entry of the catalogue of pitfalls consists of.

A new one is a function with `@pitfall(...)` in a module of this folder, whose name is its code; an
example is in docs/adding-a-lab.md. Sums, means, halves and other units of a value are told by
`grader/evidence/other_numbers.py`: another such number is a `Way` of its `ways()`, and its entry
asks `told_by`. All words of a finding are at most 60. If another entry is found as well, the one
that says less exactly what is wrong `yields_to` the other.

Its recipes `@wrong` and `@near` have no `when` if their recording is new. The benches: with wrong C
in kernels_c/broken, `python -m bench mistakes` asks whether a run shows it on this machine;
`python -m bench.wrong 01` looks for it in runs of lab 01, or of another lab that can have it (a
true cause goes into `bench/wrong/truths.py`); `python -m bench.published` asks what the five
reports show, and writes docs/pitfalls.md. For one that explains a value: `python -m bench
random_values`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import IntEnum
from typing import Concatenate, ParamSpec, TypeAlias

from grader.figures.case import Case
from grader.figures.verdict import Finding, Level
from labs.recording.file import BadRecording

Fields = ParamSpec("Fields")
#: Looks at one case, and returns the evidence in the student's own data as one sentence, or None.
Detect: TypeAlias = Callable[[Case], str | None]


class MistakeKind(IntEnum):
    """How a figure can differ from what its recording gives, in the order of the search.

    For a wrong figure the grader reports one mistake: the first in this order that explains the
    value. A unit comes before a clock, and a number of this recording before a mere factor.
    """

    UNIT = 1
    CLOCK = 2
    RELATION = 3
    CONTENTS = 4
    REDUCTION = 5
    FACTOR = 6


@dataclass(frozen=True)
class Live:
    """How a broken C kernel shows the pitfall live: its run is handed in as `figure`.

    `needs` says what a machine must have for it, such as `two CPUs`; empty means nothing. If the
    mistake is to hand in the result of a wrong variant, `handed_in` is that variant.
    """

    kernel: str
    figure: str
    needs: str = ""
    handed_in: str = ""


def _in_no_case(case: Case) -> str | None:
    """These are found by grader.judging.check while it reads; a case that exists shows none."""
    return None


@dataclass(frozen=True)
class Pitfall:
    """A known way to measure or report wrongly.

    Verdicts and fixtures name it by its `code`: the name of the function, with `-` for `_`. The
    texts hold the wording, and `detect` does not use them. `seen_in` says where the mistake
    occurred (report A to E, or a tool). An entry that `explains` a wrong figure names the kind of
    mistake. If the C can make the same mistake, the figure follows from its recording: such an
    entry `shows_in_recording`, and the grader looks for it in right figures too. An entry that
    `yields_to` others (codes, with commas) is silent if one of them is found, because they say the
    same more exactly.
    Those that explain a figure are of interpretation, and all others of validity: another `level`
    is stated. `broken` are C kernels that make the mistake. If an entry `tells_answer`, its words
    give away which conclusion is right, and it is reported only after the lab is handed in.
    """

    detect: Detect = _in_no_case
    _: KW_ONLY
    code: str = ""
    level: Level = None  # type: ignore[assignment]
    symptom: str
    misconception: str
    experiment: str
    seen_in: str
    explains: MistakeKind | None = None
    shows_in_recording: bool = False
    yields_to: str = ""
    tells_answer: bool = False
    broken: tuple[Live, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.code or self.detect.__name__.replace("_", "-"))
        usual = Level.VALIDITY if self.explains is None else Level.INTERPRETATION
        object.__setattr__(self, "level", self.level or usual)

    def yields(self, codes: set[str]) -> bool:
        """Whether one of the findings `codes` says the same more exactly."""
        return not codes.isdisjoint(self.yields_to.split(", "))

    def find(self, case: Case) -> Finding | None:
        """The finding if this case shows the pitfall, else None."""
        try:
            evidence = self.detect(case)
        except BadRecording:
            # The pitfall needs a variant that the figure does not need, and the recording does not
            # describe the clock of that variant.
            return None
        return None if evidence is None else self.finding(evidence)

    def finding(self, evidence: str) -> Finding:
        """The finding with this evidence."""
        return Finding(
            self.code,
            self.level,
            self.symptom,
            evidence,
            self.misconception,
            self.experiment,
            self.broken[0].kernel if self.broken else "",
        )


def _decorator(
    entry: Callable[Concatenate[Detect, Fields], Pitfall],
) -> Callable[Fields, Callable[[Detect], Pitfall]]:
    def with_fields(*args: Fields.args, **fields: Fields.kwargs) -> Callable[[Detect], Pitfall]:
        return lambda detect: entry(detect, *args, **fields)

    return with_fields


#: Makes an entry of the function below it: `@pitfall(code=..., ...)` takes the fields of `Pitfall`
#: without `detect`, which is the function.
pitfall = _decorator(Pitfall)
