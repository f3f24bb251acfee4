"""Parses a model's reply: one JSON object with the proposal, in any wrapping.

Invariant: no reply raises, and parsing takes time linear in its length, which is bounded. An unreadable reply is a
Problem whose message helps the model to correct it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from sandtable.agent.proposer import AnalysisProposal, AskBack, Final, PlanProposal, SqlProposal, Talk
from sandtable.errors import ErrorCode, Problem
from sandtable.plan.schema import plan_schema
from sandtable.quoting import quote

_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)(?:```|$)", re.DOTALL | re.IGNORECASE)
_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])', re.DOTALL)
LONGEST_READ = 64_000
"""Characters of a reply, its thoughts apart, that are searched for the object."""
MOST_NESTING = 64
MOST_VALUES = 20_000
_TOO_MANY = f"has more than {MOST_VALUES:,} values"
_MOST_DIGITS = 400
_MOST_STARTS = 50
_LONGEST_TEXT = 4_000
REPLY = "reply"
"""The name of the form, and of the tool that a model replies with."""
_AGAIN = "Reply with one JSON object of the given form and nothing else."

# A definition inside a plan has no dataset: the rest of a reply that was cut off must not pass for the whole.
_WHOLE_PLAN = {"dataset_id", "table", "select"}
_INTENTS = ("plan", "sql", "ask_back", "talk", "analysis")
_INTENT_WORDS = {"askback": "ask_back", "ask": "ask_back", "clarify": "ask_back", "query_plan": "plan"}
_WRAPPERS = frozenset(
    {"reply", "response", "proposal", "answer", "output", "result", "arguments", "parameters"}
)
_PLAN_ONLY = frozenset({"select", "table", "group_by", "order_by", "filters", "why"})
"""Fields that only a plan has: a reply with one of them beside its intent is the plan itself."""
_TELLING = (
    ("plan", "plan"), ("plan", "select"), ("plan", "why"), ("sql", "sql"), ("ask_back", "suggestions"),
)  # fmt: skip
"""The intent that a field tells where none is given."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model replied; `text` has the arguments as JSON when it called a tool."""

    text: str
    tool: str = ""
    """The tool that it called first; empty when it called none."""
    arguments: str = ""
    """Those of that call, as JSON."""
    cut_off: bool = False
    filtered: bool = False
    tokens_in: int = 0
    tokens_out: int = 0


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    intent: Literal["plan", "sql", "ask_back", "talk", "analysis"]
    plan: dict[str, Any] | None = None
    sql: str | None = None
    text: str | None = None
    suggestions: Annotated[list[str], FailFast()] = Field(default_factory=list)


_TEXT = {"type": "string"}
_PLAN_ITEMS: dict[str, dict[str, Any]] = {
    "group_by": {"anyOf": [_TEXT, {"type": "object"}]},
    "order_by": {
        "type": "object",
        "properties": {"expr": _TEXT, "dir": {"enum": ["asc", "desc"]}, "nulls": {"enum": ["first", "last"]}},
        "required": ["expr"],
        "additionalProperties": False,
    },
}
"""What the lists of a plan hold; objects otherwise."""
_NEEDED: dict[str, tuple[str, ...]] = {
    "plan": ("plan",), "sql": ("sql",), "ask_back": ("text", "suggestions"), "talk": ("text",), "analysis": ("text",),
}  # fmt: skip


def strict_reply_schema() -> dict[str, Any]:
    """One branch for each intent, with what it needs and nothing else: for servers that hold a model to a schema.

    OpenAI and Anthropic refuse branches at the top of a schema; their models get `reply_schema`.
    """
    whole = reply_schema()
    fields: dict[str, Any] = whole["properties"]
    fields["plan"] |= {"additionalProperties": False}
    branches = [
        {
            "type": "object",
            "properties": {"intent": {"const": intent}, **{name: fields[name] for name in needed}},
            "required": ["intent", *needed],
            "additionalProperties": False,
        }
        for intent, needed in _NEEDED.items()
    ]
    return {**whole, "properties": {"intent": fields["intent"]}, "anyOf": branches}


