"""JSON object → QueryPlan, or every reason why not in words.

Invariant: whatever the object holds, the outcome is a QueryPlan or a list of problems; size is
bounded before any recursive code looks at it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sandtable.plan import derivations, filters, items, windows
from sandtable.plan.model import Definition, OrderBy, PlanBody, QueryPlan, Why
from sandtable.plan.problems import MOST_PROBLEMS, PlanProblem, did_you_mean, listed
from sandtable.plan.shapes import MAX_DEPTH, MAX_INTEGER, SHAPE_KEYS
from sandtable.quoting import INVISIBLE, quote
from sandtable.recent import Recent

MAX_NODES = 5_000
MAX_TOTAL_TEXT = 100_000
MAX_NESTING = 40
MAX_INVISIBLE = 1_000
_MOST_DETAILS = 200
"""Most pydantic errors that are read; several may say the same."""
"""Each invisible character becomes a function call in SQL, hence `MAX_INVISIBLE`."""

_MODELS: Mapping[str, type[BaseModel]] = {
    model.shape: model
    for model in (
        filters.Comparison, filters.Relation, filters.InWindow, filters.Exists, filters.AnyOf, filters.AllOf,
        filters.Not,
        items.ColumnItem, items.AggItem, items.MetricItem, items.BucketItem, items.ArithmeticItem,
        items.ElapsedItem, items.HoldsItem, items.ElementsItem,
        items.ValueOperand, windows.LastWindow, windows.RangeWindow, windows.PeriodWindow,
        derivations.ShareOfTotal, derivations.Rank, derivations.Change, derivations.RunningTotal,
        derivations.ZScore, derivations.Previous, derivations.Next, derivations.Position, derivations.Run,
    )
} | {
    "order_by": OrderBy, "top_per_group": derivations.TopPerGroup, "define": Definition, "plan": PlanBody,
    "why": Why, "exists": filters.RelatedRows,
}  # fmt: skip

SYNONYMS = {
    "==": "=", "eq": "=", "equals": "=", "is": "=", "<>": "!=", "ne": "!=", "neq": "!=",
    "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "contains", "ilike": "contains",
    "not in": "not_in", "nin": "not_in", "starts_with": "startswith", "ends_with": "endswith",
    "is null": "is_null", "isnull": "is_null", "is not null": "not_null", "is_not_null": "not_null",
    "notnull": "not_null", "mean": "avg", "average": "avg", "total": "sum", "nunique": "count_distinct",
    "distinct": "count_distinct", "std": "stddev", "stdev": "stddev", "percentile": "quantile",
    "p95": "quantile", "ascending": "asc", "up": "asc", "descending": "desc", "down": "desc",
    "weekday": "day_of_week", "dow": "day_of_week", "hourly": "hour", "daily": "day", "weekly": "week",
    "monthly": "month", "yearly": "year", "days": "day", "weeks": "week", "months": "month",
    "years": "year", "hours": "hour", "corr": "correlation", "weekday_name": "day_name",
}  # fmt: skip

_TYPE_WORDS = {
    "string_type": "text", "int_type": "a whole number", "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list", "list_type": "a list", "model_type": "an object", "dict_type": "an object",
    "int_from_float": "a whole number", "int_parsing": "a whole number", "float_parsing": "a number",
    "string_unicode": "valid Unicode text",
}  # fmt: skip


def read_plan(obj: object) -> QueryPlan | list[PlanProblem]:
    if isinstance(obj, QueryPlan):
        return obj
    if not isinstance(obj, Mapping):
        hint = 'Send an object such as {"dataset_id": "…", "table": "…", "select": […]}.'
        return [PlanProblem("", f"a plan is a JSON object, not {_kind(obj)}", hint)]
    text = _text_of(cast("object", obj))
    known = _READ.get(text)
    if known is not None:
        return known
    oversize = bounded(cast("object", obj))
    if oversize:
        return [oversize]
    try:
        plan = QueryPlan.model_validate_json(text)
    except ValidationError as error:
        return _with_columns(_in_words(error), cast("Mapping[object, object]", obj))
    problems = _too_deep(plan)
    if not problems:
        _READ.put(text, plan)
    return problems or plan


_READ: Recent[str, QueryPlan] = Recent(256)


def _text_of(obj: object) -> str:
    """The JSON text; empty if the object is not JSON or too deeply nested to serialize; `bounded` says which."""
    try:
        return json.dumps(obj, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return ""


def read_metric_part(part: object) -> items.AnyItem | list[PlanProblem]:
    """One side of a catalog metric: an aggregate expression in the plan's JSON form."""
    text = _text_of(part)
    if not text:
        oversize = bounded(part)
        assert oversize is not None
        return [oversize]
    return _metric_part(text)


