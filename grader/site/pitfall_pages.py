"""One page for each pitfall: what it looks like in a real recording, and how it is decided."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from grader.cases.verdict import Level
from grader.examples.example import Example, Submission, example_of
from grader.pitfalls import CATALOGUE, Pitfall
from grader.site import markdown
from grader.site.markdown import escaped, sentence
from grader.site.stage import Stage
from labs.c_kernels import toolchain
from labs.c_kernels.region import region_of
from labs.plots import picture
from labs.plots.known_number import Mark
from labs.plots.small_samples import WIDTH
from labs.run import broken

FOLDER = "pitfalls"
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


def write(stage: Stage, only: Collection[str] = ()) -> None:
    """Write the pages of all pitfalls, or of `only` these, and link to them from the list."""
    index = stage.site / INDEX
    chosen = [pitfall for pitfall in CATALOGUE if not only or pitfall.code in only]
    known = {pitfall.code for pitfall in chosen}

    def linked(match: re.Match[str]) -> str:
        code = match[1]
        return f"| [`{code}`]({FOLDER}/{code}.md) |" if code in known else match[0]

    text = _CODE_IN_LIST.sub(linked, index.read_text(encoding="utf-8"))
    stage.put(INDEX, text.encode())
    for pitfall in chosen:
        stage.put(f"{FOLDER}/{pitfall.code}.md", "\n".join(_page(pitfall, stage)).encode())


def _page(pitfall: Pitfall, stage: Stage) -> Iterator[str]:
    # The list of all pitfalls leads here. In the menu, a hundred entries would hide the others.
    yield "---\norphan: true\n---\n"
    yield f"# {escaped(pitfall.symptom.removesuffix('.'))}\n"
    yield f"The check calls this pitfall `{pitfall.code}`. {_LEVELS[pitfall.level]}\n"
    if pitfall.tells_answer:
        yield (
            "Its explanation would give away an answer of a lab. The check shows it after you have "
            "handed the lab in.\n"
        )
    else:
        yield f"## The likely reason\n\n{escaped(pitfall.misconception)}\n"
        yield f"## One experiment that decides\n\n{escaped(pitfall.experiment)}\n"
        example = example_of(pitfall.code)
        if example is not None:
            yield from _seen(pitfall.code, example, stage)
    for name in dict.fromkeys(live.kernel for live in pitfall.broken):
        yield from _made(broken.find(name), stage)
    yield f"## Where it was found\n\n{sentence(escaped(pitfall.seen_in))}\n"
    yield f"[All pitfalls](../{INDEX})\n"


def _seen(code: str, example: Example, stage: Stage) -> Iterator[str]:
    """The recordings of the example, as plots with what the check says of their figures."""
    yield "## In a real recording\n"
    wrong = f"**With the mistake.** {_handed_in(example.shows)} {_says(example)}"
    near = f"**Close to it, and right.** {_handed_in(example.near)}"
    if example.same_samples:
        plot = _samples(code, "near", example.near, f"{example.near.gives}", stage)
        yield "Both figures were taken from the same samples, so the mistake is not in the plot.\n"
        yield f"- {wrong}\n- {near}\n"
        beside = _beside_estimate(code, example.shows, stage)
        yield markdown.side_by_side([*beside, plot] if beside else [plot])
        return
    plots = [
        _samples(code, "wrong", example.shows, wrong, stage),
        _samples(code, "near", example.near, near, stage),
    ]
    yield markdown.side_by_side(plots)


def _samples(code: str, kind: str, of: Submission, caption: str, stage: Stage) -> str:
    """The plot of a submission with a caption; the caption alone if there is nothing to draw."""
    drawn = of.drawn()
    if drawn is None:
        return f"{caption}\n"
    name = f"{FOLDER}/{code}-{kind}.png"
    stage.put(name, drawn.png)
    said = caption if caption == of.gives else f"{caption} {escaped(of.gives)}"
    return markdown.plot(PurePosixPath(name).name, f"{drawn.kind} {drawn.meaning}", said, WIDTH)


def _beside_estimate(code: str, of: Submission, stage: Stage) -> list[str]:
    """The figure that was handed in next to the estimate, where both have units of time."""
    if of.result is None or of.result.estimate is None or of.figure is None:
        return []
    if of.figure.value <= 0:  # the axis is logarithmic
        return []
    mark = Mark(of.figure.value, of.figure.unit, "the figure handed in")
    try:
        drawn = picture.of_estimates([of.result], {of.variant: mark})
    except ValueError:  # no unit of time
        return []
    name = f"{FOLDER}/{code}-figure.png"
    stage.put(name, drawn.image)
    alt = f"{drawn.kind} {drawn.meaning}"
    caption = "The figure that was handed in, next to what the recording gives."
    return [markdown.plot(PurePosixPath(name).name, alt, caption, drawn.width)]


def _handed_in(of: Submission) -> str:
    asked = f"the figure `{of.spec.id}`"
    if of.figure is None:
        return f"For {asked}, nothing readable was handed in."
    if not of.handed_in:
        return f"A conclusion was handed in as {asked}."
    return f"{of.handed_in} was handed in as {asked}."


def _says(example: Example) -> str:
    return f"The check says: “{escaped(example.finding.evidence)}”"


def _made(kernel: broken.BrokenKernel, stage: Stage) -> Iterator[str]:
    """A C kernel that makes the mistake on purpose, next to its repaired twin."""
    yield f"## Made on purpose: `{kernel.name}`\n"
    yield f"{sentence(escaped(kernel.mistake))} Run it next to its repair:\n"
    yield markdown.code(f"labs broken {kernel.name}", "text")
    twin = kernel.twin_plan()
    repaired = toolchain.c_kernel_source(twin.kernel).read_text(encoding="utf-8")
    right = twin.variants
    names = [*kernel.plan().variants, *right, ""]
    yield markdown.code(region_of(kernel.source, names[0]), caption="Broken")
    yield markdown.code(region_of(repaired, right[0] if right else ""), caption="Repaired")
    copy = stage.copied(PurePosixPath("kernels_c/broken") / kernel.path.name)
    yield f"[The whole file](../{copy})\n"
