"""The base of every model of the plan language: strictness, shape tags, literals.

Invariant: the keys of a plan object alone (`agg`, `bucket`, `any`, …) decide its shape, so an error
can name the one shape the author meant. Tags are written `<agg>` and are never shown to users.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from sandtable.quoting import INVISIBLE

MAX_ITEMS = 100
MAX_VALUES = 1000
MAX_TEXT = 10_000
MAX_DEPTH = 8
MAX_ROWS = 10_000
MAX_DEFINITIONS = 16
MAX_INTEGER = 2**127 - 1

Scalar = str | int | float | bool

SHAPE_KEYS: dict[str, tuple[str, ...]] = {}
"""Error type of an unknown shape → the keys that would have decided the shape."""


class PlanModel(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, serialize_by_alias=True, defer_build=True
    )


def by_shape(kind: str, rules: Mapping[str, str], shapes: str, text: str | None = None) -> Discriminator:
    """Choose the shape by the first key of `rules` that is present; `shapes` is shown when none is.

    `text` is the tag of a bare string, where one is allowed.
    """

    def choose(value: object) -> str | None:
        if isinstance(value, Mapping):
            return next((tag for key, tag in rules.items() if key in value), None)
        return text if isinstance(value, str) else getattr(value, "shape", None)

    error_type = f"plan_shape:{kind}"
    SHAPE_KEYS[error_type] = tuple(rules)
    message = f"{kind} is an object such as {shapes}"
    return Discriminator(choose, custom_error_type=error_type, custom_error_message=message)


def _name(what: str, longest: int) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str):
            raise PydanticCustomError("plan_name", "{what} is text", {"what": what})
        if not value or value != value.strip() or len(value) > longest:
            message = "{what} is 1 to {longest} characters, with no space at either end"
            raise PydanticCustomError("plan_name", message, {"what": what, "longest": longest})
        if INVISIBLE.search(value):
            raise PydanticCustomError("plan_name", "{what} may not hold invisible characters", {"what": what})
        return value

    return check


_NAME_SCHEMA = {"type": "string", "minLength": 1}

Alias = Annotated[
    str, PlainValidator(_name("a name for an output column", 100)), WithJsonSchema(_NAME_SCHEMA)
]
Reference = Annotated[str, Field(min_length=1, max_length=600)]

_IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]{0,62}$"


def _table_name(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(_IDENTIFIER, value, re.ASCII):
        return value
    message = "a name for a table is a letter or _, then letters, digits and _, at most 63 altogether"
    raise PydanticCustomError("plan_name", message)


TableName = Annotated[
    str, PlainValidator(_table_name), WithJsonSchema({"type": "string", "pattern": _IDENTIFIER})
]


def literal(value: object) -> Scalar:
    """A JSON scalar that SQL can hold; anything else is refused with a reason."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            message = "text values hold at most {most} characters"
            raise PydanticCustomError("plan_value", message, {"most": MAX_TEXT})
        return value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int | float):
        raise PydanticCustomError("plan_value", "that number is too large to compute with")
    raise PydanticCustomError("plan_value", "expected text, a number, true or false")


def _number(value: object) -> int | float:
    number = literal(value)
    if isinstance(number, bool | str):
        raise PydanticCustomError("plan_value", "expected a number")
    return number


def _filter_value(value: object) -> Scalar | tuple[Scalar, ...]:
    if not isinstance(value, list | tuple):
        return literal(value)
    items = tuple(cast("list[object]", value))
    if len(items) > MAX_VALUES:
        message = "a list of values holds at most {most} items"
        raise PydanticCustomError("plan_value", message, {"most": MAX_VALUES})
    if any(item is None for item in items):
        message = "a list of values cannot hold null; add an is_null filter beside it"
        raise PydanticCustomError("plan_value", message)
    return tuple(literal(item) for item in items)


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


_SCALAR_SCHEMA: list[dict[str, Any]] = [
    {"type": "string", "maxLength": MAX_TEXT},
    {"type": "number"},
    {"type": "boolean"},
]
_FILTER_SCHEMA: dict[str, Any] = {
    "anyOf": [*_SCALAR_SCHEMA, {"type": "array", "items": {"anyOf": _SCALAR_SCHEMA}, "maxItems": MAX_VALUES}]
}

Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
FilterValue = Annotated[
    Scalar | tuple[Scalar, ...],
    PlainValidator(_filter_value),
    PlainSerializer(_plain),
    WithJsonSchema(_FILTER_SCHEMA),
]
