"""Say what is wrong with the form of a JSON value that pydantic refuses.

pydantic gives the place, the kind and the value of each error. The words are ours: those of the
table below, and the description of the field, which says what the field must be.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import ErrorDetails

from labs.common.limits import MOST_JSON_BYTES

#: By the kind of an error; every other kind has the words of "".
_WORDS = {
    "missing": "{name} is missing; it must be {wanted}",
    "model_type": "it must be an object with {fields}, not {shown}",
    "": "{name} must be {wanted}, not {shown}",
}
_MOST_SHOWN = 60


class Form(BaseModel):
    """The form of a JSON object. Nothing is converted: the text "1" is no number."""

    model_config = ConfigDict(strict=True, frozen=True)


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
    return _WORDS.get(error["type"], _WORDS[""]).format(
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
