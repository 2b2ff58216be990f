"""What is fuzzed: each reader with its check and the inputs that a fuzzer starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from bench.fuzz import checks, good_inputs, strategies, text_checks


@dataclass(frozen=True)
class Target:
    """A check that returns whether the input was read, and raises where something is wrong.

    `share` is how many of 100 inputs are for this target.
    """

    share: int
    check: Callable[[bytes], bool]
    seeds: Callable[[], tuple[bytes, ...]] = tuple
    made_up: st.SearchStrategy[bytes] | None = None

    def inputs(self) -> st.SearchStrategy[bytes]:
        """What Hypothesis tries: inputs made up from a grammar, or changed seeds."""
        return strategies.changed(self.seeds()) if self.made_up is None else self.made_up


def _submissions() -> tuple[bytes, ...]:
    return tuple(each.as_bytes() for each in good_inputs.submissions())


TARGETS = {
    "recordings": Target(20, checks.recording, good_inputs.recordings),
    "figures": Target(10, checks.figures_file, good_inputs.figure_files),
    "submissions": Target(20, checks.submission, _submissions),
    "grammar": Target(10, checks.submission, made_up=strategies.submissions()),
    "shown": Target(5, checks.shown, _submissions),
    "c-sources": Target(10, checks.c_source, good_inputs.c_sources),
    "notebooks": Target(10, text_checks.notebook, good_inputs.notebooks),
    "answers": Target(10, text_checks.answer, good_inputs.answers),
    "names": Target(5, text_checks.names, good_inputs.names),
}
