"""Wrong submissions as they lie in their folders, one for each case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.wrong.case import Case, Kind, Lab
from bench.wrong.student import NoFigure, Shelf, Student
from grader.cases.spec import RELATIONS, FigureSpec, Quantity
from grader.figures import figure_named
from labs.c_kernels.toolchain import CompileError
from labs.common.messages import Refused
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import read
from labs.results.result import result_of
from labs.run.c_process import RunFailed

#: A value read wrongly that lies as close as this to the right one does no harm.
CLOSE = 0.02


@dataclass(frozen=True)
class Laid:
    """A case in its folder.

    `refused` is the message by which the kit refused the run before there was anything to hand in.
    `no_case` says why this machine shows no mistake: the wrong value came out as the right one.
    """

    lab: str
    case: Case
    folder: Path
    refused: str = ""
    no_case: str = ""


def lay(lab: Lab, below: Path, only: str = "") -> Iterator[Laid]:
    """Lay every case of a lab into a folder `below`, the right runs made once for all."""
    shelf = Shelf(lab.runs)
    for case in lab.cases:
        if only and only != case.name:
            continue
        folder = below / lab.lab / case.name
        (folder / "recordings").mkdir(parents=True)
        refused = no_case = ""
        try:
            case.make(Student(folder, shelf))
        except (RunFailed, CompileError) as error:
            refused = str(error)
        except Refused as error:
            refused = str(error.message)
        except NoFigure as error:
            no_case = f"no figure: {error}"
        else:
            no_case = _by_chance(case, folder)
        yield Laid(lab.lab, case, folder, refused, no_case)


def _by_chance(case: Case, folder: Path) -> str:
    """Why a value that was read wrongly is right all the same; '' where it is wrong.

    By the student's own run and interval, not by what a grader accepts.
    """
    handed_in = figures.read(folder).get(case.figure)
    spec = figure_named(case.figure)
    if case.kind is not Kind.VALUE or not isinstance(handed_in, Figure) or not _plain(spec):
        return ""
    if handed_in.recording is None or spec.demonstrates:
        return ""
    result = result_of(read(folder / handed_in.recording), spec.variant, spec.unit)
    if result.estimate is None:
        return ""
    right = result.estimate
    value = result.clock.convert(handed_in.value, handed_in.unit, spec.unit)
    slack = CLOSE * abs(right.value)
    if right.low - slack <= value <= right.high + slack:
        return f"{value:.4g} {spec.unit} lies in the interval of the right value"
    return ""


def _plain(spec: FigureSpec) -> bool:
    """Whether the figure is one estimate of one variant."""
    kinds = {Quantity.STEP, Quantity.SWITCHES} | RELATIONS
    return spec.quantity not in kinds and spec.is_time