@lru_cache(maxsize=512)
def _metric_part(text: str) -> items.AnyItem | list[PlanProblem]:
    """Cached: a catalog has few metrics, and every plan that names one reads it again."""
    plan = read_plan({"dataset_id": "-", "table": "-", "select": [json.loads(text)]})
    return plan.select[0] if isinstance(plan, QueryPlan) else plan


def bounded(obj: object) -> PlanProblem | None:
    """The reason why `obj` is too large or not JSON, found without recursion."""
    nodes = text = hidden = 0
    stack: list[tuple[object, int]] = [(obj, 1)]
    while stack:
        value, level = stack.pop()
        nodes += 1
        if isinstance(value, str):
            text += len(value)
            if text <= MAX_TOTAL_TEXT and not (value.isascii() and value.isprintable()):
                hidden += len(INVISIBLE.findall(value))
        if nodes > MAX_NODES or text > MAX_TOTAL_TEXT or level > MAX_NESTING or hidden > MAX_INVISIBLE:
            hint = "Ask a smaller question, or split it into several plans."
            return PlanProblem("", "the plan is too large or nested too deeply", hint)
        if not _is_json(value):
            return PlanProblem(
                "", f"the plan holds {_kind(value)}, which JSON cannot carry", "Send plain JSON."
            )
        below = level + 1
        if isinstance(value, dict):
            for key, child in cast("dict[object, object]", value).items():
                stack.append((key, below))
                stack.append((child, below))
        elif isinstance(value, list | tuple):
            stack.extend([(child, below) for child in cast("list[object]", value)])
    return None


def _is_json(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, int):
        return abs(value) <= MAX_INTEGER
    if isinstance(value, float):
        return abs(value) <= 1.7976931348623157e308
    if isinstance(value, Mapping):
        return isinstance(value, dict) and all(
            isinstance(key, str) for key in cast("dict[object, object]", value)
        )
    return value is None or isinstance(value, list | tuple)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number" if _is_json(value) else "a number out of range"
        case str():
            return "text" if _is_json(value) else "broken Unicode text"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object whose keys are not all text"
        case _:
            return f"a {type(value).__name__}"


def _too_deep(plan: QueryPlan) -> list[PlanProblem]:
    found = _too_deep_in(plan, "")
    for index, definition in enumerate(plan.define):
        found += _too_deep_in(definition.plan, f"define[{index}].plan.")
    return found


def _too_deep_in(plan: PlanBody, place: str) -> list[PlanProblem]:
    hint = f"Nest at most {MAX_DEPTH} levels."
    found: list[PlanProblem] = []
    for field in ("filters", "having"):
        for index, condition in enumerate(getattr(plan, field)):
            if items.depth_of_filter(condition) > MAX_DEPTH:
                found.append(PlanProblem(f"{place}{field}[{index}]", "filters nest too deeply", hint))
    for index, item in enumerate(plan.select):
        if items.depth(item) > MAX_DEPTH:
            found.append(PlanProblem(f"{place}select[{index}]", "the expression nests too deeply", hint))
    if plan.why is not None and items.depth(plan.why.of) > MAX_DEPTH:
        found.append(PlanProblem(f"{place}why.of", "the expression nests too deeply", hint))
    for index, item in enumerate(plan.derive):
        if _depth_of_derived(item) > MAX_DEPTH:
            found.append(PlanProblem(f"{place}derive[{index}]", "the expression nests too deeply", hint))
    return found


def _depth_of_derived(item: derivations.Derivation) -> int:
    if isinstance(item, derivations.Expression):
        return items.depth(item)
    conditions = item.run if isinstance(item, derivations.Run) else ()
    return max((items.depth_of_filter(part) for part in conditions), default=1)


def _in_words(error: ValidationError) -> list[PlanProblem]:
    details = error.errors(include_url=False)
    told = (_problem(d) for d in islice(details, _MOST_DETAILS) if not _only_counts_failures(d, details))
    problems: dict[PlanProblem, None] = {}
    for problem in told:
        problems[problem] = None
        if len(problems) == MOST_PROBLEMS:
            break
    return list(problems)


