"""The form of a prediction: number, unit, reason, confidence, and the same as a line of Python.

The line is an output of its own below the form. So it stays, with what was typed last, where a page
shows no widgets, and where the Jupyter kernel behind the form has ended.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.common.html import filled, inline
from labs.common.messages import Message, Refused, in_notebook, show
from labs.common.units import canonical, rounded, with_unit
from labs.course import predictions
from labs.course.guide import Asked, Guide
from labs.course.predictions import Prediction
from labs.languages.words import words
from labs.notebook import lost_widget
from labs.notebook.course import foretell, typed

if TYPE_CHECKING:
    from labs.notebook.course.prediction_fields import Fields

_LINE = Path(__file__).with_name("prediction_line.html.jinja")
#: For a lab whose guide does not list this prediction.
_FREE = Asked("", "ns", "")
_TIMES = ("ns", "us", "ms", "s", "cycles", "ticks")
#: A browser sends what was typed last after the click that followed it, if the Jupyter kernel was
#: busy between the two.
_SETTLING_S = 0.4
_STATUS = '<div role="status" class="ticklab-quiet">{{ words }}</div>'


def _sure() -> str:
    return words("In this line, sure is a number from 0 (a guess) to 1 (certain).")


@dataclass(frozen=True)
class Line:
    """The line of Python that does the same as the form, and the message about what is stored."""

    python: str
    question: str
    message: Message | None = None

    def _repr_html_(self) -> str:
        message = self.message.as_html() if self.message is not None else ""
        sure = _sure() if self.unsure else ""
        style = lost_widget.style("ticklab-form-line", "ticklab-form")
        return filled(_LINE, python=self.python, message=message, sure=sure, style=style)

    @property
    def unsure(self) -> bool:
        """Whether the line does not state yet how sure its author is."""
        return self.python.endswith("sure=...)")

    def __repr__(self) -> str:
        message = [repr(self.message)] if self.message is not None else []
        blank = (
            [words("Write your own decision in place of each `...`:")]
            if "..." in self.python
            else []
        )
        blank += [_sure()] if self.unsure else []
        return "\n".join([*message, self.question, *blank, self.python])


def show_form(folder: Path, guide: Guide, name: str) -> None:
    """Show the form for the prediction `name`; outside a notebook, its line. Raises Refused."""
    form = PredictionForm(folder, guide, name)
    if in_notebook():
        form.display()
    else:
        show(form.line())


class PredictionForm:
    """The form for the prediction `name`; it begins with what is stored. Raises Refused."""

    def __init__(self, folder: Path, guide: Guide, name: str) -> None:
        self._folder, self._guide, self._name = folder, guide, name
        self.asked = foretell.asked_for(guide, name) or _FREE
        self.stored = self._newest()
        self._message = self._about_stored()
        self._fields: Fields | None = None
        self._handle: Any = None

    @property
    def fields(self) -> Fields:
        """The widgets, made when they are first asked for."""
        if self._fields is None:
            # Here: a terminal needs no widgets.
            from labs.notebook.course.prediction_fields import Fields

            question = words(self.asked.asks or f"What do you expect of {self._name}?")
            chosen = self.stored.unit if self.stored is not None else self.asked.unit
            self._fields = Fields(question, units(self.asked.unit, chosen), self.stored)
            self._fields.unit.value = _known(chosen)
            self._fields.on_change(self._changed)
            self._fields.store.on_click(lambda _: self._store_soon())
            self._say(self._about_recording())
        return self._fields

    def display(self) -> None:
        """Show the form and, as an output of its own, the line of Python."""
        from IPython.display import display

        bundle = self.fields.widget._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = words("Run this cell: a form for your prediction appears here.")
        display(data, raw=True)  # type: ignore[no-untyped-call]
        self._handle = display(self.line(), display_id=True)  # type: ignore[no-untyped-call]

    def line(self) -> Line:
        """The line of Python for what is typed now, and what is said below the form."""
        return Line(self._python(), words(self.asked.asks), self._message)

    def store(self) -> None:
        """Store what is typed, or say what is wrong with it."""
        fields = self.fields
        try:
            value = typed.number(fields.number.value)
            sure = typed.percent(fields.sure.value)
            new = Prediction(
                typed.whole(value), fields.unit.value, fields.because.value.strip(), sure
            )
            self._message = foretell.prediction(self._folder, self._guide, self._name, new)
        except typed.NotANumber as error:
            self._say(f"Not stored: {error}.")
            return
        except Refused as refused:
            self._message = refused.message
            self._say("Not stored; the message below says why.")
        else:
            self._say("Stored.")
        self._update()

    def _store_soon(self) -> None:
        """Store when what was typed before the click has arrived."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.store()
            return
        self._say("Storing …")
        loop.call_later(_SETTLING_S, self.store)

    def _changed(self) -> None:
        """Say what the number means as it is typed, and show the line of Python for it."""
        fields = self.fields
        said = []
        try:
            if fields.number.value.strip():
                value = typed.number(fields.number.value)
                number_1 = typed.as_text(value)
                said.append(f"That is {number_1} {fields.unit.label}.")
            typed.percent(fields.sure.value)
        except typed.NotANumber as error:
            said = [f"{str(error)[0].upper()}{str(error)[1:]}."]
        self._say(" ".join(said) or self._about_recording())
        self._update()

    def _say(self, said: str) -> None:
        self.fields.said.value = inline(_STATUS, words=words(said))

    def _update(self) -> None:
        if self._handle is not None:
            self._handle.update(self.line())

    def _python(self) -> str:
        """The line; `...` stands for what is not typed yet, or is no number."""
        if self._fields is None:
            made = self.stored
            value = "..." if made is None else typed.as_python(made.value)
            unit = self.asked.unit if made is None else made.unit
            sure = "..." if made is None or made.sure is None else f"{made.sure:g}"
            because = made.because if made is not None else ""
        else:
            value, sure = _or_blank(self._fields.number.value), "..."
            try:
                share = typed.percent(self._fields.sure.value)
                sure = "..." if share is None else f"{share:g}"
            except typed.NotANumber:
                pass
            unit, because = self._fields.unit.value, self._fields.because.value.strip()
        reason = json.dumps(because or "...", ensure_ascii=False)
        return f'lab.predict("{self._name}", {value}, "{unit}", because={reason}, sure={sure})'

    def _newest(self) -> Prediction | None:
        try:
            return predictions.read(self._folder).get(self._name, (None,))[-1]
        except predictions.BadPredictions:
            return None  # storing says why

    def _about_stored(self) -> Message | None:
        made = self.stored
        if made is None:
            return None
        late = "late prediction" if made.late else "prediction"
        what = f"your {late}: {with_unit(rounded(made.value, 6), made.unit)}"
        return Message("done", what, (f"Stored at {foretell.time_text(made.when)}.",))

    def _about_recording(self) -> str:
        if not predictions.is_answered(self._folder, self.asked.before):
            return "Never graded for being right."
        return (
            f"recordings/{self.asked.before}.csv exists already: a prediction made now is kept as "
            "a late one."
        )


def units(asked: str, chosen: str) -> list[tuple[str, str]]:
    """The units to choose from, each as shown and as stored: those of time, or only `asked`."""
    known = list(_TIMES) if _known(asked) in _TIMES else [asked]
    if _known(chosen) not in known:
        known.append(chosen)
    return [("µs" if unit == "us" else unit, unit) for unit in known]


def _known(unit: str) -> str:
    """The unit in the kit's spelling, if it is a unit of time."""
    try:
        return canonical(unit)
    except ValueError:
        return unit


def _or_blank(text: str) -> str:
    try:
        return typed.as_python(typed.number(text))
    except typed.NotANumber:
        return "..."
