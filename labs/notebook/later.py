"""What is known of a run only later: one of its name failed, or a question was answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labs.course import answers


@dataclass
class Later:
    """What happened after a run. All views of one run (other variants, other units) share this.

    `failure` is the message of a later run of its name that failed. `held_back` maps the code of a
    warning to the question whose answer it would give away; `folder` holds the answers.
    """

    failure: str = ""
    held_back: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def note(self) -> str:
        """The sentence that is shown with everything of the earlier run; empty if none failed."""
        if not self.failure:
            return ""
        return f"This is the earlier run; a later one of this name failed ({self.failure})."

    def open_questions(self) -> dict[str, str]:
        """By code, the warnings that are still held back, each with its question."""
        if not self.held_back or self.folder is None:
            return {}
        try:
            answered = answers.read(self.folder)
        except ValueError:
            return {}
        return {code: name for code, name in self.held_back.items() if name not in answered}
