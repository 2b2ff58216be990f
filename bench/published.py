"""Is the mistake in each published figure named? Each is handed in, with a recording of its way.

The recording is one made in the way of the mistake: by its broken C kernel, or an honest one whose
figure is then taken wrongly; those of tests/fixtures/pitfalls. It is put on a machine on which
this way of measuring gives the published figure: the frequency of the counter is changed, so that
every time in it grows or shrinks alike, and the figure handed in is the one that was printed.

`python -m bench.published` writes docs/pitfalls.md: the catalogue, and what was found.
"""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from bench.report import must_hold, say, verdict
from grader.cases.verdict import Level
from grader.judging import lab_folder
from grader.pitfalls import CATALOGUE, Pitfall
from labs.common.files import write_atomically
from labs.common.units import NANOSECONDS
from labs.course import figures, published
from labs.course.figures import Figure
from labs.course.published import Published
from labs.recording.file import Recording, read
from testing.paths import FIXTURES, REPOSITORY

MISTAKES = FIXTURES / "pitfalls"
PAGE = REPOSITORY / "docs" / "pitfalls.md"

_NOMINAL = re.compile(r"@ (\d+(?:\.\d+)?) ?GHz")


@dataclass(frozen=True)
class Trial:
    """One published figure and one mistake known to be in it: whether that was named."""

    figure: Published
    code: str
    found: tuple[str, ...]

    @property
    def named(self) -> bool:
        """Whether the mistake is among the findings."""
        return self.code in self.found


@dataclass(frozen=True)
class _Way:
    """A submission that makes one mistake: its folder, and the figure that it shows in."""

    folder: Path
    lab: str
    figure: Figure


def run(quick: bool) -> bool:
    """Every published figure, every mistake known to be in it."""
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
    """One trial for each published figure and each mistake known to be in it."""
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
            assert isinstance(each, Figure)  # only of readable ones is a way made
            value = each.value * slower if each.unit in NANOSECONDS else each.value
            figures.put(folder, replace(each, value=value))
        verdicts = lab_folder.check_folder(folder, way.lab)
    mine = next(each for each in verdicts if each.figure == way.figure.id)
    return tuple(finding.code for finding in mine.findings)


def _in_ns(figure: Published) -> float:
    """The printed value in ns: cycles by the clock that the report has, a total by its calls."""
    if figure.unit == "cycles":
        return figure.value * 1e3 / figure.clock_mhz if figure.clock_mhz else figure.value
    operations = figure.iterations if figure.unit == "s" and figure.iterations else 1
    return figure.value * NANOSECONDS[figure.unit.split("/")[0]] / operations


@functools.cache
def _way(code: str) -> _Way | None:
    """The saved submission that makes the mistake `code`; None where there is none."""
    ways = []
    for folder in sorted((MISTAKES / code).glob("wrong*")):
        lab = lab_folder.lab_of(folder)
        for each in lab_folder.check_folder(folder, lab):
            submitted = figures.read(folder).get(each.figure)
            if code in (finding.code for finding in each.findings) and isinstance(
                submitted, Figure
            ):
                ways.append(_Way(folder, lab, submitted))
    # Reports print no figure below nothing: such a way would not give theirs.
    return next((way for way in ways if way.figure.value > 0), None)


def _slower(recording: Recording, factor: float) -> Recording:
    """The same samples from a machine that is slower by `factor`: its counter ticks less often."""

    def changed(conditions: Mapping[str, str]) -> Mapping[str, str]:
        new = dict(conditions)
        for key, value in conditions.items():
            if key.endswith("frequency_hz"):
                new[key] = f"{float(value) / factor:.6g}"
        if "machine.cpu" in new:  # the clock in the brand string belongs to the counter's
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
    """docs/pitfalls.md as it must read."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Pitfalls"
    yield ""
    yield "Known ways to measure or report wrongly, and what the grader looks for. This page is"
    yield "made by `python -m bench.published`; do not edit it."
    yield ""
    yield "## The catalogue"
    yield ""
    yield f"{len(CATALOGUE)} entries. A level says which points of a figure a finding costs."
    yield ""
    yield "| code | level | what it looks like | met in | broken C kernel |"
    yield "|---|---|---|---|---|"
    levels = list(Level)
    for pitfall in sorted(CATALOGUE, key=lambda each: levels.index(each.level)):
        yield _entry(pitfall)
    yield ""
    yield "## The published figures on trial"
    yield ""
    yield "Every figure of the five reports that carries a known mistake, handed in with a"
    yield "recording made in its report's way: one of the mistake's own C kernel, on a machine on"
    yield "which this way gives the printed figure. Named: the mistake is among the findings."
    yield ""
    yield "| report | quantity | mistake | figures | named |"
    yield "|---|---|---|---:|---:|"
    rows: dict[tuple[str, str, str], list[bool]] = {}
    for each in trials():
        key = (each.figure.report, _kind(each.figure.quantity), each.code)
        rows.setdefault(key, []).append(each.named)
    for (report, quantity, code), named in rows.items():
        yield f"| {report} | {quantity} | `{code}` | {len(named)} | {sum(named)} |"


def _entry(pitfall: Pitfall) -> str:
    kernels = dict.fromkeys(live.kernel for live in pitfall.broken)
    shown = ", ".join(f"[{name}](../kernels_c/broken/{name}.c)" for name in kernels)
    cells = (f"`{pitfall.code}`", pitfall.level.value, pitfall.symptom, pitfall.seen_in, shown)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _kind(quantity: str) -> str:
    """The quantity, all procedure calls together."""
    return re.sub(r"^(procedure call) \d+ args?$", r"\1", quantity)


if __name__ == "__main__":
    write_atomically(PAGE, page().encode())
    say(f"{PAGE.relative_to(REPOSITORY)}: {json.dumps(sum(each.named for each in trials()))} named")