def reply_schema() -> dict[str, Any]:
    """The reply's form, open where a plan nests: the plan itself is judged by its own validator.

    What the fields mean is said in the prompt file.
    """
    fields = {name: dict(field) for name, field in _plan_fields().items()}
    text = dict(_TEXT)
    return {
        "title": REPLY,
        "type": "object",
        "properties": {
            "intent": {"type": "string", "enum": list(_INTENTS)},
            "plan": {"type": "object", "properties": fields, "required": ["table"]},
            "sql": text,
            "text": text,
            "suggestions": {"type": "array", "items": text},
        },
        "required": ["intent"],
    }


@cache
def _plan_fields() -> dict[str, dict[str, Any]]:
    # The chart is named by the words of the question: a model need not know of it.
    fields = plan_schema()["properties"].items()
    return {name: _shallow(name, field) for name, field in fields if name != "chart"}


def _shallow(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """A field's kind without what it may hold, which would be most of the published schema."""
    kinds = [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]
    kind = kinds[0].get("type") if len(kinds) == 1 else None
    made: dict[str, Any] = {"type": kind or "object"}
    if kind == "array":
        made["items"] = _PLAN_ITEMS.get(name, {"type": "object"})
    return made


def read_reply(said: ModelReply, dataset_id: str) -> Final | Problem:
    found = object_in(said.text)
    if isinstance(found, Problem):
        return found
    found = _in_form(found)
    if isinstance(found.get("plan"), str):
        inner = object_in(found["plan"])
        if isinstance(inner, Problem):
            return inner
        found = {**found, "plan": inner}
    try:
        reply = _Reply.model_validate(_without_nulls(found))
    except ValidationError as error:
        return _misshapen(error)
    return _proposal(reply, dataset_id)


def _in_form(found: dict[str, Any]) -> dict[str, Any]:
    """The fields of a reply where they belong: out of a wrapper, with an intent, a plan's own under `plan`."""
    while len(found) == 1 and isinstance(inner := found.get(next(iter(found))), dict):
        if next(iter(found)) not in _WRAPPERS:
            break
        found = inner
    intent = found.get("intent")
    if isinstance(intent, str):
        name = "_".join(re.findall(r"[a-z]+", intent.lower()))
        found = {**found, "intent": _INTENT_WORDS.get(name, name if name in _INTENTS else intent)}
    elif intent is None:
        found = {**found, "intent": next((name for name, field in _TELLING if found.get(field)), None)}
    if found["intent"] == "plan" and "plan" not in found:
        rest = {field: value for field, value in found.items() if field != "intent"}
        found = {"intent": "plan", "plan": rest} if rest.keys() & _PLAN_ONLY else found
    plan = found.get("plan")
    if isinstance(plan, list) and len(plan) == 1:
        plan = plan[0]
    while isinstance(plan, dict) and isinstance(plan.get("plan"), dict) and plan.keys() <= {"intent", "plan"}:
        plan = plan["plan"]
    return {**found, "plan": plan} if "plan" in found else found


def _proposal(reply: _Reply, dataset_id: str) -> Final | Problem:
    text = (reply.text or "").strip()[:_LONGEST_TEXT]
    suggestions = tuple(s.strip()[:200] for s in reply.suggestions if s.strip())[:4]
    if reply.intent == "plan":
        if not reply.plan:
            return unreadable("the reply has the intent `plan` but no `plan`")
        return PlanProposal({"dataset_id": dataset_id, **reply.plan})
    if reply.intent == "sql":
        if not (reply.sql or "").strip():
            return unreadable("the reply has the intent `sql` but no `sql`")
        return SqlProposal((reply.sql or "").strip())
    if reply.intent == "analysis":
        return AnalysisProposal(text)
    if not text:
        return unreadable(f"the reply has the intent {quote(reply.intent)} but no `text`")
    return AskBack(text, suggestions) if reply.intent == "ask_back" else Talk(text)


def _is_reply(found: dict[str, Any]) -> bool:
    return "intent" in found or found.keys() >= _WHOLE_PLAN


def without_thinking(text: str) -> str:
    return _THOUGHT.sub("", text).strip()


def object_in(
    text: str, is_whole: Callable[[dict[str, Any]], bool] = _is_reply, lists_as: str | None = None
) -> dict[str, Any] | Problem:
    """The one object of a text, alone, in a fence or between sentences.

    `is_whole` tells it from other objects between sentences; a bare list is taken for the field `lists_as`.
    """
    whole, text = text.strip(), without_thinking(text)
    if not text:
        return unreadable("the reply was empty")
    if len(text) > LONGEST_READ:
        return unreadable(f"the reply has {len(text):,} characters, more than {LONGEST_READ:,}")
    fenced = [inner.strip() for inner in _FENCE.findall(text)]
    # What looks like a thought may stand in one of the object's own texts.
    untouched = [whole] if whole.startswith("{") and len(whole) <= LONGEST_READ else []
    first_wrong: json.JSONDecodeError | None = None
    # A comma after the last item is the one slip that leaves no doubt about what was meant.
    whole_or_mended = [*untouched, text, *fenced]
    whole_or_mended += [mended for each in whole_or_mended if (mended := _without_last_commas(each)) != each]
    for candidate in whole_or_mended:
        try:
            found = parsed(candidate)
        except json.JSONDecodeError as error:
            first_wrong = first_wrong or (error if candidate.startswith("{") else None)
        except BadJson as error:
            return unreadable(f"the reply {error}")
        else:
            if isinstance(found, list) and lists_as is not None:
                return {lists_as: found}
            return found if isinstance(found, dict) else unreadable("the reply is JSON, but no object")
    return _object_between(text, is_whole) or _no_object(text, first_wrong)


def _without_last_commas(text: str) -> str:
    return _LAST_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text)


