"""What `lab` does with predictions: ask for one in a form, store, show, withdraw or rename it.

The form for an answer in own words is here too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import ipywidgets as widgets

from labs.course import predictions
from labs.course.figures import TIMES
from labs.course.guide import Asked, Guide
from labs.course.predictions import Prediction
from labs.files import CannotWrite
from labs.html import filled, inline
from labs.messages import Message, Refused, Tone, in_notebook, refused, show
from labs.notebook import run_errors, typed_numbers, unready_cells
from labs.notebook.typed_numbers import as_python
from labs.results.results_compared import Comparison
from labs.terminal import suggestion
from labs.units import rounded, spelled, with_unit

#: The unit of an example where the lab states none.
_USUAL_UNIT = "ns"


def prediction(folder: Path, guide: Guide, name: str, new: Prediction) -> Message:
    """Store what is expected under the id `name`; earlier versions are kept. Raises Refused."""
    asked = asked_for(guide, name)
    if asked is not None and asked.unit == TIMES and not new.unit:
        new = replace(new, unit=TIMES)  # a ratio needs no word for it
    try:
        _check(name, asked, new)
        earlier = predictions.read(folder).get(name, ())
        stored = predictions.put(folder, name, new, asked.before if asked else "")
        versions = predictions.read(folder)[name]
    except (ValueError, CannotWrite) as error:
        _refuse(error, "prediction not stored")
    what = f"{name} = {with_unit(rounded(stored.value, 6), stored.unit)}"
    words = [f"At {time_text(stored.when)}; it is never graded for being right."]
    if not stored.because.strip(" ."):
        words.append('A reason helps later: because="I counted the instructions".')
    strange = [_about_unit(asked, stored.unit)]
    if stored.late:
        strange.insert(0, _about_late(asked, versions))
    strange = [each for each in strange if each]
    tone: Tone = "note" if strange else "stored"
    done = "kept" if versions == earlier else "stored"
    heading = f"{'late ' * stored.late}prediction {done}: {what}"
    return Message(tone, heading, (*strange, *words))


def recalled(folder: Path, guide: Guide, name: str, found: Comparison | None) -> Message:
    """What was predicted under the id `name`, next to the ratio of `found`, which is kept.

    Raises Refused.
    """
    asked_for(guide, name)
    try:
        versions = predictions.read(folder).get(name, ())
        if not versions:
            return Message("note", f"you stored no prediction {name}")
        ratio = found.ratio if found is not None and found.ratio_as_text() is not None else None
        if ratio is not None and ratio > 0:
            predictions.put_found(folder, name, ratio)
    except (ValueError, CannotWrite) as error:
        _refuse(error, "the prediction cannot be read")
    shown, late = predictions.shown(versions)
    words = [_about_found(found)] if found is not None else []
    if late:
        words.append("This prediction is late: it does not count.")
    what = f"{with_unit(rounded(shown.value, 6), shown.unit)}"
    return Message("note", f"you predicted {what} ({name})", tuple(words))


def _about_found(found: Comparison) -> str:
    """The ratio that a comparison found, in one sentence."""
    ratio = found.ratio_as_text()
    if ratio is None:
        return f"The run gives no ratio: {found.second} may be 0."
    return f"You found {ratio} times: {found.first} divided by {found.second}."


def asked_for(guide: Guide, name: object) -> Asked | None:
    """What the lab asks under the id `name`; None if its guide lists no predictions.

    Raises Refused if the lab asks for other predictions.
    """
    known = guide.predictions
    if not isinstance(name, str):
        line = f'lab.predict("{next(iter(known), "id")}", 200, "ns")'
        raise refused(f"begin with the id of the prediction: {line}")
    if not known or name in known:
        return known.get(name)
    what = f"This lab asks for no prediction {name!r}{suggestion(name, tuple(known))}"
    raise refused("prediction not stored", what)


def forget(folder: Path, guide: Guide, name: str, new: str | None) -> Message:
    """Withdraw all predictions under the id `name`, or rename it to `new`. Raises Refused."""
    try:
        known = predictions.ids(folder)
        if name not in known:
            there_is = suggestion(name, known) if known else ": there is none yet"
            raise ValueError(f"there is no prediction {name!r}{there_is}")
        if new is None:
            predictions.forget(folder, name)
            return Message("done", f"prediction withdrawn: {name}")
        asked = asked_for(guide, new)
        predictions.rename(folder, name, new, asked.before if asked else "")
        versions = predictions.read(folder).get(new, ())
    except (ValueError, CannotWrite) as error:
        _refuse(error, "nothing was changed")
    words = [f"{new} has {len(versions)} version{'s' if len(versions) != 1 else ''} now."]
    if versions and predictions.counting(versions) is None:
        words.append(_about_late(asked, versions))
    return Message("done", f"prediction renamed: {name} is {new}", tuple(words))


def time_text(when: str) -> str:
    """A time as in the file, for a reader."""
    return when.replace("T", " ").removesuffix("+00:00") + " UTC"


def _check(name: str, asked: Asked | None, new: Prediction) -> None:
    """Raises ValueError for what is often written wrongly, with the line to write instead."""
    usual = asked.unit if asked else _USUAL_UNIT
    unit = new.unit or usual
    value: object = new.value
    if value is Ellipsis:
        raise ValueError("write your own number in place of `...`")
    if isinstance(value, str):
        found = typed_numbers.split(value)
        if found:
            line = f'lab.predict("{name}", {found[0]}, "{found[1]}")'
            raise ValueError(f"write the number and its unit separately: {line}")
        try:
            plain = typed_numbers.as_python(typed_numbers.number(value))
        except typed_numbers.NotANumber as error:
            raise ValueError(str(error)) from error
        line = f'lab.predict("{name}", {plain}, "{unit}")'
        raise ValueError(f"write the number without quotes: {line}")
    if not new.unit:
        raise ValueError(f'name the unit too: lab.predict("{name}", {new.value}, "{usual}")')
    if isinstance(new.sure, int | float) and 1 < new.sure <= 100:
        raise ValueError(
            f"sure is a number from 0 (a guess) to 1 (certain): write sure={new.sure / 100:g} "
            f"for {new.sure:g} %"
        )


def _about_late(asked: Asked | None, versions: tuple[Prediction, ...]) -> str:
    """What being late means for the newest of `versions`."""
    recording = f"recordings/{asked.before}.csv" if asked else "its recording"
    counts, but = predictions.counting(versions), "it does not count in your calibration"
    if counts is not None:
        guess = with_unit(rounded(counts.value, 6), counts.unit)
        but = f"your earlier one of {guess} counts"
    return (
        f"This prediction is late: {recording} exists already. Ticklab keeps the prediction, but "
        f"{but}."
    )


def _about_unit(asked: Asked | None, unit: str) -> str:
    """A message if no figure can be compared with a prediction in `unit`; else ''."""
    if asked is None:
        return predictions.strange_unit(unit)
    if predictions.comparable(unit, asked.unit):
        return ""
    return (
        predictions.strange_unit(unit)
        or f"The figure is in {asked.unit}, and a prediction in {unit} cannot be compared with it. "
        f"Before you measure, predict again in {asked.unit}."
    )


def _refuse(error: Exception, heading: str) -> NoReturn:
    raise Refused(replace(run_errors.of_error(error), heading=heading)) from None


# The form ends in a line of Python that does the same, as an output of its own. So the line stays,
# with what was typed last, where a page shows no widgets, and where the Jupyter kernel has ended.

_LINE = Path(__file__).with_name("prediction_line.html.jinja")
#: For a lab whose guide does not list this prediction.
_FREE = Asked("", "ns", "")
_TIMES = ("ns", "us", "ms", "s", "cycles", "ticks")
#: A browser sends what was typed last after the click that followed it, if the Jupyter kernel was
#: busy between the two.
_SETTLING_S = 0.4
_STATUS = '<div role="status" class="ticklab-quiet">{{ words }}</div>'


_SURE = "Write sure as a number from 0 (a guess) to 1 (certain)."


@dataclass(frozen=True)
class Line:
    """The line of Python that does the same as the form, and the message about what is stored."""

    python: str
    question: str
    message: Message | None = None

    def _repr_html_(self) -> str:
        message = self.message.as_html() if self.message is not None else ""
        sure = _SURE if self.unsure else ""
        style = unready_cells.style("ticklab-form-line", "ticklab-form")
        return filled(_LINE, python=self.python, message=message, sure=sure, style=style)

    @property
    def unsure(self) -> bool:
        """Whether the line does not state yet how sure its author is."""
        return self.python.endswith("sure=...)")

    def __repr__(self) -> str:
        message = [repr(self.message)] if self.message is not None else []
        blank = ["Write your own decision in place of each `...`:"] if "..." in self.python else []
        blank += [_SURE] if self.unsure else []
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
        self.asked = asked_for(guide, name) or _FREE
        self.stored = self._newest()
        self._message = self._about_stored()
        self._handle: Any = None
        question = self.asked.asks or f"What do you expect of {name}?"
        chosen = self.stored.unit if self.stored is not None else self.asked.unit
        self.fields = Fields(question, units(self.asked.unit, chosen), self.stored)
        self.fields.unit.value = spelled(chosen)
        self.fields.on_change(self._changed)
        self.fields.store.on_click(lambda _: self._store_soon())
        self._say(self._about_recording())

    def display(self) -> None:
        """Show the form and, as an output of its own, the line of Python."""
        self._handle = _displayed(self.fields.widget, "your prediction", self.line())

    def line(self) -> Line:
        """The line of Python for what is typed now, and what is said below the form."""
        return Line(self._python(), self.asked.asks, self._message)

    def store(self) -> None:
        """Store what is typed, or say what is wrong with it."""
        fields = self.fields
        try:
            value = typed_numbers.number(fields.number.value)
            sure = typed_numbers.share(fields.sure.value)
            new = Prediction(
                typed_numbers.whole(value), fields.unit.value, fields.because.value.strip(), sure
            )
            self._message = prediction(self._folder, self._guide, self._name, new)
        except typed_numbers.NotANumber as error:
            self._say(f"Not stored: {error}.")
            return
        except Refused as refused:
            self._message = refused.message
            self._say("Not stored; the message below says why.")
        else:
            self._say("Stored.")
        self._update()

    def _store_soon(self) -> None:
        self._say("Storing …")
        _soon(self.store)

    def _changed(self) -> None:
        """Say what the number means as it is typed, and show the line of Python for it."""
        fields = self.fields
        said = []
        try:
            if fields.number.value.strip():
                value = typed_numbers.number(fields.number.value)
                text = typed_numbers.as_text(value)
                said.append(f"That is {text} {fields.unit.label}.")
            typed_numbers.share(fields.sure.value)
        except typed_numbers.NotANumber as error:
            said = [f"{str(error)[0].upper()}{str(error)[1:]}."]
        self._say(" ".join(said) or self._about_recording())
        self._update()

    def _say(self, said: str) -> None:
        self.fields.said.value = inline(_STATUS, words=said)

    def _update(self) -> None:
        if self._handle is not None:
            self._handle.update(self.line())

    def _python(self) -> str:
        """The line; `...` stands for what is not typed yet, or is no number."""
        fields = self.fields
        value, unit, sure = _or_blank(fields.number.value), fields.unit.value, "..."
        with contextlib.suppress(typed_numbers.NotANumber):
            share = typed_numbers.share(fields.sure.value)
            sure = "..." if share is None else f"{share:g}"
        reason = json.dumps(fields.because.value.strip() or "...", ensure_ascii=False)
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
        return Message("stored", what, (f"Stored at {time_text(made.when)}.",))

    def _about_recording(self) -> str:
        if not predictions.is_answered(self._folder, self.asked.before):
            return "Never graded for being right."
        return (
            f"recordings/{self.asked.before}.csv exists already: a prediction made now is kept as "
            "a late one."
        )


def _displayed(form: widgets.Widget, what: str, below: object) -> Any:
    """Display a form for `what`, and `below` it an output of its own, whose handle is returned."""
    from IPython.display import display

    bundle = form._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    data["text/plain"] = f"Run this cell: a form for {what} appears here."
    display(data, raw=True)  # type: ignore[no-untyped-call]
    return display(below, display_id=True)  # type: ignore[no-untyped-call]


def _soon(call: Callable[[], None]) -> None:
    """Make this call when what was typed before the click has arrived."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        call()
        return
    loop.call_later(_SETTLING_S, call)


