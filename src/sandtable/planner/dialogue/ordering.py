"""`only the top 3`, `which one is highest?`, `the second one?`, `lowest first`: of the groups that are shown."""

from __future__ import annotations

import re

from sandtable.catalog.measures import bad_end
from sandtable.planner.conscience.naming import names_column
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import ASIDE, BAD_HIGH
from sandtable.planner.dialogue.edits import Edit, Sort, Top
from sandtable.planner.dialogue.message import Message
from sandtable.planner.dialogue.view import NAMED, View, name_of, order_key
from sandtable.planner.language.lexicon import NUMBER_WORDS
from sandtable.planner.language.vocabulary import LEAST, MOST, ROW_NOUNS
from sandtable.planner.language.words import Word

_NUMBER = rf"(?P<n>\d+|{'|'.join(NUMBER_WORDS)})"
_PLACES = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_SUPERLATIVE = (
    r"(?P<sup>top|best|first|highest|biggest|largest|greatest|most|bottom|worst|lowest|smallest|"
    r"least|fewest|last)"
)
_TOP = re.compile(
    rf"(?:show (?:me )?|give me )?(?:(?:only|just) )?(?:the |my |our )?(?:{_NUMBER} {_SUPERLATIVE}|"
    rf"{_SUPERLATIVE.replace('sup', 'sup2')}(?: {_NUMBER.replace('<n>', '<n2>')})?)"
    r"(?: common)?(?: (?:one|ones|of (?:these|those|them)))?(?P<noun> \w+)?(?: only)?"
)
_WHICH = re.compile(
    r"(?:in |at |on |for )?(?:which|what|who)(?: (?P<noun>\w+(?: \w+)?))? (?P<verb>is|are|was|were|has|have|"
    r"had|sold|sells|costs?|leads?|got|gets|made|makes|spends?|does|did|earned|earns)"
    rf"(?: (?:it|that|this))?(?: (?:the )?(?:{_SUPERLATIVE}|(?P<busy>busiest))(?P<rest>(?: \w+)*?))?(?: then)?"
)
_NTH = re.compile(
    rf"(?:the )?(?P<nth>{'|'.join(_PLACES)})(?: (?P<sup>most|best|worst|highest|lowest|biggest|largest|"
    rf"smallest|fewest))?(?: common| (?:one|place))*"
    rf"|who is in (?P<nth2>{'|'.join(_PLACES)}) place|which (?:one )?is (?P<nth3>{'|'.join(_PLACES)})"
)


def top(message: Message, view: View) -> Edit | None:
    if order_key(view) is None:
        return None
    nth = _NTH.fullmatch(message.text)
    if nth is not None:
        place = _PLACES[nth["nth"] or nth["nth2"] or nth["nth3"]]
        down = _direction(nth["sup"], view) if nth["sup"] else None
        if nth["nth2"] and not view.plan.get("order_by"):
            down = True
        return Edit(Top(None, down, place), message.places)
    return _top_few(message, view) or _top_one(message, view)


def _top_few(message: Message, view: View) -> Edit | None:
    found = _TOP.fullmatch(message.text)
    if found is None:
        return None
    word, number = found["sup"] or found["sup2"], found["n"] or found["n2"]
    noun = (found["noun"] or "").strip()
    wanted = [w for w in message.words if w.lower == noun and w.lower not in ASIDE]
    if wanted and not _names_groups(wanted[0], view):
        return None
    if not number and word in {"first", "last"}:
        return None
    count = 1 if number in {None, "one"} else int(number) if number.isdigit() else NUMBER_WORDS.get(number)
    down = None if word == "first" else _direction(word, view)
    if count is None or (down is None and word != "first") or word == "last":
        return None
    return Edit(Top(int(count), down), message.places)


def _names_groups(word: Word, view: View) -> bool:
    keyed = view.keys_named([word])
    tables = [view.index.table(c.table) for _, p in view.keys for c in p.columns]
    return (
        bool(keyed) or any(t is not None and word.stem in t.stems for t in tables) or word.stem in ROW_NOUNS
    )


