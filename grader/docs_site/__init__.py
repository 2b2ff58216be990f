"""The docs as a site: those in `docs/`, and pages made from pitfalls and saved runs (`make docs`).

All are collected in one folder, from which Sphinx writes HTML.

A page in `docs/` links to other files of the repository as GitHub shows them: `../kernels_c/x.c`.
In the site such a link leads to the page of that file, or to a copy of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from grader.examples import Example, Submission, example_of
from grader.figures.verdict import Level
from grader.lab_pages import HONEST
from grader.pitfalls import CATALOGUE, Pitfall
from labs.analysis.line import Line, fit_line
from labs.c_kernels import catalogue, toolchain
from labs.c_kernels.toolchain import region_of
from labs.html import Table, code_spans
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.plots import figure_svg, picture
from labs.plots.figure_svg import Drawing, Mark, evidence_drawing, value_drawing
from labs.plots.picture import Picture
from labs.plots.scale import BLUE, QUIET
from labs.recording.file import read
from labs.results.result import result_of
from labs.run import broken
from labs.terminal import typeset
from labs.units import plural, rounded

#: Pages outside `docs/`. They lie at the top of the site, as they do in the repository.
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
#: Where in the site copies of files lie that are no pages.
COPIES = "files"

_DOCS = PurePosixPath("docs")
#: What is for Sphinx and no page: it reads its settings from `docs/` itself.
_SETTINGS = ("conf.py", "_static")
#: A link or a picture. Code is matched first, and stays as it is: in fences, in indented lines, and
#: between backticks.
_LINK = re.compile(
    r"^(?P<fence>```+).*?^(?P=fence)|^ {4}.*?$|`[^`\n]+`"
    r"|(?P<before>!?\[(?:[^\]\\]|\\.)*\]\()(?P<target>[^)\s]+)(?P<after>\))",
    re.MULTILINE | re.DOTALL,
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class BadLink(ValueError):
    """A page links to a file that is not there; the message names both."""


@dataclass
class Stage:
    """The site that is made from `repository` in the folder `site`."""

    repository: Path
    site: Path

    def collect(self) -> None:
        """Write all pages of `docs/` and OUTSIDE. Raises OSError, and BadLink for a broken link."""
        shutil.rmtree(self.site, ignore_errors=True)
        self.site.mkdir(parents=True)
        for path in sorted((self.repository / _DOCS).rglob("*")):
            place = PurePosixPath(path.relative_to(self.repository))
            if path.is_dir() or place.parts[1] in _SETTINGS or "__pycache__" in place.parts:
                continue
            if path.suffix == ".md":
                self._put_page(place)
            else:
                self._copy(path, self.site / self._in_site(place))
        for name in OUTSIDE:
            self._put_page(PurePosixPath(name))

    def put(self, name: str, content: bytes) -> None:
        """Write a page or picture that is made, as `name` in the site."""
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def copied(self, place: PurePosixPath) -> str:
        """Where in the site a copy of the file `place` of the repository lies; it is made."""
        name = f"{COPIES}/{place}"
        self._copy(self.repository / place, self.site / name)
        return name

    def _put_page(self, place: PurePosixPath) -> None:
        text = (self.repository / place).read_text(encoding="utf-8")
        self.put(str(self._in_site(place)), self._with_links(text, place).encode())

    def _with_links(self, text: str, page: PurePosixPath) -> str:
        """The text of `page` with links as they are in the site."""

        def linked(match: re.Match[str]) -> str:
            if match["target"] is None:
                return match[0]
            return f"{match['before']}{self._target(match['target'], page)}{match['after']}"

        return _LINK.sub(linked, text)

    def _target(self, target: str, page: PurePosixPath) -> str:
        name, mark, anchor = target.partition("#")
        if not name or _ELSEWHERE.match(target):
            return target
        place = PurePosixPath(os.path.normpath(page.parent / unquote(name)))
        if not (self.repository / place).is_file():
            raise BadLink(f"{page}: the link {target} leads to {place}, which is no file here")
        is_page = place.suffix == ".md" and (_DOCS in place.parents or str(place) in OUTSIDE)
        if is_page or _DOCS in place.parents:
            there = str(self._in_site(place))
        else:
            there = self.copied(place)
        start = self._in_site(page).parent
        return f"{PurePosixPath(os.path.relpath(there, start))}{mark}{anchor}"

    @staticmethod
    def _in_site(place: PurePosixPath) -> PurePosixPath:
        """Where a file of the repository lies in the site: `docs/` is its top."""
        return place.relative_to(_DOCS) if _DOCS in place.parents else place

    @staticmethod
    def _copy(source: Path, destination: Path) -> None:
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, destination)


# Pieces of MyST Markdown, for pages that are made.

_NAME_OF_C = re.compile(r"`|\w+(\(\)|_)")
_MARKS = re.compile(r"([\\*_<>\[\]{}|$#~^])")


def escaped(text: str) -> str:
    """Text of the kit, which means the same in Markdown; code stays between its backticks."""
    parts = code_spans(typeset(" ".join(text.split())))
    return "".join(
        f"`{part}`" if is_code else _MARKS.sub(r"\\\1", part).replace("`", r"\`")
        for part, is_code in parts
    )


def sentence(text: str) -> str:
    """The text with a capital letter at its beginning and a full stop at its end.

    A name of C at its beginning stays as it is: `getpid()`.
    """
    if not _NAME_OF_C.match(text):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def code_block(
    text: str, language: str = "c", caption: str = "", changed: Sequence[int] = ()
) -> str:
    """A block of code, with a caption if there is one."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    options = f":caption: {_one_line(caption)}\n" if caption else ""
    if changed:
        options += f":emphasize-lines: {','.join(map(str, changed))}\n"
    options += "\n" * bool(options)
    return f"{fence}{{code-block}} {language}\n{options}{text.strip(chr(10))}\n{fence}\n"