def units(asked: str, chosen: str) -> list[tuple[str, str]]:
    """The units to choose from, each as shown and as stored: those of time, or only `asked`."""
    known = list(_TIMES) if spelled(asked) in _TIMES else [asked]
    if spelled(chosen) not in known:
        known.append(chosen)
    return [("µs" if unit == "us" else unit, unit) for unit in known]


def _or_blank(text: str) -> str:
    try:
        return typed_numbers.as_python(typed_numbers.number(text))
    except typed_numbers.NotANumber:
        return "..."


class Predicting:
    """The predictions of one lab in one folder."""

    folder: Path
    _guide: Guide

    def predict(
        self,
        name: str,
        value: float | None = None,
        unit: str = "",
        *,
        because: str = "",
        sure: float | None = None,
    ) -> None:
        """Store what you expect of a figure, why, and how sure you are, from 0 to 1.

        Without a value, show a form for it. Never graded for being right. Predicting again keeps
        the earlier ones too: the last one before the recording that answers it counts. Raises
        Refused.
        """
        if value is None:
            show_form(self.folder, self._guide, name)
            return
        predicted = predictions.Prediction(value, unit, because, sure)
        show(prediction(self.folder, self._guide, name, predicted))

    def predicted(self, name: str, found: Comparison | None = None) -> None:
        """Show what you predicted under the id `name`, next to the ratio that was `found`, if any.

        `lab.wrap_up()` compares it with this ratio too. Raises Refused.
        """
        show(recalled(self.folder, self._guide, name, found))

    def forget(self, name: str, *, rename: str | None = None) -> None:
        """Withdraw all predictions under the id `name`, or give them the id `rename`.

        Raises Refused.
        """
        show(forget(self.folder, self._guide, name, rename))


