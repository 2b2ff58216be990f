"""Plots are in one language: no word of ours in or below a plot stays English, all have room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from labs.course import published
from labs.languages import chosen
from labs.languages.po_file import languages
from labs.languages.words import Words, words
from labs.plots import style
from labs.plots.picture import Picture
from labs.plots.small_samples import samples_png
from labs.plots.style import INK, new_figure, title_and_key
from labs.recording.file import read
from testing.languages.left import left_in_english
from testing.paths import FIXTURES
from testing.plot_words import collisions
from testing.plots_of_labs import plots_of

FIRST = "01-timer-overhead"
#: The labs whose views have plots of their own.
OTHERS = (
    "02-first-iteration",
    "04-procedure-call",
    "05-task-creation",
    "06-process-and-thread-switch",
    "07-switch-footprint",
)
#: What keeps its name in every language: units, C, and ids of predictions.
NAMES = frozenset(
    (
        *("KiB", "MiB", "cycle", "cycles", "ticks", "megabytes", "fork", "wait", "ECDF", "rdtsc"),
        *("fenced-pair", "process-clock", "trap", "switch"),
        *("Einzelmessungen", "muestras"),  # a panel states its settings in the language already
    )
)
_WORD = re.compile(r"[A-Za-z]{3,}")
#: Words of English that are too short for `left_in_english`.
_SHORT = re.compile(r"(?<![\w-])(?:to|of|at|by|or|and)(?![\w-])")
_SIGN = re.compile(r"^[^\w\s] ")


@dataclass
class Drawing:
    """What was drawn: the figure, the English texts that were looked up, and what was found."""

    figures: list[Figure] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)

    def bypassed(self, names: frozenset[str]) -> Iterator[str]:
        """Texts of the figure that nobody looked up."""
        for figure in self.figures:
            for text in figure.findobj(Text):
                said = text.get_text() if text.get_visible() else ""
                if not self.was_asked(said, names):
                    yield said

    def was_asked(self, text: str, names: frozenset[str]) -> bool:
        """Whether a text is made of others that were looked up, of names, and of numbers."""
        said = " ".join(text.split())
        found = [" ".join(each.split()) for each in self.asked.values()]
        if said in " ".join(found):  # a line of a longer text
            return True
        known = sorted((*found, *names), key=len, reverse=True)
        whole = rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)" if known else "$^"
        return not _WORD.search(re.sub(whole, "", said))

    def left(self, language: str, names: frozenset[str]) -> Iterator[str]:
        """What a reader of `language` sees in English in the figure."""
        for text, shown in self.asked.items():
            if _SHORT.search(shown):
                yield shown
            kept = left_in_english(text, language, names, heading=True)
            if kept and _SIGN.match(text):
                kept = left_in_english(_SIGN.sub("", text), language, names, heading=True)
            yield from kept


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Drawing:
    made = Drawing()
    png, label = style.png, Words.label

    def keep(figure: Figure) -> bytes:
        made.figures.append(figure)
        return png(figure)

    def note(self: Words, english: str) -> str:
        made.asked[english] = label(self, english)
        return made.asked[english]

    monkeypatch.setattr(style, "png", keep)
    monkeypatch.setattr(Words, "label", note)
    return made


def names_of(lab: str) -> frozenset[str]:
    """The names in the plots of a lab: C kernels, variants, and machines of published figures."""
    found = set(NAMES)
    for path in sorted((FIXTURES / "honest" / lab / "recordings").glob("*.csv")):
        recording = read(path)
        found |= {recording.kernel, *recording.variants}
    for each in published.figures():
        found |= {*re.findall(r"[\w.-]*[A-Z\d][\w.-]*", each.machine)}
    return frozenset(found)


def said_below(drawn: Picture) -> Iterator[str]:
    yield drawn.kind
    yield drawn.meaning


def in_table(drawn: Picture) -> Iterator[str]:
    yield drawn.table.caption
    yield from drawn.table.header
    for row in drawn.table.rows:
        yield from row


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("lab", [FIRST, *OTHERS])
def test_no_word_of_a_plot_stays_english_or_has_no_room(
    lab: str, language: str, drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chosen.VARIABLE, language)
    names, wrong = names_of(lab), []
    for name, draw in plots_of(lab).items():
        drawing.figures.clear()
        drawing.asked.clear()
        drawn = draw()
        (figure,) = drawing.figures
        left = [*drawing.bypassed(names), *drawing.left(language, names)]
        left += [
            part for text in said_below(drawn) for part in left_in_english(text, language, names)
        ]
        for text in in_table(drawn):
            if not drawing.was_asked(text, frozenset()):  # as the reasons against a figure
                left += left_in_english(text, language, names, heading=True)
        left += [text for text in map(words, said_below(drawn)) if _SHORT.search(text)]
        wrong += [f"{name}: {each}" for each in (*dict.fromkeys(left), *collisions(figure))]
    assert not wrong
    assert drawing.asked, "else this test has seen nothing"


def test_a_text_that_no_catalogue_has_is_seen(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "de")
    figure, axes = new_figure(2.0)
    title_and_key(figure, "bare fenced: every sample", [("● the moon was full", INK)])
    axes.set_xlabel("the sun was up")
    drawing.figures.append(figure)
    names = frozenset({"bare", "fenced"})
    assert [*drawing.bypassed(names)] == ["the sun was up"]
    assert [*drawing.left("de", names)] == ["the moon was full"]
    assert drawing.asked["bare fenced: every sample"] == "bare fenced: jede Einzelmessung"


def test_a_text_keeps_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "es")
    figure, _ = new_figure(2.0)
    key = [("● process, bar: 2 of its standard errors", INK), ("● 8 tasks", INK), ("x y", INK)]
    title_and_key(figure, "", key)
    shown = {text.get_text() for text in figure.findobj(Text)}
    assert {"● proceso, barra: 2 de sus errores estándar", "● 8 tareas", "x y"} <= shown


def test_pages_for_instructors_keep_their_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Feedback is English: its words and its small plots are the same bytes in every language."""
    saved = FIXTURES / "honest" / FIRST / "recordings" / "fenced.csv"
    english = samples_png(read(saved), "fenced")
    monkeypatch.setenv(chosen.VARIABLE, "de")
    assert words("overhead") == "Overhead" and samples_png(read(saved), "fenced") == english