def _top_one(message: Message, view: View) -> Edit | None:
    """`which one is highest?`, `which site has the most?`: of the groups that are shown."""
    found = _WHICH.fullmatch(message.text)
    if found is None:
        return None
    noun = (found["noun"] or "").split()
    words = [w for w in message.words if w.lower in noun and w.lower not in ASIDE]
    if any(not view.keys_named([w]) for w in words) or (not noun and not message.text.startswith("who")):
        return None
    rest = [w for w in message.words if w.lower in (found["rest"] or "").split() and w.lower not in ASIDE]
    if any(not _names_measure(w, view) for w in rest) or _names_another(rest, view):
        return None
    verb = next((w for w in message.words if w.lower == found["verb"] and w.lower not in ASIDE), None)
    if verb is not None and verb.stem in {"cost", "spend", "earn"} and not _names_measure(verb, view):
        return None
    word = found["sup"] or ("most" if found["busy"] or found["verb"].startswith("lead") else "")
    if word in {"", "first", "last"}:
        return None
    down = _direction(word, view)
    return None if down is None else Edit(Top(1, down), message.places)


def _names_measure(word: Word, view: View) -> bool:
    return any(_names(word, piece, view) for piece in view.measured)


def _names(word: Word, piece: Piece, view: View) -> bool:
    if any(names_column(word.stem, c) >= NAMED for c in piece.columns) or word.stem in piece.names:
        return True
    return "count" in piece.does and not piece.columns and view.names_rows(word)


def _names_another(words: list[Word], view: View) -> bool:
    """`the lowest score`, where the number of tickets comes first: not the measure that rows are ordered by."""
    named = {
        name_of(measure)
        for piece, measure in zip(view.measured, view.measures, strict=False)
        if any(_names(word, piece, view) for word in words)
    }
    return bool(named) and order_key(view) not in named


def _direction(word: str, view: View) -> bool | None:
    """Whether the highest come first; None where it is not known which end is the best."""
    if word not in {"best", "worst"}:
        return word in MOST or word in {"top", "first"} if word in MOST | LEAST | {"top", "bottom"} else None
    key = order_key(view)
    piece = next((p for p, m in zip(view.measured, view.measures, strict=False) if name_of(m) == key), None)
    column = next((c for c in piece.columns), None) if piece is not None else None
    bad = _bad_end(view, column.ref if column else "")
    if bad is None and column is not None and set(column.stems) & BAD_HIGH:
        bad = "high"
    if bad is None:
        return True if word == "best" else None
    return (bad == "low") == (word == "best")


def _bad_end(view: View, ref: str) -> str | None:
    table, _, name = ref.rpartition(".")
    declared = view.index.dataset.table(table) if table else None
    column = next((c for c in declared.columns if c.name == name), None) if declared else None
    return bad_end(column) if column is not None else None


_FIRST = re.compile(
    rf"(?:sort(?:ed)? |order(?:ed)? )?(?:it |them |that )?(?:by )?(?:the )?{_SUPERLATIVE} (?:first|on top|"
    rf"at the top|values? first|to (?:lowest|highest|smallest|largest|biggest))"
)
_MEASURE_FIRST = re.compile(
    rf"(?:the )?{_SUPERLATIVE} (?P<what>\w+(?: \w+)?) first|"
    rf"by (?P<what2>\w+) {_SUPERLATIVE.replace('sup', 'sup2')} first"
)
_NAMES = re.compile(
    r"(?:(?:sort|order)(?:ed)?(?: it| them| that)? )?(?:by name|alphabetical(?:ly)?(?: order)?|"
    r"in alphabetical order|a to z|by (?P<key>\w+(?: \w+)?) alphabetically)"
)


def sort(message: Message, view: View) -> Edit | None:
    found = _FIRST.fullmatch(message.text)
    if found is not None and order_key(view) is not None:
        down = _direction(found["sup"], view)
        return None if down is None else Edit(Sort(None, down), message.places)
    by_measure = _MEASURE_FIRST.fullmatch(message.text)
    if by_measure is not None and view.keys:
        word, what = by_measure["sup"] or by_measure["sup2"], by_measure["what"] or by_measure["what2"]
        return _sort_by_measure(message, view, word, what)
    named = _NAMES.fullmatch(message.text)
    if named is None or not view.keys or not view.measures:
        return None
    keys = [n for n, p in view.keys if "bucket" not in p.does]
    if named["key"]:
        words = [w for w in message.words if w.lower in named["key"].split()]
        keys = [k for k in keys if k in view.keys_named(words)]
    return Edit(Sort(keys[0], False), message.places) if keys else None


def _sort_by_measure(message: Message, view: View, word: str, what: str) -> Edit | None:
    """`highest fare first`: by the measure that is named, as it is shown."""
    words = [w for w in message.words if w.lower in what.split()]
    down = _direction(word, view)
    for piece, item in zip(view.measured, view.measures, strict=False):
        if any(names_column(w.stem, c) >= NAMED for w in words for c in piece.columns) and down is not None:
            return Edit(Sort(name_of(item), down), message.places)
    return None
