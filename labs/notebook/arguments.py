"""A call of `lab` with wrong arguments: says which, and what to write instead."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from labs.common.messages import Message, Refused
from labs.common.spelling import suggestion

Class = TypeVar("Class", bound=type)

#: Where a function keeps the signature that it has, if it shows another one.
OWN_SIGNATURE = "own_signature"
#: A longer value is no example.
_LONGEST = 60


def checked(cls: Class) -> Class:
    """Have each public method of a class raise Refused where Python would raise TypeError for its
    arguments."""
    for name, function in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            setattr(cls, name, _with_check(function))
    return cls


def _with_check(function: Callable[..., Any]) -> Callable[..., Any]:
    signature = getattr(function, OWN_SIGNATURE, None) or inspect.signature(function)

    @functools.wraps(function)
    def call(*args: object, **options: object) -> object:
        try:
            signature.bind(*args, **options)
        except TypeError:
            raise Refused(_message(function.__name__, signature, args[1:], options)) from None
        return function(*args, **options)

    return call


def _message(
    method: str,
    signature: inspect.Signature,
    args: Sequence[object],
    options: Mapping[str, object],
) -> Message:
    """What is wrong with these arguments; `args` does not hold the object itself."""
    known = [each for each in signature.parameters.values() if each.name != "self"]
    plain = [each for each in known if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = [each.name for each in known if each.kind is each.KEYWORD_ONLY]
    takes = ", ".join([*(each.name for each in plain), *(f"{name}=..." for name in named)])
    usage = f"It takes: lab.{method}({takes})."
    names = [each.name for each in known]
    open_to_others = any(each.kind is each.VAR_KEYWORD for each in known)
    for name in options:
        if name not in names and not open_to_others:
            words = f"lab.{method} has no option {name!r}{suggestion(name, names)}"
            return Message("problem", words.rstrip("."), (usage,))
    if len(args) > len(plain):
        extra = args[len(plain) :]
        free = [name for name in named if name not in options]
        if len(extra) > len(free):
            return Message("problem", f"lab.{method} does not take so many values", (usage,))
        by_name = [f"{name}={_shown(each)}" for name, each in zip(free, extra, strict=False)]
        given = [f"{name}={_shown(each)}" for name, each in options.items()]
        line = ", ".join([*map(_shown, args[: len(plain)]), *by_name, *given])
        return Message(
            "problem",
            f"lab.{method} takes {' and '.join(free[: len(extra)])} by name",
            (f"Write it like this: lab.{method}({line}).",),
        )
    for each in plain[: len(args)]:
        if each.name in options:
            words = f"lab.{method} was given {each.name} twice"
            return Message("problem", words, (usage,))
    needed = [each.name for each in plain[len(args) :] if each.default is each.empty]
    lacking = " and ".join(name for name in needed if name not in options)
    return Message("problem", f"lab.{method} needs {lacking}", (usage,))


def _shown(value: object) -> str:
    """A value as a student writes it, or `...` for what is too long or no plain value."""
    if not isinstance(value, str | int | float):
        return "..."
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else "..."