def _with_columns(problems: list[PlanProblem], obj: Mapping[object, object]) -> list[PlanProblem]:
    """A missing `select` is found last; it is reported beside what was found before."""
    if {"select", "why"} & obj.keys() or any(problem.field == "select" for problem in problems):
        return problems
    return [*problems, PlanProblem("select", "`select` is missing", "Add `select`, with at least one item.")]


def _only_counts_failures(detail: ErrorDetails, details: list[ErrorDetails]) -> bool:
    """A list whose items failed is also reported as too short; the items' own errors say more."""
    loc = detail["loc"]
    return detail["type"] == "too_short" and any(
        d["loc"][: len(loc)] == loc and d is not detail for d in details
    )


def _problem(detail: ErrorDetails) -> PlanProblem:
    kind, given = detail["type"], detail.get("input")
    context = detail.get("ctx", {})
    place = _path(detail["loc"])
    leaf = place.rsplit(".", 1)[-1]
    if kind == "extra_forbidden":
        return _unknown_field(detail["loc"], place)
    if kind == "missing":
        return PlanProblem(place, f"{quote(leaf)} is missing", f"Add {quote(leaf)}.")
    if kind == "plan_columns":
        field = f"{place}.select" if place else "select"
        return PlanProblem(field, f"`select` {detail['msg']}", "Add `select`, with at least one item.")
    if kind in SHAPE_KEYS:
        return _unknown_shape(place, given, detail["msg"], SHAPE_KEYS[kind])
    if kind == "literal_error":
        return _not_one_of(place, given, str(context.get("expected", "")))
    if kind in _TYPE_WORDS:
        return PlanProblem(place, f"expected {_TYPE_WORDS[kind]}, got {_kind(given)}")
    if kind.startswith("plan_"):
        return PlanProblem(place, detail["msg"])
    if kind in ("too_short", "string_too_short"):
        return PlanProblem(
            place, f"{quote(leaf)} is empty", "Give at least one." if kind == "too_short" else ""
        )
    if kind in ("too_long", "string_too_long"):
        return PlanProblem(place, f"{quote(leaf)} is too long; at most {context.get('max_length')}")
    return PlanProblem(place, detail["msg"].replace("Input should be", "must be"))


def _path(loc: tuple[int | str, ...]) -> str:
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not part.startswith("<"):
            path += f".{part}" if path else part
    return path


def _unknown_field(loc: tuple[int | str, ...], place: str) -> PlanProblem:
    names = [part for part in loc[:-1] if isinstance(part, str)]
    model = next((_MODELS[name] for name in reversed(names) if name in _MODELS), QueryPlan)
    valid = [field.alias or name for name, field in model.model_fields.items()]
    message = f"unknown field {quote(str(loc[-1]))}{did_you_mean(str(loc[-1]), valid)}"
    return PlanProblem(place, message, f"Fields here: {listed(valid, 20)}.")


def _unknown_shape(place: str, given: object, message: str, valid: tuple[str, ...]) -> PlanProblem:
    if isinstance(given, str):
        return PlanProblem(
            place, f"{message}, not text", f'Write {{"column": {json.dumps(given)}}} for a column.'
        )
    if not isinstance(given, dict):
        return PlanProblem(place, f"{message}, not {_kind(given)}")
    keys: list[str] = [key for key in cast("dict[object, object]", given) if isinstance(key, str)]
    if not keys:
        return PlanProblem(place, f"{message}; this one is empty")
    for key in keys[:MOST_PROBLEMS]:
        meant = did_you_mean(key, valid)
        if meant:
            hint = f"{message[0].upper()}{message[1:]}."
            return PlanProblem(place, f"unknown field {quote(key)}{meant}", hint)
    return PlanProblem(place, message, f"This one has the fields {listed(keys)}.")


def _not_one_of(place: str, given: object, expected: str) -> PlanProblem:
    allowed = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    if not isinstance(given, str):
        return PlanProblem(place, f"expected one of {', '.join(allowed)}, got {_kind(given)}")
    meant = SYNONYMS.get(given.strip().lower())
    hint = f"; did you mean {quote(meant)}?" if meant in allowed else did_you_mean(given, allowed)
    shown = given if len(given) <= 40 else given[:40] + "…"
    other = ' Or give "from" and "to".' if place.endswith("time.period") else ""
    advice = f"Use one of: {', '.join(allowed)}.{other}"
    return PlanProblem(place, f"{quote(shown)} is not known here{hint}", advice)
