"""Read JSON that anybody may have written, in bounded time and memory, and explain its mistakes.

A mistake inside one entry of an object costs only that entry. A message is a phrase that follows
the name of the file; it says what is wrong, where, and what to do.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import ErrorDetails

from labs import limits
from labs.files import read_bounded
from labs.limits import MOST_JSON_BYTES

if TYPE_CHECKING:
    from typing_extensions import Self

#: What Python's parser says, by its first words, and what we say.
_WORDS = {
    "Expecting property name": "a name in double quotes is missing here, or the comma before it is "
    "one too many; a number has a decimal point, not a comma",
    "Illegal trailing comma": "this comma is one too many",
    "Expecting ':'": "a colon is missing here",
    "Expecting ','": "a comma is missing here",
    "Expecting value": "a value is missing here, or a text without double quotes",
    "Unterminated string": "this text has no closing quote",
    "Invalid control": "this text has no closing quote in its line",
    "Invalid \\": r"in JSON, \ begins an escape: write / between a folder and a file",
    "Extra data": "nothing may follow here",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: A text, to its end or to the end of its line, or a character that opens, closes or separates.
_TEXT = r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*'
_TOKEN = re.compile(_TEXT + r'(")?|[][{},]')
_NAME = re.compile(rf'\s*({_TEXT}")\s*:\s*')
_CLOSING = {"{": "}", "[": "]"}


class BadJson(ValueError):
    """A text that we cannot read as JSON; `words` is what is wrong, without its place."""

    def __init__(self, message: str, words: str = "") -> None:
        super().__init__(message)
        self.words = words or message


@dataclass(frozen=True)
class Unreadable:
    """Stands for an entry of an object that cannot be read; `what` is a sentence about it."""

    what: str


class _Member(NamedTuple):
    """Where an entry begins and ends, and how many objects and lists are nested in it."""

    begin: int
    end: int
    depth: int


def text_of(content: bytes) -> str:
    """The text in the bytes of a file: UTF-8, or UTF-16 with a byte-order mark. Raises BadJson."""
    encoding = next((_MARKS[mark] for mark in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadJson(f"is not UTF-8 text: byte {error.start}; save it as UTF-8") from error
    if "\0" in text:
        raise BadJson("is not UTF-8 text: it has bytes that are 0; save it as UTF-8")
    return text


def parse_json(text: str, *, lenient: bool = False) -> Any:
    """The value that `text` holds. Raises BadJson.

    A name that appears twice in an object is an error, and so is a number with very many digits. If
    `lenient`, the last value of a name counts, as in most programs, and such a number is read as 0.
    """
    decoder = _LENIENT if lenient else _STRICT
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _invalid(error) from error
    except RecursionError as error:
        raise BadJson("cannot be read: its objects and lists are nested too deeply") from error
    except ValueError as error:
        raise BadJson(f"cannot be read: {error}", str(error)) from error


def read_entries(path: Path, most: int) -> dict[str, Any]:
    """The entries of the object that the file at `path` holds, at most `most` of them.

    The value of an entry is Unreadable if only this entry is wrong. Names lose the blanks around
    them. Raises BadJson, and OSError if the file cannot be read.
    """
    return entries(text_of(read_bounded(path, limits.MOST_JSON_BYTES)), most)


def entries(text: str, most: int) -> dict[str, Any]:
    """The entries of the object in `text`, as `read_entries` gives them. Raises BadJson."""
    found: dict[str, Any] = {}
    lines: dict[str, list[int]] = {}
    for member in _members(text):
        begin = member.begin
        while text[begin : member.end].strip():  # where a comma is missing, another entry follows
            name, line, value, begin = _entry(text, begin, member)
            found[name] = value
            lines.setdefault(name, []).append(line)
            if sum(map(len, lines.values())) > most:
                raise BadJson(f"has more than {most} entries")
    for name, places in lines.items():
        if len(places) > 1:
            where = f"in line {places[0]} and again in line {places[-1]}"
            found[name] = Unreadable(f"its name appears {where}; keep one of the two")
    return found


def _members(text: str) -> Iterator[_Member]:
    """Each entry of the object in `text`, without looking into it. Raises BadJson.

    This needs no recursion, so that nothing is nested too deeply for it. A needless comma does no
    harm between two entries or after the last one.
    """
    if not text.lstrip().startswith("{"):
        raise _error(text, _after_blanks(text, 0), "it must hold one object, { ... }")
    opened: list[int] = []
    unclosed: int | None = None  # the first text without its closing quote
    begin = depth = 0
    for token in _TOKEN.finditer(text):
        kind, place = token[0][0], token.start()
        if kind == '"':
            unclosed = place if unclosed is None and token[1] is None else unclosed
        elif kind in "{[":
            opened.append(place)
            depth = max(depth, len(opened) - 1)
            begin = begin if len(opened) > 1 else place + 1
        elif kind in "}]" and kind != _CLOSING[text[opened.pop()]]:
            raise _without_partner(text, place, unclosed)
        if not opened or (kind == "," and len(opened) == 1):
            if text[begin:place].strip():
                yield _Member(begin, place, depth)
            begin, depth = place + 1, 0
        if not opened:
            break
    if opened:
        raise _without_partner(text, opened[-1], unclosed)
    if text[begin:].strip():
        raise _error(text, _after_blanks(text, begin), _WORDS["Extra data"])


def _entry(text: str, begin: int, member: _Member) -> tuple[str, int, Any, int]:
    """The entry that begins at `begin`: its name, line, value and end. Raises BadJson."""
    match = _NAME.match(text, begin, member.end)
    if match is None:
        words = 'here an entry must begin, such as "name": { ... }'
        raise _error(text, _after_blanks(text, begin), words)
    begin, line = match.end(), _line(text, match.start(1))
    try:
        name = _STRICT.raw_decode(text, match.start(1))[0]
        # JSON can spell a lone surrogate, and UTF-8 cannot encode it.
        name = name.encode("utf-8", "replace").decode("utf-8").strip()
    except json.JSONDecodeError as error:
        raise _invalid(error) from error
    if member.depth > limits.MOST_JSON_DEPTH:
        what = f"has more than {limits.MOST_JSON_DEPTH} nested objects and lists (line {line})"
        return name, line, Unreadable(f"it {what}"), member.end
    try:
        value, end = _STRICT.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        return name, line, Unreadable(f"it {_invalid(error)}"), member.end
    except ValueError as error:
        return name, line, Unreadable(f"it cannot be read (line {line}): {error}"), member.end
    return name, line, value, end


def _without_partner(text: str, place: int, unclosed: int | None) -> BadJson:
    """The error for a bracket or brace; a text without its end can have swallowed the partner."""
    if unclosed is not None:
        return _error(text, unclosed, _WORDS["Unterminated string"])
    return _error(text, place, f"this {text[place]} has no partner")


def _invalid(error: json.JSONDecodeError) -> BadJson:
    known = (words for begin, words in _WORDS.items() if error.msg.startswith(begin))
    return _error(error.doc, error.pos, next(known, error.msg))


def _error(text: str, place: int, words: str) -> BadJson:
    column = place - text.rfind("\n", 0, place)
    where = f"line {_line(text, place)}, column {column}"
    return BadJson(f"is not valid JSON ({where}): {words}", words)


def _after_blanks(text: str, place: int) -> int:
    return len(text) - len(text[place:].lstrip())


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _int(digits: str) -> int:
    """The whole number; a million digits would take minutes to convert."""
    if len(digits) > limits.MOST_JSON_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits; round it")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    stated = dict(pairs)
    if len(stated) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice[:64]!r} appears twice; keep one of them")
    return stated


_STRICT = json.JSONDecoder(parse_int=_int, object_pairs_hook=_once)
_LENIENT = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) <= limits.MOST_JSON_DIGITS else 0
)


# pydantic checks the form of a value, and gives the place, the kind and the value of each error.
# The words are ours: those of the table below, and the description of the field, which says what
# the field must be.

#: By the kind of an error; every other kind has the words of "".
_WORDS_OF_KINDS = {
    "missing": "{name} is missing; it must be {wanted}",
    "model_type": "it must be an object with {fields}, not {shown}",
    "": "{name} must be {wanted}, not {shown}",
}
_MOST_SHOWN = 60


class Form(BaseModel):
    """The form of a JSON object. Nothing is converted: the text "1" is no number."""

    model_config = ConfigDict(strict=True, frozen=True)

    @classmethod
    def or_none(cls, stated: object) -> Self | None:
        """What is `stated`, if it has this form."""
        with contextlib.suppress(ValidationError):
            return cls.model_validate(stated)
        return None


def _or_none(value: object, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return None


#: A field of this kind is None if its value has another form: nothing depends on it.
OrNone = WrapValidator(_or_none)
#: Where a text has a limit, pydantic also refuses one half of a character (a lone surrogate).
TextOrNone = Annotated[str | None, StringConstraints(max_length=MOST_JSON_BYTES), OrNone]


def problems(error: ValidationError, form: type[Form]) -> str:
    """What is wrong with a value that is not of the `form`, as a sentence without its full stop."""
    details = error.errors(include_url=False, include_context=False)
    return "; ".join(_sentence(each, form) for each in details)


def _sentence(error: ErrorDetails, form: type[Form]) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    described = {key: field.description for key, field in form.model_fields.items()}
    return _WORDS_OF_KINDS.get(error["type"], _WORDS_OF_KINDS[""]).format(
        name=name,
        wanted=described.get(name),
        fields=_listed([key for key, words in described.items() if words]),
        shown=_shown(error["input"]),
    )


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _shown(value: object) -> str:
    """The value as in the file if it is short, else what it is."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 1_000:
        return "a number with hundreds of digits"
    return repr(value)[:_MOST_SHOWN]
