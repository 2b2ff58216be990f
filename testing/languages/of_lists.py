"""The sentences of `labs list`: what each C kernel and each variant measures, and the labs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from labs.c_kernels import catalogue
from labs.course import lab_names
from labs.course.lab_names import labs
from testing.languages.sentence import LISTS, Sentence

_NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
#: A number, or a size such as `16k`.
_NUMBER = re.compile(r"\b\d+[km]?\b")
#: A text that is C alone has no words.
_IS_C = re.compile(r"\w+\([^)]*\)")


def sentences() -> Iterator[Sentence]:
    """The headings, the questions, and what each variant does."""
    yield from (Sentence(heading, LISTS, "labs list") for heading in catalogue.GROUPS)
    for kernel in catalogue.all_kernels():
        yield Sentence(kernel.measures, LISTS, f"kernels_c/{kernel.name}.c")
        for text in _once(kernel.variants.values()):
            yield Sentence(text, LISTS, f"variants of {kernel.name}", "{" in text)
    for name in labs():  # of the source folder: a checkout may have no released labs yet
        lab = lab_names.of_notebook(_NOTEBOOKS / name / f"{name}.ipynb", name)
        if lab.asks:
            yield Sentence(lab.asks, LISTS, f"question of {lab.name}")


def _once(texts: Iterable[str]) -> Iterator[str]:
    """Each text; those of a family, which differ in numbers only, as one with values."""
    families: dict[str, dict[str, None]] = {}
    for text in texts:
        if not _IS_C.fullmatch(text):
            families.setdefault(_NUMBER.sub("#", text), {})[text] = None
    for alike in families.values():
        first, *others = alike
        yield _with_values(first) if others else first


def _with_values(text: str) -> str:
    found = iter(range(1, 10))
    return _NUMBER.sub(lambda _: f"{{size_{next(found)}}}", text)
