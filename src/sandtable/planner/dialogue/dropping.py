"""`remove the filter`, `for all regions again`, `not just March`: conditions of the previous plan that are removed."""

from __future__ import annotations

import re

from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import ASIDE
from sandtable.planner.dialogue.edits import Drop, Edit, Ungroup
from sandtable.planner.dialogue.message import Message
from sandtable.planner.dialogue.view import View
from sandtable.planner.language.lexicon import NUMBER_WORDS
from sandtable.planner.language.vocabulary import ROW_NOUNS
from sandtable.planner.language.words import Word

TOGETHER = re.compile(
    r"\b(?:together|combined|in one|as a whole|in total|sum|totals?|whole|entire|all in all)\b"
)
"""Words that ask for one number in place of several."""
_ALL_AGAIN = re.compile(
    r"(?:remove|drop|clear|forget|reset|undo|without|ignore) (?:the |that |this |all |any |"
    r"all the )?(?:filters?|conditions?|restrictions?)(?: again)?"
    r"|(?:all of (?:them|it)|everything|everyone|everybody|all)(?: again)?|(?:from )?(?:anywhere|everywhere)"
)
_NOT_ONLY = re.compile(
    r"(?:show me (?:all|every) \w+ )?(?:not (?:only|just)|"
    r"forget) (?:the )?(?P<what>[\w ]+?)(?: thing)?(?: (?:all of them|everybody|everyone|everything|"
    r"all))?(?: again)?"
)
_REGARDLESS = re.compile(
    r"(?:regardless of|whatever|no matter|independent of|with or without|any|ignore|ignoring|"
    r"forget(?: about)?|remove|drop|without) (?:the |an? |which |that )?(?P<what>[\w ]+?)(?: (?:filter|"
    r"condition|restriction|thing))?(?: again)?"
)
_ALL_OF = re.compile(
    r"(?:(?:for|on|in|over|from|at|of|to|by|with|include|including|show(?: me)?) )?(?:all|any|every|both|"
    r"each)(?: of)?(?: the)? (?P<what>[\w ]+?)(?: (?:again|now))*(?: not (?:only|just) (?P<not>[\w ]+))?"
)
_INCLUDED = re.compile(
    r"(?:with|including|include|add|plus) (?:the )?(?P<a>[\w -]+?)(?: ones)?(?: (?:again|too|as well|back|"
    r"back in))*"
    r"|(?:the )?(?P<b>[\w -]+?)(?: ones)? (?:included|too|as well|"
    r"back in)(?: again)?(?: (?:so )?(?:everyone|everything|everybody|all of them))?"
    r"|(?P<c>\w+) or not(?: all of them| everyone)?"
)
_DAYS = re.compile(r"(?:on )?all days(?: of the week)?(?: again)?")


def drop(message: Message, view: View) -> Edit | None:
    conditions = view.conditions
    if not conditions and "limit" not in view.plan:
        return None
    text = message.text
    if _ALL_AGAIN.fullmatch(text):
        filters = re.search(
            r"\b(?:filters|conditions|restrictions|all|everything|everyone|everybody)\b", text
        )
        only_one = len(conditions) == 1
        return _dropping(message, conditions) if conditions and (only_one or filters) else None
    limited = re.fullmatch(
        r"(?:show me )?all(?: the)? \w+ not (?:only|just) (?:the )?(?:top |first |best )?(\w+)", text
    )
    if limited and "limit" in view.plan:
        number = NUMBER_WORDS.get(limited[1]) or (int(limited[1]) if limited[1].isdigit() else None)
        return Edit(Drop((("limit",),)), message.places) if number == view.plan["limit"] else None
    if _DAYS.fullmatch(text):
        days = [p for p in conditions if p.does & {"day_of_week", "day_name"}]
        return _dropping(message, days) if days else None
    not_only = _NOT_ONLY.fullmatch(text)
    if not_only is not None:
        words = [w for w in message.words if w.lower in not_only["what"].split() and w.lower not in ASIDE]
        if times := view.windows_named(words):
            return _dropping(message, times)
    for pattern in (_NOT_ONLY, _REGARDLESS, _ALL_OF):
        found = pattern.fullmatch(text)
        if found is not None:
            return _drop_named(message, view, found["what"], whole=pattern is not _REGARDLESS)
    return _drop_excluded(message, view)


def _dropping(message: Message, pieces: list[Piece]) -> Edit:
    return Edit(Drop(tuple(p.path[:2] for p in pieces)), message.places)


def _drop_named(message: Message, view: View, what: str, *, whole: bool) -> Edit | None:
    """The conditions that are named; with a noun for the rows, the only one there is."""
    words = [w for w in message.words if w.lower in what.split() and w.lower not in ASIDE]
    named = view.conditions_named(words)
    if named:
        return _dropping(message, named)
    if view.keys_named(words) and not TOGETHER.search(message.text):
        if not whole and len(view.keys) >= 1 and view.measures:
            gone = view.keys_named(words)
            return Edit(Ungroup(tuple(n for n, _ in view.keys if n not in gone)), message.places)
        if view.conditions:
            return None
    noun_for_rows = bool(words) and all(_is_row_noun(w, view) for w in words)
    if whole and len(view.conditions) == 1 and (noun_for_rows or not words):
        return _dropping(message, view.conditions)
    return None


def _is_row_noun(word: Word, view: View) -> bool:
    return view.names_rows(word) or word.stem in ROW_NOUNS


def _drop_excluded(message: Message, view: View) -> Edit | None:
    """`with the cancelled ones again` after `without the cancelled ones`."""
    found = _INCLUDED.fullmatch(message.text)
    if found is None:
        return None
    what = found["a"] or found["b"] or found["c"]
    words = [w for w in message.words if w.lower in what.split() and w.lower not in ASIDE]
    named = [p for p in view.conditions_named(words) if p.negative or found["c"]]
    if named:
        return _dropping(message, named)
    everyone = re.search(r"\b(?:everyone|everything|everybody|all of them)\b", message.text)
    return _dropping(message, view.conditions) if everyone and len(view.conditions) == 1 else None
