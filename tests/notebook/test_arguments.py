"""A call of `lab` with wrong arguments is a message that says what to write, never a TypeError."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from labs.messages import Refused
from labs.notebook.session import Session


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session("01-timer-overhead", tmp_path)


@pytest.mark.parametrize(
    ("method", "args", "options", "heading", "sentence"),
    [
        (
            "predict",
            ("step", 700, "ns", "text", 50),
            {},
            "lab.predict takes because and sure by name",
            'lab.predict("step", 700, "ns", because="text", sure=50).',
        ),
        (
            "predict",
            ("step", 700, "ns", 0.5),
            {"because": "text"},
            "lab.predict takes sure by name",
            'lab.predict("step", 700, "ns", sure=0.5, because="text").',
        ),
        (
            "predict",
            ("step", 700, "ns", "text", 50, 3),
            {},
            "does not take so many values",
            "lab.predict(name, value, unit, because=..., sure=...).",
        ),
        ("predict", ("step",), {"becuase": "x"}, "did you mean because?", "because=..."),
        ("figure", (), {"unit": "ns"}, "lab.figure needs figure and value", "lab.figure(figure,"),
        ("figure", ("step", 1), {"figure": "x"}, "was given figure twice", "lab.figure(figure,"),
        ("measure", (), {"samples": 10}, "lab.measure needs kernel", "lab.measure(kernel,"),
        ("hint", ("fence", 1, 2), {}, "does not take so many values", "lab.hint(topic, rung)."),
        ("progress", ("01",), {}, "does not take so many values", "lab.progress()."),
    ],
)
def test_wrong_arguments_are_a_message(
    lab: Session,
    method: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    heading: str,
    sentence: str,
) -> None:
    with pytest.raises(Refused) as refused:
        getattr(lab, method)(*args, **options)
    message = refused.value.message
    assert heading in message.heading
    assert sentence in " ".join(message.sentences)


def test_the_line_that_it_proposes_is_taken(lab: Session) -> None:
    with pytest.raises(Refused) as refused:
        lab.predict("timer-overhead-fenced", 700, "ns", "counted", 0.5)  # type: ignore[call-arg]
    (line,) = refused.value.message.sentences
    eval(line.partition(": ")[2].rstrip("."), {"lab": lab})
    assert (lab.folder / "predictions.json").is_file()


def test_every_method_is_checked(lab: Session) -> None:
    """Also one that is added later, and one of a class above it."""
    methods = [
        name for name, _ in inspect.getmembers(Session, inspect.isfunction) if name[0] != "_"
    ]
    assert {"predict", "figure", "measure", "progress", "carry_out"} <= {*methods}
    for name in methods:
        with pytest.raises(Refused, match="has no option 'nonsense'"):
            getattr(lab, name)(nonsense=1) if name not in _TAKE_ANY else _any(lab, name)


#: These look at their options themselves, once they have what they need.
_TAKE_ANY = {"measure": "timer_overhead", "measure_in_turns": {"x": ("timer_overhead", "fenced")}}


def _any(lab: Session, name: str) -> None:
    getattr(lab, name)(_TAKE_ANY[name], nonsense=1)


def test_an_error_inside_a_method_is_not_hidden(lab: Session) -> None:
    with pytest.raises(TypeError):
        lab.compare_class(5)  # type: ignore[arg-type]
