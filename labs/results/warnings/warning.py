"""A warning of a run: symptom, likely cause, what to try."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.advice import Advice


@dataclass(frozen=True)
class RunWarning:
    """Something in a run that makes its figure less reliable.

    A `quiet` one changes nothing that its reader should do: it belongs to the line of conditions,
    where `brief` stands for it, or nothing if the line shows the same fact already. `python` says
    whether the reader writes options in Python.
    """

    code: str
    symptom: str
    likely_cause: str
    advice: Advice | str
    python: bool = False
    quiet: bool = False
    brief: Advice | str = ""

    @property
    def try_this(self) -> str:
        """What to try, with options as its reader writes them."""
        return self._worded(self.advice)

    @property
    def in_brief(self) -> str:
        """A quiet warning as a clause of the conditions, with options as its reader writes them."""
        return self._worded(self.brief)

    def _worded(self, words: Advice | str) -> str:
        return words if isinstance(words, str) else words.worded(python=self.python)

    def __str__(self) -> str:
        return f"{self.symptom}; {self.likely_cause}. Try: {self.try_this}."