def broken_and_repaired(broken: str, repaired: str) -> list[str]:
    """The two pieces of C; each has the lines that the other one lacks tinted, and counted."""
    parts = (broken.strip("\n"), repaired.strip("\n"))
    blocks = []
    for caption, mine, other in zip(("Broken", "Repaired"), parts, parts[::-1], strict=True):
        lines = mine.splitlines()
        matching = SequenceMatcher(None, lines, other.splitlines(), autojunk=False)
        blocks_in_both = matching.get_matching_blocks()
        same = {n for begin, _, size in blocks_in_both for n in range(begin, begin + size)}
        changed = [n + 1 for n, line in enumerate(lines) if n not in same and line.strip()]
        told = f"{caption}: {plural(len(changed), 'line')} of its own" if changed else caption
        blocks.append(code_block(mine, caption=told, changed=changed))
    return blocks


def plot(name: str, alt: str, caption: str, width: int) -> str:
    """A plot in the file `name`, with what it is for those who cannot see it, and a caption."""
    return (
        f":::{{figure}} {name}\n:alt: {_one_line(alt)}\n:width: {width}px\n:figclass: plot\n\n"
        f"{caption}\n:::\n"
    )


def side_by_side(parts: Sequence[str]) -> str:
    """The parts next to each other, or one below the other on a narrow page."""
    return "::::{container} pair\n" + "\n".join(parts) + "::::\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


# One page for each pitfall: what it looks like in a real recording, and how it is decided.

PITFALLS = "pitfalls"
#: The list of all pitfalls, in `docs/`.
INDEX = "pitfalls.md"

_CODE_IN_LIST = re.compile(r"^\| `([a-z-]+)` \|", re.MULTILINE)

