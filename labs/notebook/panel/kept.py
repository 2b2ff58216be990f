"""The runs of a panel: kept in a small file beside its recording, so that they outlive a restart.

    {"runs": [{"number": 1, "kernel": "timer_overhead", "variant": "fenced", "samples": 10000,
               "cpu": null, "value": 19.8, "low": 19.6, "high": 20.1, "unit": "ns", ...}]}

The recording itself holds only the newest run. Nothing is graded by this file.
"""

from __future__ import annotations

import contextlib
import datetime
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from labs.analysis.estimates import Estimate
from labs.common import json_form, json_text, limits
from labs.common.files import CannotWrite, read_bounded, write_atomically
from labs.common.html import filled
from labs.common.units import NAMES, UnknownUnit, canonical
from labs.course.figures import RECORDINGS
from labs.languages.words import words
from labs.notebook.panel.form import Form, settings_as_text
from labs.notebook.run import Run
from labs.plots.style import symbol
from labs.results.result import sensible

#: So many runs are kept and shown, the newest.
MOST_RUNS = 20
_MOST_WARNINGS = 8
_RUNS = Path(__file__).with_name("runs.html.jinja")

_Text = Annotated[str, StringConstraints(max_length=400)]
_Cpu = Annotated[int, Field(ge=0, lt=limits.MOST_CPUS)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Stored(json_form.Form):
    """The form of a run in the file."""

    number: int = Field(ge=1, le=10**6)
    kernel: _Text
    variant: _Text
    samples: int = Field(ge=1, le=limits.MOST_SAMPLES)
    cpu: _Cpu | None
    peer_cpu: _Cpu | None
    warmup: int = Field(ge=0, le=limits.MOST_WARMUP)
    processes: int = Field(ge=1, le=limits.MOST_PROCESSES)
    flags: _Text
    what: _Text
    unit: _Text
    value: _Number | None
    low: _Number | None
    high: _Number | None
    warnings: list[_Text] = Field(max_length=_MOST_WARNINGS)
    when: _Text


@dataclass(frozen=True)
class KeptRun:
    """One run: its settings, its figure with the 95 % interval in `unit`, and its warnings.

    `value`, `low` and `high` are None if the run gave no figure. `what` says what the figure is.
    """

    number: int
    form: Form
    what: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    warnings: tuple[str, ...]
    when: str

    @classmethod
    def of(cls, number: int, form: Form, run: Run) -> KeptRun:
        """What is kept of a run with the settings of `form`."""
        result = run.result()
        figure = result.estimate
        loud = (each.symptom for each in run.warnings if not each.quiet)
        warnings = dict.fromkeys(symptom[:400] for symptom in loud)
        return cls(
            number,
            form,
            result.what,
            result.unit,
            figure.value if figure else None,
            figure.low if figure else None,
            figure.high if figure else None,
            tuple(warnings)[:_MOST_WARNINGS],
            datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        )

    def value_as_text(self) -> tuple[str, str]:
        """The value with its unit, and its interval; the second is '' without a figure."""
        if self.value is None or self.low is None or self.high is None:
            return "no figure", ""
        estimate = Estimate(self.value, self.low, self.high, self.unit, "", 0, 0)
        value, low, high = sensible(estimate)
        sign = symbol(self.unit)
        return f"{value} {sign}", f"{low} to {high} {sign}"


def table_of(runs: tuple[KeptRun, ...], shown: int | None) -> str:
    """The runs as a table in HTML; number `shown` is the one whose plot is shown.

    Warnings have a row of their own: in a column of a narrow window they would be very long.
    """
    rows = []
    for each in reversed(runs):
        value, interval = each.value_as_text()
        rows.append(
            {
                "number": each.number,
                "shown": each.number == shown,
                "settings": settings_as_text(each.form),
                "value": value,
                "interval": interval,
                "warnings": "; ".join(map(words, each.warnings)),
            }
        )
    return filled(_RUNS, runs=rows)


def read(folder: Path, save: str, kernel: str) -> tuple[KeptRun, ...]:
    """The runs of the panel that saves under the name `save`, the oldest first.

    Leaves out runs of another C kernel and entries that are no runs. An unusable file has none.
    """
    try:
        text = json_text.text_of(read_bounded(_path(folder, save), limits.MOST_JSON_BYTES))
        stated = json_text.parse(text)
    except (OSError, json_text.BadJson):
        return ()
    entries = stated.get("runs") if isinstance(stated, dict) else None
    found = [_run(entry, save) for entry in entries] if isinstance(entries, list) else []
    mine = [each for each in found if each is not None and each.form.kernel == kernel]
    return tuple(sorted(mine, key=lambda each: each.number))[-MOST_RUNS:]


def write(folder: Path, save: str, runs: tuple[KeptRun, ...]) -> None:
    """Keep the newest of `runs`. Where nothing can be written, the panel still shows them."""
    stored = [
        {
            **{name: value for name, value in asdict(each).items() if name != "form"},
            **{name: value for name, value in asdict(each.form).items() if name != "save"},
        }
        for each in runs[-MOST_RUNS:]
    ]
    text = json.dumps({"runs": stored}, indent=1, ensure_ascii=False) + "\n"
    with contextlib.suppress(CannotWrite):
        write_atomically(_path(folder, save), text.encode())


def _run(entry: object, save: str) -> KeptRun | None:
    try:
        stored = _Stored.model_validate(entry)
        unit = canonical(stored.unit)
    except (ValidationError, UnknownUnit):
        return None
    numbers = (stored.value, stored.low, stored.high)
    if unit not in NAMES or (None in numbers and any(each is not None for each in numbers)):
        return None
    form = Form(
        stored.kernel, stored.variant, stored.samples, stored.cpu, stored.peer_cpu, stored.warmup,
        stored.processes, stored.flags, save,
    )  # fmt: skip
    return KeptRun(
        stored.number, form, stored.what, unit, *numbers, tuple(stored.warnings), stored.when
    )


def _path(folder: Path, save: str) -> Path:
    return folder / RECORDINGS / f"{save}.runs.json"
