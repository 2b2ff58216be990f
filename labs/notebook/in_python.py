"""What is told of a run names options as a terminal has them; a notebook writes them in Python."""

from __future__ import annotations

import re

#: By option of a command, the argument of `lab.measure` that does the same.
ARGUMENTS = {
    "samples": "samples",
    "processes": "processes",
    "batch": "batches",
    "warmup": "warmup",
    "cpu": "cpu",
    "peer-cpu": "peer_cpu",
    "unit": "unit",
    "within": "within",
    "at-most": "at_most",
}

_OPTION = re.compile(
    rf"(?P<raise>raise )?--(?P<name>{'|'.join(ARGUMENTS)})\b"
    r"(?: (?P<number>\d[\d,]*)\b| (?P<word>cycles|ticks|ns)\b| (?P<sizes>K1,K2,\.\.\.))?"
)


def options(text: str) -> str:
    """`text` with `--samples 4000` as `samples=4000`, and so on."""
    return _OPTION.sub(_argument, text)


def _argument(option: re.Match[str]) -> str:
    name = ARGUMENTS[option["name"]]
    if option["raise"] and not option["number"]:
        return f"raise {name}"
    value = option["number"] or "..."
    if option["sizes"]:
        value = "[K1, K2, ...]"
    elif option["word"]:
        value = f'"{option["word"]}"'
    return f"{option['raise'] or ''}{name}={value}"