#: What a finding of each level costs.
_LEVELS = {
    Level.PROVENANCE: "It costs points for provenance: a figure must follow from its recording.",
    Level.VALIDITY: "It costs points for validity: a run must measure what the lab asks for.",
    Level.SUFFICIENCY: "It costs points for sufficiency: a clock and samples must be enough.",
    Level.INTERPRETATION: "It costs points for interpretation: a number must be what it is called.",
}


def write_pitfalls(stage: Stage, only: Collection[str] = ()) -> None:
    """Write the pages of all pitfalls, or of `only` these, and link to them from the list."""
    index = stage.site / INDEX
    chosen = [pitfall for pitfall in CATALOGUE if not only or pitfall.code in only]
    known = {pitfall.code for pitfall in chosen}

    def linked(match: re.Match[str]) -> str:
        code = match[1]
        return f"| [`{code}`]({PITFALLS}/{code}.md) |" if code in known else match[0]

    text = _CODE_IN_LIST.sub(linked, index.read_text(encoding="utf-8"))
    stage.put(INDEX, text.encode())
    for pitfall in chosen:
        page = "\n".join(_pitfall_page(pitfall, stage))
        stage.put(f"{PITFALLS}/{pitfall.code}.md", page.encode())


def _pitfall_page(pitfall: Pitfall, stage: Stage) -> Iterator[str]:
    # The list of all pitfalls leads here. In the menu, a hundred entries would hide the others.
    yield "---\norphan: true\n---\n"
    yield f"# {escaped(pitfall.symptom.removesuffix('.'))}\n"
    yield f"The check calls this pitfall `{pitfall.code}`. {_LEVELS[pitfall.level]}\n"
    kernels = [broken.find(name) for name in dict.fromkeys(e.kernel for e in pitfall.broken)]
    code = [(kernel, broken_and_repaired(*_regions(kernel))) for kernel in kernels]
    if code:
        yield "## The wrong code\n"
    for kernel, (wrong, _) in code:
        yield f"{sentence(escaped(kernel.mistake))}\n"
        yield wrong
    example = None if pitfall.tells_answer else example_of(pitfall.code)
    if example is not None:
        yield from _seen(pitfall.code, example, stage)
    if code:
        yield "## The right code\n"
    for kernel, (_, right) in code:
        copy = stage.copied(PurePosixPath("kernels_c/broken") / kernel.path.name)
        yield right
        yield f"Run both, or read [the whole file](../{copy}):\n"
        yield code_block(f"labs broken {kernel.name}", "text")
    yield "## The likely reason\n"
    if pitfall.tells_answer:
        yield (
            "It would give away an answer of a lab. The check shows it after you have handed the "
            "lab in.\n"
        )
    else:
        yield f"{escaped(pitfall.misconception)}\n"
        yield f"**One experiment that decides:** {escaped(pitfall.experiment)}\n"
    yield f"**Where it was found:** {sentence(escaped(pitfall.seen_in))}\n"
    yield f"[All pitfalls](../{INDEX})\n"


def _regions(kernel: broken.BrokenKernel) -> tuple[str, str]:
    """The measured regions of a C kernel that makes a mistake, and of its repaired twin."""
    twin = kernel.twin_plan()
    repaired = toolchain.c_kernel_source(twin.kernel).read_text(encoding="utf-8")
    variant = (*twin.variants, "")[0]
    wrong = region_of(kernel.source, (*kernel.plan().variants, variant)[0])
    return wrong, region_of(repaired, variant)


def _seen(code: str, example: Example, stage: Stage) -> Iterator[str]:
    """The recordings of the example, as plots with what the check says of their figures."""
    yield "## What it looks like\n"
    wrong = f"**With the mistake.** {_handed_in(example.shows)} {_says(example)}"
    near = f"**Close to it, and right.** {_handed_in(example.near)}"
    if example.same_samples:
        plot = _samples(code, "near", example.near, f"{example.near.gives}", stage)
        yield "Both figures were taken from the same samples, so the mistake is not in the plot.\n"
        yield f"- {wrong}\n- {near}\n"
        yield from (*beside_estimate(code, example.shows, stage), plot)
        return
    yield _samples(code, "wrong", example.shows, wrong, stage)
    yield _samples(code, "near", example.near, near, stage)