def _object_between(text: str, is_whole: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    starts = [match.start() for match in re.finditer(r"\{", text)][:_MOST_STARTS]
    end = -1
    for start in starts:
        if start < end:
            continue
        try:
            found, end = _DECODER.raw_decode(text, start)
            _check_values(found)
        except (json.JSONDecodeError, BadJson, RecursionError):
            continue
        if isinstance(found, dict) and is_whole(found):
            return found
    return None


class BadJson(ValueError):
    """JSON that nothing may be made of, said as what follows "the reply"."""


def parsed(text: str) -> Any:
    """JSON whose values any later step can hold. Raises BadJson, or JSONDecodeError for what is no JSON."""
    if text.count("[") + text.count("{") > MOST_VALUES:
        # Each of them is an object in memory before it can be counted otherwise.
        raise BadJson(_TOO_MANY)
    try:
        found = _DECODER.decode(text)
    except RecursionError:
        raise BadJson("is nested too deeply") from None
    _check_values(found)
    return found


def _check_values(found: Any) -> None:
    level, seen = [found], 0
    for _ in range(MOST_NESTING):
        level = [inner for node in level for inner in _inside(node)]
        seen += len(level)
        if seen > MOST_VALUES:
            raise BadJson(_TOO_MANY)
        if not level:
            return
    raise BadJson("is nested too deeply")


def _inside(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node
        yield from node.values()
    elif isinstance(node, list):
        yield from node
    elif isinstance(node, str) and not _sound(node):
        raise BadJson("holds a character that no text may hold (NUL, or half of a surrogate pair)")


def _sound(text: str) -> bool:
    if "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise BadJson("has a number with too many digits")
    return int(digits)


def _fraction(digits: str) -> float:
    if len(digits) > _MOST_DIGITS or not math.isfinite(number := float(digits)):
        raise BadJson("has a number beyond all bounds")
    return number


def _no_number(word: str) -> None:
    raise BadJson(f"has {word} where a number belongs")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_fraction, parse_constant=_no_number)


def _no_object(text: str, wrong: json.JSONDecodeError | None) -> Problem:
    if wrong is None and "{" not in text:
        return unreadable("the reply holds no JSON object")
    if wrong is None or wrong.pos >= len(wrong.doc.rstrip()) - 1 or wrong.msg.startswith("Unterminated"):
        return unreadable("the reply's JSON ends before it is complete")
    return unreadable(f"the reply is not JSON: {wrong.msg} (line {wrong.lineno}, column {wrong.colno})")


def _misshapen(error: ValidationError) -> Problem:
    wrong = []
    for each in error.errors():
        field = ".".join(map(str, each["loc"]))
        said = f"must be one of {', '.join(_INTENTS)}" if field == "intent" else each["msg"].lower()
        wrong.append(f"{quote(field)}: {said}")
    return unreadable("the reply does not have the given form: " + "; ".join(wrong))


def unreadable(message: str) -> Problem:
    return Problem(code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=_AGAIN)


def _without_nulls(value: Any) -> Any:
    """Models fill optional fields with null; a plan leaves them out."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
