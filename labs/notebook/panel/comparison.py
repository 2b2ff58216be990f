"""The plot that compares the last runs of a panel: one axis, each run named beside its figure."""

from __future__ import annotations

from collections.abc import Sequence

from labs.analysis import estimates
from labs.analysis.estimates import Estimate
from labs.common.table import Table
from labs.common.units import NAMES
from labs.notebook.panel.form import differing, settings_as_text
from labs.notebook.panel.kept import KeptRun
from labs.plots.intervals import LOOKS, Dot, Group, Row, rows_figure
from labs.plots.picture import Picture, make_picture
from labs.plots.style import QUIET

#: So many runs are compared.
MOST = 3
#: A longer name, in characters, would leave too little room for the plot.
_LONGEST = 40


def comparable(runs: Sequence[KeptRun]) -> tuple[KeptRun, ...]:
    """The last runs with a figure of the same kind as the newest one, the oldest first."""
    known = [each for each in runs if each.value is not None]
    if not known:
        return ()
    newest = known[-1]
    alike = [each for each in known if (each.what, each.unit) == (newest.what, newest.unit)]
    return tuple(alike[-MOST:])


def picture_of(runs: Sequence[KeptRun]) -> Picture | None:
    """The last runs of a panel on one axis; None if fewer than two can be compared."""
    chosen = comparable(runs)
    if len(chosen) < 2:
        return None
    newest = chosen[-1]
    rows = []
    for name, each in zip(_names(chosen), chosen, strict=True):
        value, interval = each.value_as_text()
        look = LOOKS[0] if each is newest else LOOKS[3]
        assert each.value is not None  # comparable
        dot = Dot(each.value, look, each.low, each.high)
        rows.append(Row(name, (dot,), f"{value} ({interval})"))
    title = f"{newest.form.kernel}: the last {len(chosen)} runs"
    key = [("marker: the figure; bar: its 95 % interval", QUIET)]
    heading = f"{newest.what}, the newest run last"
    figure = rows_figure(
        [Group(heading, tuple(rows))], newest.unit, newest.what, title, key, scale="near"
    )  # fmt: skip
    return make_picture(figure, *_described(chosen), _table(chosen))


def _names(chosen: Sequence[KeptRun]) -> list[str]:
    """A name for each run: its number, its variant, and the settings in which the runs differ."""
    forms = [each.form for each in chosen]
    only = {name for form in forms for name in differing(forms[0], form)}
    names = [f"{each.number}: {settings_as_text(each.form, only)}" for each in chosen]
    return [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in names]


def _described(chosen: Sequence[KeptRun]) -> tuple[str, str]:
    newest, before = chosen[-1], chosen[-2]
    kind = (
        f"Dot plot of the last {len(chosen)} runs of this panel: the {newest.what} with its 95 % "
        f"interval, in {NAMES[newest.unit]}, on one axis."
    )
    assert newest.value is not None and before.value is not None
    side = "above" if newest.value > before.value else "below"
    words = (
        f"The figure of run {newest.number} lies {side} that of run {before.number}, and the two "
        "are distinguishable."
        if estimates.side(_figure(newest), _figure(before))
        else f"The figures of run {newest.number} and run {before.number} are not distinguishable."
    )
    values = ", ".join(f"run {each.number}: {each.value_as_text()[0]}" for each in chosen)
    return kind, " ".join((words, f"The figures of the runs: {values}."))


def _figure(run: KeptRun) -> Estimate:
    """The figure of a run, without its processes: two runs have none in common."""
    assert run.value is not None
    low, high = (run.value if end is None else end for end in (run.low, run.high))
    return Estimate(run.value, low, high, run.unit, run.what, 0, 0)


def _table(chosen: Sequence[KeptRun]) -> Table:
    rows = tuple(
        (f"{each.number}: {settings_as_text(each.form)}", *each.value_as_text()) for each in chosen
    )
    return Table("The runs compared", ("run", "value", "95 % interval"), rows)