def _samples(code: str, kind: str, of: Submission, caption: str, stage: Stage) -> str:
    """The plot of a submission with a caption; the caption alone if there is nothing to draw."""
    drawn = of.drawn()
    if drawn is None:
        return f"{caption}\n"
    return _put_drawing(stage, f"{PITFALLS}/{code}-{kind}.svg", drawn, caption)


def _put_drawing(stage: Stage, name: str, drawn: Drawing, caption: str) -> str:
    """Write a drawing, and return its place on a page of the same folder."""
    stage.put(name, drawn.image)
    return plot(PurePosixPath(name).name, drawn.description, caption, drawn.width)


def beside_estimate(code: str, of: Submission, stage: Stage) -> list[str]:
    """The figure that was handed in next to the estimate, where both have units of time."""
    if of.result is None or of.result.estimate is None or of.figure is None:
        return []
    try:
        shown = of.result.estimate.into(of.figure.unit, of.result.clock)
    except ValueError:  # no unit of time
        return []
    handed_in = Mark("handed in", of.figure.value, "handed in")
    drawn = value_drawing([handed_in, Mark.of("the recording gives", shown)], of.figure.unit)
    caption = "The figure that was handed in, next to what the recording gives."
    return [_put_drawing(stage, f"{PITFALLS}/{code}-figure.svg", drawn, caption)]


def _handed_in(of: Submission) -> str:
    asked = f"the figure `{of.spec.id}`"
    if of.figure is None:
        return f"For {asked}, nothing readable was handed in."
    if not of.handed_in:
        return f"A conclusion was handed in as {asked}."
    return f"{typeset(of.handed_in)} was handed in as {asked}."


def _says(example: Example) -> str:
    return f"The check says: “{escaped(example.finding.evidence)}”"


# The picture of the method: the line of each process of a saved run, and the mean of the lines.

#: The processes of this run differ so much that their lines can be seen apart.
_TASKS, _OWN = HONEST / "05-task-creation" / "recordings" / "own.csv", "own"


def write_method(stage: Stage) -> None:
    """Write the plot, with a file that shows and describes it."""
    line = fit_line(read(_TASKS), _OWN)
    per_us = line.clock.ticks_in("us")
    assert line.cost.by_process is not None
    each = line.cost.by_process.value / per_us
    low, high, mean = (rounded(x, 3) for x in (each.min(), each.max(), line.cost.value / per_us))
    said = (
        f"Line plot of the length of a sample in µs against k, from 0 to {line.batch[-1]:.0f}. The "
        f"{len(each)} thin lines, one for each process, have slopes from {low} to {high} µs. The "
        f"thick line has the slope {mean} µs, and the mean samples lie on it."
    )
    caption = (
        "A saved run of lab 05, in which an operation creates a task and waits for it. The slopes "
        f"of the {len(each)} processes lie between {low} and {high} µs. The value is their mean, "
        f"{mean} µs."
    )
    svg, nothing = _lines_of_processes(line, per_us), Table("", (), ())
    _put(stage, "method", Drawing(svg, "us", said, nothing, figure_svg.PLOT_WIDTH), caption)


