"""Which parts of the code an input reaches: inputs that reach new parts are worth changing further.

Coverage by edges, from one line of our own code to the next, as libFuzzer and AFL count them. The
tracer is Python's own; it sees labs and grader and steps over everything else.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Generic, TypeVar

from testing.paths import REPOSITORY

#: How the paths of our own code begin.
OURS = (str(REPOSITORY / "labs") + "/", str(REPOSITORY / "grader") + "/")

Input = TypeVar("Input")


class Edges:
    """The edges that were reached so far."""

    def __init__(self) -> None:
        self.reached: set[tuple[int, int, int]] = set()
        self._ours: dict[str, bool] = {}

    def of(self, work: Callable[[], None]) -> int:
        """Do the work; returns how many edges it reached that nothing had reached before."""
        before = len(self.reached)
        sys.settrace(self._enter)
        try:
            work()
        finally:
            sys.settrace(None)
        return len(self.reached) - before

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        ours = self._ours.get(code.co_filename)
        if ours is None:
            ours = self._ours[code.co_filename] = code.co_filename.startswith(OURS)
        if not ours:
            return None
        reached, place, last = self.reached, id(code), 0

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            reached.add((place, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line


class Guide(Generic[Input]):
    """The inputs that are worth changing: the seeds, and whatever reached something new."""

    def __init__(self, seeds: tuple[Input, ...], seed: int) -> None:
        self.inputs = list(seeds)
        self.edges = Edges()
        self._random = random.Random(seed)

    def next(self) -> Input:
        """An input to change; half of the time one of those found last."""
        if self._random.random() < 0.5:
            return self._random.choice(self.inputs[-50:])
        return self._random.choice(self.inputs)

    def try_out(self, changed: Input, work: Callable[[], None]) -> None:
        """Do the work on `changed`, and keep it where it reaches something new."""
        if self.edges.of(work) > 0:
            self.inputs.append(changed)
