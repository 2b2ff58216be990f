"""The gallery of broken measurements: each with its claim, its code, its plot and its repair.

The plots are of saved runs: a broken C kernel and its repaired twin, measured one after the other
on the same machine. A small script of our own plays the samples; without it, both plots are
pictures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.pitfalls import CATALOGUE
from grader.site import markdown
from grader.site.markdown import escaped, sentence
from grader.site.stage import Stage
from labs.analysis.arrays import Bools, Floats
from labs.c_kernels import catalogue
from labs.common.units import rounded
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.plots import taken
from labs.plots.small_samples import WIDTH, samples_png
from labs.recording.file import read
from labs.run import broken

FOLDER = "gallery"
#: The saved runs, two for each broken C kernel.
RUNS = Path(__file__).resolve().parent.parent.parent / "tests" / "fixtures" / "gallery"
KINDS = ("broken", "repaired")
#: A player with more samples would be slow on a phone.
MOST_PLAYED = 600

_COMMENT = re.compile(r"\A/\*\n(.*?)\n? \*/", re.DOTALL)
_STATED = re.compile(r"^(Wrong on purpose|Repaired|Run with): ")


def run_file(name: str, kind: str) -> Path:
    """The saved run of the broken C kernel `name`, or of its twin."""
    return RUNS / f"{name}-{kind}.csv"


def pair_of(name: str) -> Pair:
    """The saved runs of the broken C kernel `name` and of its repaired twin.

    Raises BadRecording, NoSuchBroken, and OSError if one of them was not saved.
    """
    kernel = broken.find(name)
    twin = kernel.twin_plan().variants
    runs = []
    for kind, own in zip(KINDS, (kernel.plan().variants, twin), strict=True):
        recording = read(run_file(name, kind))
        first = next(each for each in (*own, *twin, *recording.variants) if
                     each in recording.variants)  # fmt: skip
        runs.append(Run.of(recording, (first,)))
    return Pair(kernel, *runs)


def write(stage: Stage, only: Collection[str] = ()) -> None:
    """Write the pages of all broken C kernels, or of `only` these, and the list of them."""
    names = [name for name in broken.names() if not only or name in only]
    pairs = {name: pair_of(name) for name in names}
    for name, pair in pairs.items():
        stage.put(f"{FOLDER}/{name}.md", "\n".join(_page(name, pair, stage)).encode())
    stage.put(f"{FOLDER}/index.md", "\n".join(_index(pairs)).encode())


def _index(pairs: dict[str, Pair]) -> Iterator[str]:
    yield "# A gallery of broken measurements\n"
    yield (
        "Each of these C programs makes one mistake on purpose. Most of the mistakes were found in "
        "published reports or in tools. Each page shows the claim, the plots of the broken and of "
        "the repaired program, the code, and the repair. The plots play saved runs, so you need "
        "not install anything. Where the two figures are alike, the mistake hardly changed this "
        "run: it shows in the code, and perhaps on another machine.\n"
    )
    for kernel in catalogue.all_kernels():
        mine = {n: p for n, p in pairs.items() if p.repaired.recording.kernel == kernel.name}
        if not mine:
            continue
        yield f"## {kernel.measures}\n"
        yield "| mistake | broken | repaired |\n|---|---:|---:|"
        for name, pair in mine.items():
            title = escaped(_title(pair))
            yield f"| [{title}]({name}.md) | {_value(pair, 0)} | {_value(pair, 1)} |"
        yield ""


def _value(pair: Pair, which: int) -> str:
    """The figure of one of the two runs, in a readable unit and on one line."""
    value = _figures(pair)[which]
    if value is None:
        return "no figure"
    units = (("ms", 1e6), ("µs", 1e3))
    unit, length = next((each for each in units if abs(value) >= each[1]), ("ns", 1.0))
    return f"{rounded(value / length, 3)}\N{NO-BREAK SPACE}{unit}"


def _figures(pair: Pair) -> tuple[float, float | None]:
    """What the author of the broken C kernel would report, and what the repaired one gives."""
    wrong, right = pair.broken.result(), pair.repaired.result()
    value = pair.naive_value
    if wrong.estimate is None and _shows_the_clock(pair.broken):
        value = float(np.median(_played(pair.broken).ns))
    return value, None if right.estimate is None else right.estimate.value


def _title(pair: Pair) -> str:
    return sentence(pair.kernel.mistake).removesuffix(".")


def _page(name: str, pair: Pair, stage: Stage) -> Iterator[str]:
    yield "---\norphan: true\n---\n"
    yield f"# {escaped(_title(pair))}\n"
    yield from (f"{escaped(text)}\n" for text in _more(pair.kernel.source))
    asked = catalogue.of_name(pair.repaired.recording.kernel).measures
    yield "## The claim\n"
    yield f"This C is meant to answer a question: *{asked}* Its run gives:\n"
    yield from (f"> {escaped(text)}" for text in pair.sentences(pair.broken))
    if pair.alike:
        yield "\n## Two figures that are alike\n"
        yield f"{escaped(pair.difference())}\n"
    else:
        yield "\n## The plot that betrays it\n"
    yield markdown.side_by_side(
        [_plot(name, kind, run, stage) for kind, run in _runs(pair)], "player-pictures"
    )
    yield _data(pair)
    yield "## The code\n"
    for kind, code in zip(KINDS, pair.regions, strict=True):
        yield markdown.code(code, caption=kind.capitalize())
    copy = stage.copied(PurePosixPath("kernels_c/broken") / pair.kernel.path.name)
    yield f"[The whole file {pair.kernel.path.name}](../{copy})\n"
    yield "## The repair\n"
    yield f"{escaped(' '.join(pair.sentences(pair.repaired)))}\n\n{escaped(pair.difference())}\n"
    yield "If you have installed Ticklab, run both on your own machine:\n"
    yield markdown.code(f"labs broken {name}", "text")
    codes = [
        pitfall.code
        for pitfall in CATALOGUE
        if name in [live.kernel for live in pitfall.broken] and _has_page(stage, pitfall.code)
    ]
    if codes:
        links = ", ".join(f"[`{code}`](../pitfalls/{code}.md)" for code in codes)
        yield f"If a student hands this in, the check names it: {links}.\n"
    yield "[The whole gallery](index.md)\n"


def _has_page(stage: Stage, code: str) -> bool:
    return (stage.site / "pitfalls" / f"{code}.md").is_file()


def _more(source: str) -> list[str]:
    """The paragraphs of the first comment that do not state the mistake or its repair."""
    found = _COMMENT.search(source)
    text = re.sub(r"^ \* ?", "", found[1], flags=re.MULTILINE) if found else ""
    return [each for each in re.split(r"\n\n+", text) if not _STATED.match(each)]


def _runs(pair: Pair) -> Iterator[tuple[str, Run]]:
    yield from zip(KINDS, (pair.broken, pair.repaired), strict=True)


def _plot(name: str, kind: str, run: Run, stage: Stage) -> str:
    file = f"{FOLDER}/{name}-{kind}.png"
    stage.put(file, samples_png(run.recording, run.variant))
    said = " ".join(taken.describe_samples(run.recording, run.variant))
    caption = f"**{kind.capitalize()}.** {escaped(run.result().sentence())}"
    return markdown.plot(PurePosixPath(file).name, said, caption, WIDTH)


class _Played(NamedTuple):
    """The samples of a run that the player shows: lengths in ns, processes, and what is warm-up."""

    what: str
    ns: Floats
    process: NDArray[np.int64]
    warm: Bools


def _shows_the_clock(run: Run) -> bool:
    """Whether the run is about the clock itself, and has samples with nothing between readings."""
    mine = run.recording.rows_of(run.variant)
    return run.result().what == "overhead" and bool((run.recording.batch[mine] == 0).any())


def _played(run: Run) -> _Played:
    recording = run.recording
    mine = recording.rows_of(run.variant)
    what = "time of one operation, with its share of the clock"
    if _shows_the_clock(run):
        mine = mine & (recording.batch == 0)
        what = "two readings of the clock, with nothing between"
    lengths = recording.ticks[mine] / run.result().clock.ticks_in("ns")
    k = recording.batch[mine].clip(min=1)
    return _Played(what, lengths / k, recording.process[mine], recording.sample[mine] < 0)


def _data(pair: Pair) -> str:
    """The samples of both runs, for the player, in the order taken."""
    halves = {}
    for kind, run in _runs(pair):
        played = _played(run)
        halves[kind] = {
            "name": f"{run.recording.kernel} {run.variant}",
            "what": played.what,
            "ns": [float(f"{each:.4g}") for each in played.ns[:MOST_PLAYED].tolist()],
            "process": played.process[:MOST_PLAYED].tolist(),
            "warm": played.warm[:MOST_PLAYED].astype(int).tolist(),
        }
    text = json.dumps(halves, separators=(",", ":")).replace("<", "\\u003c")
    script = f'<script type="application/json" class="player-data">{text}</script>'
    return f"```{{raw}} html\n{script}\n```\n"