def _lines_of_processes(line: Line, per_us: float) -> str:
    """The lines of all processes and their mean; `per_us` is how many ticks a microsecond has."""
    overhead, cost, most = line.overhead.by_process, line.cost.by_process, float(line.batch[-1])
    assert overhead is not None and cost is not None
    begins, ends = overhead.value / per_us, (overhead.value + most * cost.value) / per_us
    key = [("━ one process", QUIET), ("━ mean of all processes, ● mean sample", BLUE)]
    paper = figure_svg.Paper(figure_svg.PLOT_WIDTH, 330)
    top = figure_svg.head(paper, "T(k) = overhead + k × cost", key) + 34
    panel = figure_svg.Panel(70, figure_svg.PLOT_WIDTH - 16, top, 285, 0, 1.05 * float(ends.max()))
    figure_svg.draw_vertical(paper, panel, "T(k) (µs)")
    mean = (line.overhead.value / per_us, (line.overhead.value + most * line.cost.value) / per_us)
    for (begin, end), colour, wide in (
        *(((b, e), QUIET, 0.8) for b, e in zip(begins.tolist(), ends.tolist(), strict=True)),
        (mean, BLUE, 2.4),
    ):
        paper.line(panel.across(0), panel.down(begin), panel.across(1), panel.down(end),
                   colour, wide)  # fmt: skip
    places = [(panel.across(k / most), f"{k:,.0f}") for k in (0.0, *line.batch.tolist())]
    for (x, _), value in zip(places[1:], (line.location / per_us).tolist(), strict=True):
        paper.sign(x, panel.down(value), "o", BLUE, 4.5)
    figure_svg.draw_names(paper, panel, places, "k, operations in a sample")
    return paper.svg()


# The drawings of the pages for people: of one honest run, and of a mistake beside its repair.

#: A page includes these files: `made/first.txt`, `samples.txt`, `line.txt` and `evidence.txt`.
MADE = "made"
_TIMERS, _FENCED = HONEST / "01-timer-overhead" / "recordings" / "fenced.csv", "fenced"
#: A broken C kernel with a small C, and a mistake that a published report made.
FIRST = "gettimeofday_for_trap"


def write_reading(stage: Stage) -> None:
    """Write the plots, each with a file that shows and describes it."""
    recording = read(_TIMERS)
    caption = "Every sample of the variant `fenced`."
    _put(stage, "samples", picture.of_samples(recording, _FENCED), caption)
    caption = "The same run: the mean sample against `k`."
    _put(stage, "line", picture.of_line(result_of(recording, _FENCED, "ns")), caption)
    caption = "At the left, T(k) against k. At the right, what each sample says by itself."
    _put(stage, "evidence", evidence_drawing(recording, _FENCED), caption)


def write_first(stage: Stage) -> None:
    """Write what the start page begins with: a measurement, its mistake, and the repair."""
    pair = pair_of(FIRST)
    after = "\n".join(broken_and_repaired(*pair.regions))
    _put(stage, "first", pair.drawing(), escaped(pair.difference()), after)


def _put(stage: Stage, name: str, drawn: Drawing | Picture, caption: str, after: str = "") -> None:
    """Write a plot in the folder MADE, and the file that a page includes to show it."""
    file = f"{MADE}/{name}.{'svg' if drawn.image.startswith(b'<svg') else 'png'}"
    stage.put(file, drawn.image)
    shown = plot(f"/{file}", drawn.description, caption, drawn.width)
    stage.put(f"{MADE}/{name}.txt", "\n".join(filter(None, (shown, after))).encode())


# The gallery of broken measurements: each with its claim, its code, its plot and its repair.
#
# The plots are of saved runs: a broken C kernel and its repaired twin, measured one after the other
# on the same machine.

GALLERY = "gallery"
#: The saved runs, two for each broken C kernel.
RUNS = Path(__file__).resolve().parent.parent.parent / "tests" / "fixtures" / "gallery"
KINDS = ("broken", "repaired")

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


def write_gallery(stage: Stage, only: Collection[str] = ()) -> None:
    """Write the pages of all broken C kernels, or of `only` these, and the list of them."""
    names = [name for name in broken.names() if not only or name in only]
    pairs = {name: pair_of(name) for name in names}
    for name, pair in pairs.items():
        stage.put(f"{GALLERY}/{name}.md", "\n".join(_gallery_page(name, pair, stage)).encode())
    stage.put(f"{GALLERY}/index.md", "\n".join(_gallery_index(pairs)).encode())


