"""The options of `lab.measure`: their names, types and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from labs.common.messages import Message, Refused
from labs.common.spelling import suggestion
from labs.notebook.arguments import OWN_SIGNATURE
from labs.run.declared_options import (
    DEFAULT_AT_MOST_S,
    DEFAULT_PATIENCE_S,
    DEFAULT_REPLACE_S,
    DEFAULT_TIME_LIMIT_S,
    DEFAULT_WARMUP,
)

Function = TypeVar("Function", bound=Callable[..., Any])


class TurnsOptions(TypedDict, total=False):
    """What may be chosen of one run, and of several whose processes take turns."""

    #: Samples of each variant, shared out among the fresh processes; None: the C kernel's default.
    samples: int | None
    #: The CPU to pin to; None: not pinned.
    cpu: int | None
    #: The CPU to pin the other task to; None: not pinned.
    peer_cpu: int | None
    #: How many operations a sample holds, such as (16, 32, 64); (): the usual sizes.
    batches: Sequence[int]
    #: Samples before the others, in each process, that do not count.
    warmup: int
    #: How many fresh processes there are.
    processes: int
    #: Options of the compiler.
    flags: str
    #: The unit of the result: ticks, cycles, ns, us, ms, s.
    unit: str
    #: The processes begin evenly over so many seconds.
    spread: float
    #: In percent: add processes until the 95 % interval is so narrow; None: add none.
    within: float | None
    #: For how many seconds processes are added.
    at_most: float
    #: For how many seconds at most processes are added in place of those that shared their core.
    replace: float
    #: The run is ended after so many seconds.
    time_limit: float
    #: C of a student's own is ended if it takes no sample for so many seconds.
    patience: float


class MeasureOptions(TurnsOptions, total=False):
    """What may be chosen of one run."""

    #: The name of the recording; None: it is called after its variant.
    save: str | None


TURNS_DEFAULTS = TurnsOptions(
    samples=None,
    cpu=None,
    peer_cpu=None,
    batches=(),
    warmup=DEFAULT_WARMUP,
    processes=10,
    flags="-O2",
    unit="ns",
    spread=0,
    within=None,
    at_most=DEFAULT_AT_MOST_S,
    replace=DEFAULT_REPLACE_S,
    time_limit=DEFAULT_TIME_LIMIT_S,
    patience=DEFAULT_PATIENCE_S,
)
DEFAULTS = MeasureOptions(**TURNS_DEFAULTS, save=None)


def chosen_of(
    method: str, options: Mapping[str, object], defaults: Mapping[str, object]
) -> dict[str, Any]:
    """All options of `lab.METHOD`: those given, and the defaults of the others.

    Raises Refused for one that there is not.
    """
    for name in options:
        if name not in defaults:
            # The variant is no option of its own: it comes second, and has a name too.
            known = (*(("variant",) if "save" in defaults else ()), *defaults)
            words = f"lab.{method} has no option {name!r}{suggestion(name, known)}"
            raise Refused(Message("problem", words.rstrip(".")))
    return {**defaults, **options}


def with_options(defaults: Mapping[str, object]) -> Callable[[Function], Function]:
    """Let a function that takes these options as `**options` show each by name, with its default:
    JupyterLab completes them and lists them on Shift-Tab."""

    def show(function: Function) -> Function:
        own = inspect.signature(function)
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = [p for p in own.parameters.values() if p.kind not in kinds]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
        ]
        setattr(function, OWN_SIGNATURE, own)
        function.__signature__ = own.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
        return function

    return show
