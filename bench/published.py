"""Does the grader name the mistake in each published figure?

We submit each published figure with a recording from tests/fixtures/pitfalls that has the same
mistake: a broken C kernel made it, or an honest run from which a wrong figure was taken. Then we
change the frequency of the counter in the recording. All its times grow or shrink alike, and the
mistake gives the printed value. So the submitted figure is the one that the report printed.

`python -m bench.published` writes docs/pitfalls.md: the catalogue, and what was found.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from bench.report import must_hold, say, verdict
from grader.figures.verdict import Level
from grader.judging import lab_folder
from grader.judging.points import FAR
from grader.pitfalls import CATALOGUE, Pitfall
from labs.course import figures, published
from labs.course.figures import Figure
from labs.course.published import Published
from labs.files import write_atomically
from labs.recording.file import Recording, read
from labs.units import NANOSECONDS
from support.paths import FIXTURES, REPOSITORY

MISTAKES = FIXTURES / "pitfalls"
PAGE = REPOSITORY / "docs" / "pitfalls.md"

_NOMINAL = re.compile(r"@ (\d+(?:\.\d+)?) ?GHz")


@dataclass(frozen=True)
class Trial:
    """One published figure, one of its known mistakes, and the findings of the grader."""

    figure: Published
    code: str
    found: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Whether the mistake is among the findings."""
        return self.code in self.found


@dataclass(frozen=True)
class _Way:
    """A submission with one mistake: its folder, its lab, and the wrong figure."""

    folder: Path
    lab: str
    figure: Figure


def run(quick: bool) -> bool:
    """Check every published figure and every known mistake in it."""
    del quick  # it takes seconds
    must_hold("each mistake in each published figure is named")
    made = trials()
    missed = [each for each in made if not each.named]
    for each in missed[:20]:
        figure = each.figure
        say(
            f"   report {figure.report}, {figure.quantity}, {figure.series}, {figure.value:g} "
            f"{figure.unit}: {each.code} not among {', '.join(each.found) or 'no findings'}"
        )
    return verdict(not missed, f"{len(made) - len(missed)} of {len(made)} named")


@functools.lru_cache(maxsize=1)
def trials() -> tuple[Trial, ...]:
    """One trial for each published figure and each of its known mistakes."""
    return tuple(
        Trial(figure, suspicion.code, _found(figure, suspicion.code))
        for figure in published.figures()
        for suspicion in figure.suspicions
    )


def _found(figure: Published, code: str) -> tuple[str, ...]:
    way = _way(code)
    if way is None:
        return ()
    time_ns = _in_ns(figure)
    given_ns = way.figure.value * NANOSECONDS.get(way.figure.unit, 1.0)
    slower = time_ns / given_ns if way.figure.unit in NANOSECONDS and time_ns > 0 else 1.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (way.folder / "recordings").iterdir():
            target = folder / "recordings" / path.name
            target.parent.mkdir(exist_ok=True)
            if path.suffix == ".csv":
                _slower(read(path), slower).write(target)
            else:
                target.write_bytes(path.read_bytes())
        for each in figures.read(way.folder).values():
            assert isinstance(each, Figure)  # `_way` takes only readable figures
            value = each.value * slower if each.unit in NANOSECONDS else each.value
            figures.put(folder, replace(each, value=value))
        verdicts = lab_folder.check_folder(folder, way.lab)
    mine = next(each for each in verdicts if each.figure == way.figure.id)
    return tuple(finding.code for finding in mine.findings)


def _in_ns(figure: Published) -> float:
    """The printed value in ns; cycles use the report's clock, and totals its number of calls."""
    if figure.unit == "cycles":
        return figure.value * 1e3 / figure.clock_mhz if figure.clock_mhz else figure.value
    operations = figure.iterations if figure.unit == "s" and figure.iterations else 1
    return figure.value * NANOSECONDS[figure.unit.split("/")[0]] / operations


@functools.cache
def _way(code: str) -> _Way | None:
    """The saved submission with the mistake `code`; None if there is none."""
    ways = []
    for folder in sorted((MISTAKES / code).glob("wrong*")):
        lab = lab_folder.lab_of(folder)
        for each in lab_folder.check_folder(folder, lab):
            submitted = figures.read(folder).get(each.figure)
            if code in (finding.code for finding in each.findings) and isinstance(
                submitted, Figure
            ):
                ways.append(_Way(folder, lab, submitted))
    # Reports print no negative figures, so a negative one cannot be scaled to theirs.
    return next((way for way in ways if way.figure.value > 0), None)


def _slower(recording: Recording, factor: float) -> Recording:
    """The same samples from a machine that is slower by `factor`: its counter ticks less often."""

    def changed(conditions: Mapping[str, str]) -> Mapping[str, str]:
        new = dict(conditions)
        for key, value in conditions.items():
            if key.endswith("frequency_hz"):
                new[key] = f"{float(value) / factor:.6g}"
        if "machine.cpu" in new:  # the clock in the CPU's name must match the counter
            new["machine.cpu"] = _NOMINAL.sub(
                lambda match: f"@ {float(match[1]) / factor:.6g}GHz", new["machine.cpu"]
            )
        return MappingProxyType(new)

    return replace(
        recording,
        conditions=changed(recording.conditions),
        processes=tuple(changed(process) for process in recording.processes),
    )


def page() -> str:
    """The text of docs/pitfalls.md."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Pitfalls"
    yield ""
    yield "## The catalogue"
    yield ""
    yield f"The grader looks for these {len(CATALOGUE)} ways to measure or report wrongly."
    yield "A finding costs the points of its level, in most figures a quarter. At least half of the"
    yield "points go for the mistake that a figure is about, and for a finding of validity in your"
    yield f"own C. So they do for a value more than {FAR:g} times too large or small, but not for"
    yield "its unit."
    yield ""
    for level in Level:
        yield f"### {level.value.capitalize()}"
        yield ""
        yield "| code | what it looks like, *where it was found*, and C that makes it |"
        yield "|---|---|"
        yield from (_entry(each) for each in CATALOGUE if each.level is level)
        yield ""
    yield "## The published figures on trial"
    yield ""
    yield "We submitted every figure of the five reports with a known mistake. Its recording has"
    yield "the same mistake, and its clock is scaled so that the mistake gives the printed figure."
    found = sum(each.named for each in trials())
    yield f"The grader found {found} of {len(trials())} mistakes. Behind each mistake is the number"
    yield "of figures in which it was found."
    yield ""
    yield "| report and quantity | mistakes found |"
    yield "|---|---|"
    rows: dict[str, Counter[str]] = {}
    for each in trials():
        row = f"{each.figure.report}: {_kind(each.figure.quantity)}"
        rows.setdefault(row, Counter())[each.code] += each.named
    for row, named in rows.items():
        yield f"| {row} | {', '.join(f'`{code}` {count}' for code, count in named.items())} |"


def _entry(pitfall: Pitfall) -> str:
    kernels = dict.fromkeys(live.kernel for live in pitfall.broken)
    shown = ", ".join(f"[{name}](../kernels_c/broken/{name}.c)" for name in kernels)
    told = f"{pitfall.symptom} *{pitfall.seen_in}* {shown}".strip()
    return f"| `{pitfall.code}` | {told.replace('|', '/')} |"


def _kind(quantity: str) -> str:
    """The quantity, with one name for all procedure calls."""
    return re.sub(r"^(procedure call) \d+ args?$", r"\1", quantity)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m bench.published", description=__doc__).parse_args()
    write_atomically(PAGE, page().encode())
    say(f"{PAGE.relative_to(REPOSITORY)}: {json.dumps(sum(each.named for each in trials()))} named")
