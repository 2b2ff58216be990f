"""The two plots of one honest run, for the page that shows them."""

from __future__ import annotations

from grader.pages.build import HONEST
from grader.site import markdown
from grader.site.stage import Stage
from labs.plots import picture, taken
from labs.plots.small_samples import WIDTH, samples_png
from labs.recording.file import read
from labs.results.result import result_of

#: A page includes these files, `made/samples.txt` and `made/line.txt`.
FOLDER = "made"
_RUN, _VARIANT = HONEST / "01-timer-overhead" / "recordings" / "fenced.csv", "fenced"


def write(stage: Stage) -> None:
    """Write both plots, each with a file that shows and describes it."""
    recording = read(_RUN)
    said = " ".join(taken.describe_samples(recording, _VARIANT))
    stage.put(f"{FOLDER}/samples.png", samples_png(recording, _VARIANT))
    _put(stage, "samples", said, "Every sample of the variant `fenced`.", WIDTH)
    line = picture.of_line(result_of(recording, _VARIANT, "ns"))
    stage.put(f"{FOLDER}/line.png", line.image)
    _put(stage, "line", line.description, "The same run: the mean sample against `k`.", line.width)


def _put(stage: Stage, name: str, said: str, caption: str, width: int) -> None:
    text = markdown.plot(f"/{FOLDER}/{name}.png", said, caption, width)
    stage.put(f"{FOLDER}/{name}.txt", text.encode())