def _gallery_index(pairs: dict[str, Pair]) -> Iterator[str]:
    yield "# A gallery of broken measurements\n"
    yield (
        "Each of these C programs makes one mistake on purpose. Most of the mistakes were found in "
        "published reports or in tools. Each page shows the claim, the plots of the broken and of "
        "the repaired program, the code, and the repair. The plots are of saved runs, so you need "
        "not install anything. Where the two figures are alike, the mistake hardly changed this "
        "run: it shows in the code, and perhaps on another machine.\n"
    )
    for kernel in catalogue.all_kernels():
        mine = {n: p for n, p in pairs.items() if p.repaired.recording.kernel == kernel.name}
        if not mine:
            continue
        yield f"## {kernel.measures}\n"
        cards = []
        for name, pair in mine.items():
            factor = f": {pair.factor}" if pair.factor else ""
            drawn, caption = pair.drawing(), f"[{escaped(_title(pair))}]({name}.md){factor}"
            cards.append(plot(f"{name}-value.svg", drawn.description, caption, drawn.width))
        yield side_by_side(cards)


def _title(pair: Pair) -> str:
    return sentence(pair.kernel.mistake).removesuffix(".")


def _gallery_page(name: str, pair: Pair, stage: Stage) -> Iterator[str]:
    yield "---\norphan: true\n---\n"
    yield f"# {escaped(_title(pair))}\n"
    value = f"{GALLERY}/{name}-value.svg"
    yield _put_drawing(stage, value, pair.drawing(), escaped(pair.difference()))
    yield from (f"{escaped(text)}\n" for text in _more(pair.kernel.source))
    asked = catalogue.of_name(pair.repaired.recording.kernel).measures
    yield "## The claim\n"
    yield f"This C is meant to answer a question: *{asked}* Its run gives:\n"
    yield from (f"> {escaped(text)}" for text in pair.sentences(pair.broken))
    yield f"\n## {'Two figures that are alike' if pair.alike else 'Broken and repaired'}\n"
    for kind, run in zip(KINDS, (pair.broken, pair.repaired), strict=True):
        yield _plot(name, kind, run, stage)
    yield "## The code\n"
    yield from broken_and_repaired(*pair.regions)
    copy = stage.copied(PurePosixPath("kernels_c/broken") / pair.kernel.path.name)
    yield f"[The whole file {pair.kernel.path.name}](../{copy})\n"
    yield "If you have installed Ticklab, run both on your own machine:\n"
    yield code_block(f"labs broken {name}", "text")
    codes = [
        pitfall.code
        for pitfall in CATALOGUE
        if name in [live.kernel for live in pitfall.broken]
        and (stage.site / PITFALLS / f"{pitfall.code}.md").is_file()
    ]
    if codes:
        links = ", ".join(f"[`{code}`](../pitfalls/{code}.md)" for code in codes)
        yield f"If a student hands this in, the check names it: {links}.\n"
    yield "[The whole gallery](index.md)\n"


def _more(source: str) -> list[str]:
    """The paragraphs of the first comment that do not state the mistake or its repair."""
    found = _COMMENT.search(source)
    text = re.sub(r"^ \* ?", "", found[1], flags=re.MULTILINE) if found else ""
    return [each for each in re.split(r"\n\n+", text) if not _STATED.match(each)]


def _plot(name: str, kind: str, run: Run, stage: Stage) -> str:
    drawn = evidence_drawing(run.recording, run.variant)
    # The claim above has the sentence of the broken run.
    said = "" if kind == KINDS[0] else f" {escaped(run.result().sentence())}"
    caption = f"**{kind.capitalize()}.**{said}"
    return _put_drawing(stage, f"{GALLERY}/{name}-{kind}.svg", drawn, caption)
