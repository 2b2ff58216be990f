"""The sentences of plots, of views, and of what a broken C kernel does wrong."""

from __future__ import annotations

from collections.abc import Iterator

from labs.course import mistakes_in_reports, published
from labs.run import broken
from testing.languages.sentence import MISTAKES, PLOTS, Sentence

#: Modules with texts in and below plots, and with the tables of views.
DRAWN = ("labs/plots", "labs/views")
#: Those of them that no student sees: plots in English, on pages for instructors, and their parts.
NOT_READ = ("labs/plots/small_samples.py",)
#: Words in plots that are no sentences, each as it is written there.
_WORDS = (
    "a guess",
    "alone",
    "broken",
    "found",
    "i7-6500U laptop",
    "Intel Core i7-6500U laptop (3.1 GHz turbo)",
    "late",
    "machine not stated",
    "nothing",
    "procedure call",
    "process switch",
    "processes",
    "published",
    "repaired",
    "shared",
    "shared lab server",
    "shared lab server (CPU not stated)",
    "task creation",
    "thread switch",
    "threads",
    "times",
    "together",
    "warm-up",
    "your late prediction",
    "your prediction",
    "Your late prediction",
    "Your prediction",
)
#: How numbers and names are put together there.
_WITH_VALUES = (
    "{number_1} sample",
    "{number_1} process",
    "{number_1} variant",
    "{number_1} variants",
    "{number_1} group",
    "{number_1} groups",
    "{number_1} guess",
    "{number_1} guesses",
    "{number_1} prediction",
    "{number_1} predictions",
    "{number_1} tasks",
    "{number_1} threads",
    "{number_1} ({number_2} to {number_3}) {unit}",
    "{number_1} {unit} ({number_2} to {number_3} {unit_2})",
    "k = {number_1} to {number_2}",
    "{factor}, {number_1} % sure",
    "your prediction: {number_1} {unit}",
    "your prediction × {number_1}: {number_2} {unit}",
    "your late prediction × {number_1}: {number_2} {unit}",
    "your late prediction: {number_1} {unit}",
    "Your prediction for {variant}: {number_1} {unit}.",
    "Your late prediction for {variant}: {number_1} {unit}.",
    "overhead {number_1} {unit}",
    "{variant}, median",
    "{what} (megabytes)",
    "{report}  {machine}",
    "{name}, run {number_1}",
    "run {number_1}: {value}",
    "{name} ({number_1} figures)",
    "{step} (2 modes)",
    "no: {why}",
    "{what} (95 %)",
    "broken: {name}",
    "repaired: {name}",
    "yours: {name}",
)


def words() -> Iterator[Sentence]:
    """The words and the numbers in plots."""
    yield from (Sentence(text, PLOTS, "words of plots") for text in _WORDS)
    yield from (Sentence(text, PLOTS, "numbers in plots", True) for text in _WITH_VALUES)


def mistakes() -> Iterator[Sentence]:
    """What each broken C kernel does wrong, the published figures, and what speaks against them."""
    for kernel in broken.all_of_them():
        yield Sentence(kernel.mistake, MISTAKES, f"kernels_c/broken/{kernel.path.name}")
    for quantity in dict.fromkeys(each.quantity for each in published.figures()):
        yield Sentence(quantity, MISTAKES, "published figures")
    for reason in mistakes_in_reports.reasons():
        yield Sentence(reason, MISTAKES, "labs/course/mistakes_in_reports.py")
