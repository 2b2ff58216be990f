"""What a saved notebook shows where the widgets of a cell are lost.

The widgets of a cell live in the Jupyter kernel. A notebook that is opened with a new one shows an
error in their place, although the other output of the cell says everything. If the state of the
widgets was saved, the notebook shows their picture, which answers nothing. It does the same when
the Jupyter kernel has ended.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labs import messages
from labs.html import filled
from labs.languages.words import words

_STYLE = Path(__file__).with_name("lost_widget.html.jinja")


def style(output: str, widget: str, *, repeats: bool = False) -> str:
    """Hides what stands in place of the widget of class `widget` while no such widget answers.

    `output` is the class of the output that stays. If it `repeats` what the widget shows, it is
    hidden where the widget lives.
    """
    return filled(_STYLE, output=output, widget=widget, repeats=repeats)


# The cell of a panel has a second output in plain HTML, which needs no Jupyter kernel. A page that
# shows the panel hides it.

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
            style=style("ticklab-kept", "ticklab-panel", repeats=True),
        )
        if self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        instead = words(
            f"Panel of {self._kernel}: to get it back, run the first cell of the lab, and then "
            "this one."
        )
        return {"text/html": self.html, "text/plain": instead}