# The widgets of the form of a prediction, and their layout.

_TITLE = '<div class="ticklab-title">{{ words }}</div>'
_LABEL = {"description_width": "88px"}
_CELL = {"width": "auto", "min_width": "0"}


def _text(label: str, value: str, placeholder: str, rows: int = 1) -> Any:
    """A field of so many lines with what it holds at first."""
    kind, more = (widgets.Text, {}) if rows == 1 else (widgets.Textarea, {"rows": rows})
    return kind(
        value=value, description=label, placeholder=placeholder, style=_LABEL, layout=_CELL, **more
    )


def _button(words: str) -> Any:
    return widgets.Button(
        description=words, button_style="primary", layout={"width": "104px", "flex": "none"}
    )


class Fields:
    """Number, unit, reason and confidence, with the button that stores them.

    `said` is the line of words that answers what is typed. All but the unit begin with what is
    `stored`.
    """

    def __init__(
        self, question: str, units: Sequence[tuple[str, str]], stored: Prediction | None
    ) -> None:
        value = "" if stored is None else as_python(stored.value)
        sure = "" if stored is None or stored.sure is None else f"{stored.sure:g}"
        because = "" if stored is None else stored.because
        self.number = _text("Number", value, "such as 200 or 1e3")
        self.unit = widgets.Dropdown(
            options=list(units), description="Unit", style=_LABEL, layout=_CELL
        )
        self.because = _text("Reason", because, "why you expect this", rows=2)
        self.sure = _text("Sure, 0 to 1", sure, "0 (a guess) to 1 (certain)")
        self.store = _button("Store")
        self.said = widgets.HTML(layout={"flex": "1 1 160px", "width": "auto", "margin": "2px 8px"})
        parts = [
            widgets.HTML(unready_cells.style_of_widgets() + inline(_TITLE, words=question)),
            self.number,
            self.unit,
            self.because,
            self.sure,
            widgets.HBox([self.store, self.said], layout={"flex_flow": "row wrap"}),
        ]
        self.widget = widgets.VBox(parts)
        self.widget.add_class("ticklab-form")

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of a field."""
        for field in (self.number, self.unit, self.because, self.sure):
            field.observe(lambda _: call(), "value")


# The form of an answer in a student's own words.

_ANSWER = """<div class="ticklab-form-line">{{ message | safe }}{{ style | safe }}</div>"""


@dataclass(frozen=True)
class BelowForm:
    """What stands below the form of an answer; it stays where a page shows no widgets."""

    shown: Any

    def _repr_html_(self) -> str:
        style = unready_cells.style("ticklab-form-line", "ticklab-form")
        return inline(_ANSWER, message=self.shown._repr_html_(), style=style)

    def __repr__(self) -> str:
        return repr(self.shown)


class AnswerForm:
    """A field of several lines for an answer, and a button that keeps it.

    `keep` stores a text, and returns what to show below the form: the answer with the explanation.
    Of a blank text it returns what was kept earlier, or what is to be done. Raises Refused.
    """

    def __init__(self, keep: Callable[[str], Any]) -> None:
        self._keep = keep
        self._below = keep("")
        versions = getattr(self._below, "versions", ())
        value = versions[-1].text if versions else ""
        self.text = _text("Your words", value, "never graded", rows=4)
        self.button = _button("Keep")
        self.widget = widgets.VBox(
            [widgets.HTML(unready_cells.style_of_widgets()), self.text, self.button]
        )
        self.widget.add_class("ticklab-form")
        self.button.on_click(lambda _: _soon(self.keep))
        self._handle: Any = None

    def display(self) -> None:
        """Show the form and, as an output of its own, what stands below it."""
        self._handle = _displayed(self.widget, "your answer", self.below())

    def below(self) -> BelowForm:
        """What stands below the form now."""
        return BelowForm(self._below)

    def keep(self) -> None:
        """Keep what is typed, and show the explanation beside it, or why it is not kept."""
        try:
            self._below = self._keep(self.text.value)
        except Refused as refused:
            self._below = refused.message
        if self._handle is not None:
            self._handle.update(self.below())
