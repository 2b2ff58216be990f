"""What a saved notebook shows of a panel: plain HTML, which needs no Jupyter kernel.

The widgets of a panel live in the Jupyter kernel, and a notebook that is opened with a new one has
none of them. Therefore the cell has a second output. A page that shows the panel hides it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labs.common import messages
from labs.common.html import filled
from labs.languages.words import words
from labs.notebook import lost_widget

_SAVED = Path(__file__).with_name("saved.html.jinja")


class SavedOutput:
    """The second output of a panel's cell; each of `show` and `update` replaces its content."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._handle: Any = None
        self.html = ""

    def show(self) -> None:
        """Add it to the cell that runs now. Outside a notebook there is no such output."""
        if messages.in_notebook():
            from IPython.display import display

            self._handle = display(self._bundle(), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def update(self, result: str, plot: str, comparison: str, runs: str) -> None:
        """Show this result with its plot, the comparison and the table of runs, all as HTML."""
        self.html = filled(
            _SAVED,
            kernel=self._kernel,
            result=result,
            plot=plot,
            comparison=comparison,
            runs=runs,
            style=lost_widget.style("ticklab-kept", "ticklab-panel", repeats=True),
        )
        if self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        instead = words(
            f"Panel of {self._kernel}: to get it back, run the first cell of the lab, and then "
            "this one."
        )
        return {"text/html": self.html, "text/plain": instead}
