"""Read the lines above the rows of a recording: the conditions of the run and of its processes.

Anybody may have written the file, so every size is limited. An error names its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from labs.common.json_text import BadJson, parse
from labs.common.limits import (
    MOST_CONDITIONS,
    MOST_HEADER_BYTES,
    MOST_KEY,
    MOST_LINE_BYTES,
    MOST_LISTED_CPUS,
    MOST_PROCESS_CONDITIONS,
    MOST_RECORDED_PROCESSES,
    MOST_VALUE,
)
from labs.common.pseudo_files import cpu_list
from labs.recording.rows import BadRecording

# Where a text has a limit, pydantic also refuses one half of a character (a lone surrogate).
_Text = Annotated[str, StringConstraints(max_length=MOST_LINE_BYTES)]
_PROCESS = TypeAdapter(dict[_Text, _Text], config=ConfigDict(strict=True))
_CONDITION = re.compile(rf"# ([A-Za-z0-9][A-Za-z0-9_. -]{{0,{MOST_KEY - 1}}}): (.*)")
#: How the keys end whose values are lists of CPUs.
_CPU_LISTS = ("cpu.allowed", ".cpus", ".peers_cpus", ".peers_may_use")


def split_head(content: bytes, where: str) -> tuple[list[str], str, bytes, int]:
    """The condition lines, the column line, the rows, and the number of the first row's line.

    Raises BadRecording, naming the line.
    """
    if not content.strip():
        raise BadRecording("is empty", where=where)
    head: list[str] = []
    position = 0
    while True:
        end = content.find(b"\n", position)
        raw = content[position:] if end < 0 else content[position:end]
        number = len(head) + 1
        if len(raw) > MOST_LINE_BYTES:
            raise BadRecording(
                f"a line of more than {MOST_LINE_BYTES} bytes", where=where, line=number
            )
        try:
            line = raw.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise BadRecording("is not UTF-8 text", where=where, line=number) from error
        position = len(content) if end < 0 else end + 1
        if not line.startswith("#"):
            return head, line, content[position:].replace(b"\r\n", b"\n"), number + 1
        head.append(line)
        if position > MOST_HEADER_BYTES:
            raise BadRecording(
                f"more than {MOST_HEADER_BYTES} bytes of conditions", where=where, line=number
            )
        if len(head) > MOST_CONDITIONS:
            raise BadRecording(f"more than {MOST_CONDITIONS} lines of conditions", where=where)
        if end < 0:
            raise BadRecording("ends before its first sample", where=where, line=number)


def read_head(head: list[str], where: str) -> tuple[dict[str, str], list[Mapping[str, str]]]:
    """The conditions in the lines `head`: those of the run, and those of each process.

    Raises BadRecording, naming the line.
    """
    conditions: dict[str, str] = {}
    processes: list[Mapping[str, str]] = []
    cpus = _CpuLists(where)
    for number, line in enumerate(head, start=1):
        match = _CONDITION.fullmatch(line)
        if match is None:
            raise BadRecording("is not of the form '# key: value'", where=where, line=number)
        key, value = match.groups()
        if key == f"process.{len(processes)}" and len(processes) < MOST_RECORDED_PROCESSES:
            stated = _process(value, number, where)
            processes.append(stated)
            cpus.add(stated, number)
        elif key.startswith("process."):
            raise BadRecording(
                f"{key} is out of order or one process too many", where=where, line=number
            )
        elif key in conditions:
            raise BadRecording(f"{key} is stated twice", where=where, line=number)
        else:
            _check_length(key, value, number, where)
            conditions[key] = value
            cpus.add({key: value}, number)
    return conditions, processes


class _CpuLists:
    """The CPUs in all different CPU lists of a recording, counted while it is read."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._known: set[str] = set()
        self._count = 0

    def add(self, stated: Mapping[str, str], line: int) -> None:
        """Count the lists in `stated`. Raises BadRecording if they are too many CPUs."""
        for key, text in stated.items():
            if key.endswith(_CPU_LISTS) and text not in self._known:
                self._known.add(text)
                self._count += len(cpu_list(text) or ())
        if self._count > MOST_LISTED_CPUS:
            raise BadRecording(
                f"its CPU lists name more than {MOST_LISTED_CPUS} CPUs in all",
                where=self._where,
                line=line,
            )


def _check_length(key: str, value: str, line: int, where: str) -> None:
    if len(key) > MOST_KEY:
        what = f"a key of {len(key)} characters; at most {MOST_KEY} are read"
        raise BadRecording(what, where=where, line=line)
    if len(value) > MOST_VALUE:
        what = f"{key} has {len(value)} characters; at most {MOST_VALUE} are read"
        raise BadRecording(what, where=where, line=line)


def _process(text: str, number: int, where: str) -> Mapping[str, str]:
    try:
        stated = _PROCESS.validate_python(parse(text))
    except BadJson as error:
        what = f"is not valid JSON after the colon: {error.words}"
        raise BadRecording(what, where=where, line=number) from error
    except ValidationError as error:
        kind = error.errors(include_url=False, include_context=False)[0]["type"]
        what = (
            "holds one half of a character (a lone surrogate)"
            if kind == "string_unicode"
            else "must be an object whose values are strings"
        )
        raise BadRecording(what, where=where, line=number) from error
    if len(stated) > MOST_PROCESS_CONDITIONS:
        raise BadRecording(
            f"a process with {len(stated)} conditions; at most {MOST_PROCESS_CONDITIONS} are read",
            where=where,
            line=number,
        )
    for key, value in stated.items():
        _check_length(key, value, number, where)
    return MappingProxyType(stated)
