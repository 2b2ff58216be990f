"""What the C kernels measure, without building any: for lists, suggestions and completion.

`variants.json` holds what each C kernel lists of itself on Linux. `python -m testing.variants`
writes it, and a test compares it with what the C kernels list.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labs.common import paths

FILE = Path(__file__).with_name("variants.json")

#: The C kernels by what they measure, in the order in which a list shows them.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Clocks": ("timer_overhead",),
    "Calls": ("system_call", "procedure_call"),
    "Tasks and switches": (
        "task_creation",
        "process_switch",
        "thread_switch",
        "switch_footprint",
    ),
    "Memory": ("memory_ladder",),
    "First times": ("first_iteration", "page_fault"),
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
