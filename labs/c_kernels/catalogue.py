"""What the C kernels measure, without building any: for lists, suggestions and completion.

`variants.json` holds what each C kernel lists on Linux. `python -m support.variants` writes it,
and a test compares it with what the C kernels list.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs import paths

#: What the file of a C kernel ends in, and further sources of a project: C++ by its own endings.
C_PLUS_PLUS = (".cpp", ".cc", ".cxx")
SOURCES = (".c", *C_PLUS_PLUS)

FILE = Path(__file__).with_name("variants.json")


def sources_beside(recording: Path) -> tuple[Path, ...]:
    """Where the C or C++ of a recording may be: next to it, under its name."""
    return tuple(recording.with_suffix(ending) for ending in SOURCES)


#: The C kernels by what they measure, in the order in which a list shows them.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Clocks": ("timer_overhead",),
    "Calls": ("system_call", "procedure_call"),
    "Tasks and switches": ("task_creation", "process_switch", "thread_switch", "switch_footprint"),
    "Memory": ("memory_ladder",),
    "First times": ("first_iteration", "page_fault"),
    "A question of one's own": ("own_question",),
}

_FIRST_SENTENCE = re.compile(r"\A/\*\n \* (.*?[.?])(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Known:
    """A C kernel: its name, what it measures, and its variants, each with what it does."""

    name: str
    measures: str
    variants: Mapping[str, str]


def all_kernels() -> tuple[Known, ...]:
    """Every C kernel, in the order of GROUPS. Raises paths.PartMissing."""
    return tuple(of_name(name) for names in GROUPS.values() for name in names)


def of_name(name: str) -> Known:
    """The C kernel `name`. Raises KeyError, and paths.PartMissing."""
    variants = _variants()[name]
    source = paths.kernels_c() / f"{name}.c"
    return Known(name, first_sentence(source.read_text(encoding="utf-8")), variants)


def names() -> tuple[str, ...]:
    """The names of the C kernels, in the order of GROUPS."""
    return tuple(name for names in GROUPS.values() for name in names)


def variants_of(kernel: str) -> tuple[str, ...]:
    """The names of a C kernel's variants; none for a C kernel that is not listed here."""
    return tuple(_variants().get(kernel, ()))


def first_sentence(source: str) -> str:
    """The first sentence of the comment that a C source begins with; '' without such a comment."""
    found = _FIRST_SENTENCE.match(source)
    return re.sub(r"\s*\n \*\s*", " ", found[1]) if found else ""


@functools.lru_cache(maxsize=1)
def _variants() -> dict[str, dict[str, str]]:
    stated: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stated


# Names that differ only in their numbers, written as one: `args{0..12}` for thirteen variants.

#: A number in a name, with the unit of a size: `8`, `16k`, `256mb`.
_NUMBER_IN_NAME = re.compile(r"\d+(?:[kmg]b?)?(?=-|$)")
#: Fewer names than this are written out.
_FEWEST_IN_FAMILY = 3


def short(names: Sequence[str]) -> list[str]:
    """The names in their order, each family of them as one text at the place of its first name."""
    found: list[str] = []
    families: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        families.setdefault(_NUMBER_IN_NAME.sub("{}", name), []).append(
            tuple(_NUMBER_IN_NAME.findall(name))
        )
    for name in names:
        form = _NUMBER_IN_NAME.sub("{}", name)
        family = families[form]
        values = [tuple(dict.fromkeys(column)) for column in zip(*family, strict=True)]
        whole = set(family) == set(itertools.product(*values))
        if not values or len(family) < _FEWEST_IN_FAMILY or not whole:
            found.append(name)
        elif name == form.format(*family[0]):
            found.append(form.format(*map(_braces, values)))
    return found


def _braces(values: tuple[str, ...]) -> str:
    """The values as a shell has them: `{0..12}`, `{2,4,8}`; one value as it is."""
    if len(values) == 1:
        return values[0]
    first, last = values[0], values[-1]
    if all(value.isdecimal() for value in values) and list(values) == [
        str(number) for number in range(int(first), int(last) + 1)
    ]:
        return f"{{{first}..{last}}}"
    return f"{{{','.join(values)}}}"
