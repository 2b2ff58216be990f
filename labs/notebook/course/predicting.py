"""What `lab` does with predictions: store one, show it again, withdraw it, rename it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labs.common.messages import show
from labs.course import predictions
from labs.course.guide import Guide
from labs.notebook.course import foretell, prediction_form

if TYPE_CHECKING:
    from labs.results.results_compared import Comparison


class Predicting:
    """The predictions of one lab in one folder."""

    folder: Path
    _guide: Guide

    def predict(
        self,
        name: str,
        value: float | None = None,
        unit: str = "",
        *,
        because: str = "",
        sure: float | None = None,
    ) -> None:
        """Store what you expect of a figure, why, and how sure you are, from 0 to 1.

        Without a value, show a form for it. Never graded for being right. Predicting again keeps
        the earlier ones too: the last one before the recording that answers it counts. Raises
        Refused.
        """
        if value is None:
            prediction_form.show_form(self.folder, self._guide, name)
            return
        predicted = predictions.Prediction(value, unit, because, sure)
        show(foretell.prediction(self.folder, self._guide, name, predicted))

    def predicted(self, name: str, found: Comparison | None = None) -> None:
        """Show what you predicted under the id `name`, next to the ratio that was `found`, if any.

        Raises Refused.
        """
        show(foretell.recalled(self.folder, self._guide, name, found))

    def forget(self, name: str, *, rename: str | None = None) -> None:
        """Withdraw all predictions under the id `name`, or give them the id `rename`.

        Raises Refused.
        """
        show(foretell.forget(self.folder, self._guide, name, rename))
