"""Phrases that ask for an edit by themselves: shares, the total, the change, the rows, the days.

`RULES` in their order; the first that fits the whole message decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandtable.planner.conscience.terms import ASIDE
from sandtable.planner.dialogue.dropping import TOGETHER, drop
from sandtable.planner.dialogue.edits import (
    Along,
    Count,
    Edit,
    Narrow,
    Rows,
    Share,
    Ungroup,
)
from sandtable.planner.dialogue.message import Message
from sandtable.planner.dialogue.ordering import sort, top
from sandtable.planner.dialogue.view import View, time_key
from sandtable.planner.language.vocabulary import ROW_NOUNS
from sandtable.planner.schema.columns import is_year

Rule = Callable[[Message, View], Edit | None]

_SHOW = (
    r"(?:(?:can (?:you|i|we) )?(?:show|make|draw|plot|put|turn|give|display|do|see|have|get|use|"
    r"switch to|change)(?: me)?(?: (?:it|that|this|them))? )?"
)
_OF_ALL = (
    r"(?: of (?:the |our |all )?(?:total|whole|everything|all|overall)| of (?:all|our)(?: (?:the|"
    r"our))?(?: \w+){1,3})"
)
SHARE = re.compile(
    rf"(?:only the (?:counts?|numbers?) but )?(?:{_SHOW})?(?:as|in|into) (?:an? )?(?:percent(?:age)?s?|%|"
    rf"shares?|proportions?|fractions?)"
    rf"(?:{_OF_ALL})?(?: instead| each)?"
    rf"|(?:what|which|how much|how many|that's how much|that's how many|what's that in|how much is that in|"
    rf"whats that in|what is that in)"
    rf" (?:is the |the )?(?:percent(?:age)?|share|proportion|%)"
    rf"(?:{_OF_ALL})?(?: (?:is|are|was|were|does|do) (?:that|this|it|those|they|each|these)(?: have|"
    rf" make(?: up)?)?)?(?:{_OF_ALL})?"
    rf"|of the (?:total|whole)(?: in (?:percent|%))?|(?:the )?(?:share|percentage|"
    rf"percent) of (?:the )?(?:total|whole)"
    r"|percentages?|shares?"
)
_TOTAL = re.compile(
    r"(?:(?:so |and )?(?:how (?:many|much)(?: \w+)? (?:is|are|was|were) (?:that|it|they|those|this)|"
    r"that's how (?:many|much)|the same|same|"
    r"what's (?:the|it|that)|what is (?:the|it|that)|whats the|just the|only the|give me the|"
    r"show (?:me )?the|the|sum|and) )?"
    r"(?:in total|overall(?: (?P<agg>averages?|totals?|sums?|number|figure))?|altogether|all together|"
    r"together|all in all|totals?|grand totals?|"
    r"(?:for|over|across) everyone(?: together)?|over the whole period|no split(?: at all)?|without (?:the |"
    r"any )?(?:split|splitting|grouping|breakdown)|"
    r"overall without splitting|all in one(?: line| number)?|as a whole|for everything)"
)
_WHOLE = re.compile(
    r"(?:the same |same |and |sum |totals? )?(?:(?:for|over|across|on|in|of|by) )?(?:(?:the |our )?whole|"
    r"the entire|all|every)(?: the| our)? (?P<noun>\w+(?: \w+)?)"
    r"(?: (?:together|combined|in one(?: line| number)?|as a whole|in total))?|"
    r"(?:and )?for the (?P<one>\w+) as a whole"
)
_UNIT = r"(?:day|week|month|quarter|year)s?"
ALONG = re.compile(
    rf"(?:(?:what's|whats|what is|what was|show me|show|give me|how did|how does|how much did|how much does|"
    rf"by how much did|by how much does|"
    rf"how does it develop|how much)(?: the)?(?: (?:it|that|this|they))? )*(?:the )?(?:percent(?:age)? )?"
    rf"(?:(?:changes?|differences?|growth|grow|develop|more or less than)(?: (?:is|was|did|does|it|that))*"
    rf"(?: (?:change|from|between|to|per|each|every|by|over|on|vs|versus|the|one|previous|prior|last|next|"
    rf"{_UNIT}|before|and|of|against))*"
    rf"|{_UNIT} (?:to|over|on|by) {_UNIT} (?:change|difference|growth)s?)(?: in percent| in %)?"
)
_ROWS = re.compile(
    r"(?:can (?:you|i) )?(?:please )?(?:list|show|see|give)(?: me)?(?: (?:them|those|these|it))?(?: (?:all|"
    r"all of them))?"
    r"|(?:show|list|give|see|can i see)(?: me)? (?:the |all (?:the )?|those |these )?(?:single |individual |"
    r"underlying |raw )?(?:rows|records|entries|details?|list)"
    r"|which (?:ones )?(?:are|were) (?:they|those|these|that)|which ones"
)
_COUNT = re.compile(
    r"(?:so )?how many(?: \w+)?(?: (?:is|are|was|were)) (?:that|they|those|these|it)(?: (?:in total|altogether))?"
    r"|how many(?: are there)?(?: in total)?|that's how many(?: in total)?|count them"
)


def share(message: Message, view: View) -> Edit | None:
    if not SHARE.fullmatch(message.text) or not view.measures:
        return None
    conditions = view.conditions
    if (
        not view.keys
        and len(conditions) > 1
        and not re.search(r"\b(?:all|total|everything|whole)\b", message.text)
    ):
        # Which of the conditions define the whole? The message must say so.
        return None
    return Edit(Share(), message.places)


def along(message: Message, view: View) -> Edit | None:
    key = time_key(view)
    if key is None or not ALONG.fullmatch(message.text):
        return None
    units = [w.stem for w in message.words if re.fullmatch(_UNIT, w.lower)]
    piece = dict(view.keys)[key]
    fits = all(
        u in piece.does or any(u in c.stems or (u == "year" and is_year(c)) for c in piece.columns)
        for u in units
    )
    return Edit(Along("percent" in message.text or "%" in message.text), message.places) if fits else None


def total(message: Message, view: View) -> Edit | None:
    if not view.keys or not view.measures:
        return None
    found = _TOTAL.fullmatch(message.text)
    if found is not None and _fits_total(message, view):
        return Edit(Ungroup(), message.places)
    without = _without_keys(message, view)
    if without is not None:
        return without
    whole = _WHOLE.fullmatch(message.text)
    if whole is None or not TOGETHER.search(message.text):
        return None
    words = [w for w in message.words if w.lower in (whole["noun"] or whole["one"] or "").split()]
    if view.conditions_named(words):
        return None
    named = view.keys_named(words)
    if len(view.keys) == 1 or not named:
        return Edit(Ungroup(), message.places)
    return Edit(Ungroup(tuple(n for n, _ in view.keys if n not in named)), message.places)


def _fits_total(message: Message, view: View) -> bool:
    """An average has no total; it has an overall value."""
    averaged = view.measures[0].get("agg") in {"avg", "median", "min", "max"}
    said = re.search(r"\b(?:(?<!in )totals?|sums?)\b", message.text)
    other = re.search(r"\baverages?\b", message.text)
    return not (averaged and said) and not (other and not averaged)


_SPLIT = re.compile(
    r"(?:back to (?:just )?)?(?:(?:the same|same|same comparison|just|"
    r"only)(?: but)? )?(?:(?:the )?(?P<before>\w+) )?"
    r"(?:without|not|no longer|remove|drop|take out|leave out)(?: splitting| split| the split|"
    r" grouping)?(?: by| per)?(?: the)? (?P<gone>\w+(?: \w+)?)(?: (?:only|just) (?:by|"
    r"per) (?P<kept>\w+(?: \w+)?))?"
    r"|(?:only|just) (?:by|per) (?P<only>\w+(?: \w+)?)"
)


def _without_keys(message: Message, view: View) -> Edit | None:
    found = _SPLIT.fullmatch(message.text)
    if found is None:
        return None
    gone = _keys_of(found["gone"], message, view)
    kept = _keys_of(found["only"] or found["kept"] or found["before"], message, view)
    names = [n for n, _ in view.keys]
    if found["gone"] and not gone:
        return None
    if found["only"] and (not kept or len(names) < 2):
        return None
    if kept and gone and set(kept) & set(gone):
        return None
    left = tuple(n for n in names if n not in gone) if gone else tuple(kept)
    return Edit(Ungroup(left), message.places) if len(left) < len(names) else None


def _keys_of(text: str | None, message: Message, view: View) -> list[str]:
    words = [w for w in message.words if text is not None and w.lower in text.split()]
    values = [p for p in view.conditions if view.conditions_named(words)]
    return [] if values else view.keys_named(words)


def rows(message: Message, view: View) -> Edit | None:
    if _ROWS.fullmatch(message.text) and message.text not in {"list", "show", "see", "give"}:
        return Edit(Rows(), message.places)
    return None


def count(message: Message, view: View) -> Edit | None:
    found = _COUNT.fullmatch(message.text)
    if found is None or view.keys:
        return None
    nouns = [w for w in message.words if w.lower not in ASIDE and w.stem not in ROW_NOUNS]
    if all(view.names_rows(w) for w in nouns if w.lower not in {"that's", "altogether"}):
        return Edit(Count(), message.places)
    return None


_WEEK = {
    day: at for at, day in enumerate("monday tuesday wednesday thursday friday saturday sunday".split(), 1)
}
_ON_DAYS = re.compile(
    r"(?:what about |how about )?(?P<not>(?:without|excluding|except|no|not)(?: the| on)? )?(?:(?:only|"
    r"just) )?(?:on |at |during )?(?:the )?"
    rf"(?P<day>weekends?|weekdays?|workdays?|working days|{'|'.join(_WEEK)})(?P<s>s)?(?: only)?"
)


def weekdays(message: Message, view: View) -> Edit | None:
    found = _ON_DAYS.fullmatch(message.text)
    if found is None or view.time_column is None or view.index.find_value(found["day"]):
        return None
    day = found["day"]
    chosen = [6, 7] if day.startswith("weekend") else [_WEEK[day]] if day in _WEEK else [1, 2, 3, 4, 5]
    if found["not"]:
        chosen = [d for d in range(1, 8) if d not in chosen]
    leaf = {"of": {"bucket": "day_of_week", "column": view.time_column}, "op": "in", "value": chosen}
    return Edit(Narrow((leaf,)), message.places)


RULES: tuple[Rule, ...] = (share, along, total, weekdays, drop, top, sort, rows, count)


def is_alone(text: str) -> bool:
    """`as percentages`, `in total`: phrases that say nothing without an answer before them."""
    patterns = (SHARE, ALONG, _TOTAL, _COUNT, _ROWS)
    return any(pattern.fullmatch(text) for pattern in patterns)


def phrase_edit(message: Message, view: View) -> Edit | None:
    return next((edit for rule in RULES if (edit := rule(message, view)) is not None), None)
