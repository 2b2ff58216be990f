"""A sentence that praises a figure, and the checks that bear out what it claims."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Praise:
    """What is said of a figure that has passed.

    `by` names the checks behind the `text`: codes of pitfalls, which were looked for and not found,
    and names of facts (`grader.facts.borne_out`), which the recording must show. If one of the
    facts is not shown, the sentence is not said.
    """

    text: str
    by: tuple[str, ...]
