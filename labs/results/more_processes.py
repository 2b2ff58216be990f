"""How many processes a warning advises: always more than the run had."""

from __future__ import annotations

from labs.common import limits
from labs.common.advice import Option, Part


def more_processes(words: str, at_least: int, had: int) -> tuple[Part, ...]:
    """The parts of an advice: `words`, and twice as many processes as the run `had`, or `at_least`.

    There are none if the run had as many processes as a run may have.
    """
    number = min(max(at_least, 2 * had), limits.MOST_PROCESSES)
    return (words, " (", Option("processes", number), ")") if number > had else ()
