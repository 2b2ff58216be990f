"""Wrong submissions as they lie in their folders, one for each case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.wrong.case import Case, Kind, Lab
from bench.wrong.student import NoFigure, NoMistake, NotTaken, Shelf, Student
from grader.figures import figure_named
from grader.figures.spec import FigureSpec, Quantity
from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.c_kernels.toolchain import CompileError
from labs.course import figures
from labs.course.figures import BadFigure, Figure
from labs.messages import Refused
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


def lay(lab: Lab, shelf: Shelf, below: Path) -> Iterator[Laid]:
    """Lay every case of a lab into a folder `below`, by the right runs on the shelf."""
    for case in lab.cases:
        folder = below / lab.lab / case.name
        (folder / "recordings").mkdir(parents=True)
        refused = no_case = ""
        try:
            case.make(Student(folder, shelf))
        except (RunFailed, CompileError, NotTaken) as error:
            refused = str(error)
        except Refused as error:
            refused = str(error.message)
        except (NoFigure, NoMistake) as error:
            no_case = str(error)
        else:
            no_case = _by_chance(case, folder)
        yield Laid(lab.lab, case, folder, refused, no_case)


def _by_chance(case: Case, folder: Path) -> str:
    """Why a value that was read wrongly is right all the same; '' where it is wrong.

    By the student's own runs and their intervals, not by what a grader accepts.
    """
    handed_in = figures.read(folder)
    figure, spec = handed_in.get(case.figure), figure_named(case.figure)
    counted = spec.quantity in (Quantity.STEP, Quantity.SWITCHES, Quantity.CHOICE)
    related = case.kind is Kind.CONCLUSION and bool(spec.of)
    if not (case.kind is Kind.VALUE or related) or counted or spec.demonstrates:
        return ""
    if not isinstance(figure, Figure):
        return ""
    try:
        operands = [_estimate(folder, handed_in, name, spec) for name in spec.operands]
        right, low, high = _related(spec, operands)
        value = figure.value
        if spec.is_time and not spec.of:
            clock = read(folder / str(figure.recording)).clock(spec.variant)
            value = clock.convert(figure.value, figure.unit, spec.unit)
    except (NoFigure, KeyError, OSError, ZeroDivisionError, ValueError):
        return ""
    slack = CLOSE * abs(right)
    if low - slack <= value <= high + slack:
        return f"{value:.4g} {spec.unit} lies in the interval of the right value"
    return ""


def _estimate(
    folder: Path, handed_in: dict[str, Figure | BadFigure], name: str, spec: FigureSpec
) -> Estimate:
    """An operand: a variant of the figure's own run, or another figure that was handed in."""
    unit = spec.unit if spec.is_time else "ns"
    figure = handed_in[name if spec.of else spec.id]
    if not isinstance(figure, Figure) or figure.recording is None:
        raise NoFigure(name)
    variant = figure_named(name).variant if spec.of else name
    result = result_of(read(folder / figure.recording), variant, unit)
    if result.estimate is None:
        raise NoFigure(name)
    return result.estimate


def _related(spec: FigureSpec, operands: list[Estimate]) -> tuple[float, float, float]:
    """The right value with its interval."""
    if spec.quantity is Quantity.RATIO:
        return confidence.ratio(operands[0], operands[1])
    if spec.quantity is Quantity.DIFFERENCE:
        value, low, high = confidence.difference(operands[0], operands[1])
        return value / spec.divisor, low / spec.divisor, high / spec.divisor
    return operands[0].value, operands[0].low, operands[0].high
