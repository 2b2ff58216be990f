"""From the click on Run to the plot that Chromium shows: 10,000 samples, in JupyterLab."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from bench.report import median_and_range, must_hold, skipped, verdict
from support.notebook_as_markdown import of_code

try:
    from bench.labs import jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

MOST_MS = 250
CELLS = ('from labs import start\nlab = start("x")', 'lab.panel("timer_overhead")')

#: Press Run; the milliseconds until an image with other content is decoded and about to be painted.
_CLICK = """panel => new Promise(resolve => {
  const image = () => panel.querySelector('img[alt^="Samples of"]');
  const before = image() ? image().src : '';
  const begin = performance.now();
  const watching = new MutationObserver(async () => {
    const shown = image();
    if (!shown || shown.src === before) return;
    watching.disconnect();
    await shown.decode();
    requestAnimationFrame(() => resolve(performance.now() - begin));
  });
  watching.observe(panel, {subtree: true, childList: true, attributes: true});
  panel.querySelector('button').click();
})"""


def run(quick: bool) -> bool:
    """Click, wait for the plot, again and again."""
    must_hold(f"median from click to the plot in Chromium at most {MOST_MS} ms")
    if MISSING:
        return skipped(MISSING)
    with tempfile.TemporaryDirectory() as scratch:
        every = _clicks(Path(scratch), 5 if quick else 20)
    total = statistics.median(every)
    words = f"median {total:.0f} ms of {len(every)} clicks"
    return verdict(total <= MOST_MS, f"{words}: {median_and_range(every, 0, 'ms')}")


def _clicks(scratch: Path, count: int) -> list[float]:
    """The milliseconds of each click but the first two, which build and load."""
    folder = scratch / "labs"
    folder.mkdir()
    (folder / "panel.ipynb").write_text(json.dumps(of_code(*CELLS)))
    with (
        jupyterlab.served(folder, scratch / "jupyter") as server,
        jupyterlab.chromium() as chromium,
        jupyterlab.opened(server, chromium.new_context(), "panel.ipynb") as opened,
    ):
        for cell in opened.ids:
            opened.run(cell)
        panel = opened.panel(opened.ids[-1])
        panel.get_by_role("button", name="Run").wait_for()
        every = []
        for _ in range(count + 2):
            every.append(float(panel.evaluate(_CLICK)))
            # What follows the plot, the table of runs for one, is of no interest here.
            opened.page.wait_for_timeout(500)
    return every[2:]
