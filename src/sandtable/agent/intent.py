"""Classifies a message by readable rules: small talk, SQL, a question about the last answer, an order, or a question.

Invariant: pure. Only the kind of a message is decided here; whatever is not clearly of another kind is a question,
and goes to the proposer. Refusals here are only for politeness: the gate enforces the policy.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from sandtable.agent import phrases
from sandtable.agent.phrases import Back, Order, Talk
from sandtable.agent.sql_text import sql_in

LONGEST_QUESTION = 4_000
LONGEST_SQL = 256 << 10


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    wants_sql: bool = False


@dataclass(frozen=True, slots=True)
class PastedSql:
    sql: str


@dataclass(frozen=True, slots=True)
class SmallTalk:
    what: Talk


@dataclass(frozen=True, slots=True)
class LookBack:
    """About the exchange before: answered from the record."""

    what: Back


@dataclass(frozen=True, slots=True)
class Define:
    """The result before is to be known by this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Declined:
    what: Order


Intent = Question | PastedSql | SmallTalk | LookBack | Define | Declined


def intent_of(text: str, tables: Collection[str]) -> Intent:
    """`tables` are the names that SQL may read: the dataset's and those named in the conversation."""
    if len(text) > LONGEST_SQL:
        return Declined("too_long")
    bare = " ".join(text.replace("’", "'").split())
    if not re.search(r"\w", bare):
        return SmallTalk("help" if "?" in bare else "empty")
    sql = sql_in(text, tables)
    if sql is not None:
        return PastedSql(sql)
    if len(text) > LONGEST_QUESTION:
        return Declined("too_long")
    return _order(bare, tables) or _about_before(bare) or _talk(bare) or _question(bare)


def without_language(text: str) -> str | None:
    """A question without its request for Python; None when only Python can answer it."""
    bare = " ".join(text.replace("’", "'").split())
    asked = phrases.IN_PYTHON.sub("", bare).strip(" ,:;")
    if asked == bare or not re.search(r"\w", asked) or _order(asked, ()):
        return None
    return asked


def _order(text: str, tables: Collection[str]) -> Intent | None:
    for order, pattern in phrases.ORDERS:
        if pattern.search(text):
            return Declined(order)
    removed = phrases.REMOVAL.match(text)
    if removed and removed["what"].lower() in {name.lower() for name in tables}:
        return Declined("change")
    return None


def _about_before(text: str) -> Intent | None:
    naming = phrases.NAMING.match(text)
    if naming:
        return Define(naming["name"].strip(" .!\"'`“”"))
    asked = phrases.COURTESY.sub("", text)
    for back, pattern in phrases.LOOK_BACKS:
        if pattern.match(asked):
            return LookBack(back)
    return None


def _talk(text: str) -> Intent | None:
    for talk, pattern in phrases.TALKS:
        if pattern.match(text) or pattern.match(phrases.COURTESY.sub("", text)):
            return SmallTalk(talk)
    return None


def _question(text: str) -> Question:
    asked = phrases.HELLO.sub("", text) or text
    for pattern in phrases.WANTS_SQL:
        found = pattern.match(asked)
        if found:
            return Question(phrases.AND_RUN.sub("", found["question"]), wants_sql=True)
    return Question(asked)
