"""Words of computing in another sense: `growth rate`, `spread over the week`, `does more X mean more Y`, `by cause`."""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.terms import CAUSES
from sandtable.planner.conscience.units import unit_of
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_measure

_REASONS = frozenset(stem(w) for w in "cause reason issue fault problem".split())
_SCORES = frozenset(stem(w) for w in "score rating star stars satisfaction nps grade points".split())
_RATES = frozenset({"rate", "rates"})
_FALLS = frozenset({"fall", "falls", "fell", "drop", "drops"})
_WHERE_TO = frozenset("in on under between due into to over for".split())
_SPREADS = frozenset({"spread", "divided", "distributed"})
_CORRELATED = frozenset("mean means increase increases rise raise drop grow change".split())


def reasons_shown(book: Ledger, at: int) -> list[int]:
    """A column of causes that the plan groups by or shows; after `because`, the cause that a condition has."""
    if book.lower(at) in CAUSES - {"because"}:
        shown = book.of_kind("by", "shape", "where")
        return [i for i in shown if any(set(c.stems) & _REASONS for c in book.pieces[i].columns)]
    after = {i for place in range(at + 1, min(at + 4, len(book.words))) for i in book.bound[place]}
    return [
        i for i in after
        if book.pieces[i].kind == "where" and any(set(c.stems) & _REASONS for c in book.pieces[i].columns)
    ]  # fmt: skip


def other_sense(book: Ledger, at: int) -> list[int]:
    """What a word of computing means where the plan does not compute it."""
    word, before, after = book.lower(at), book.lower(at - 1), book.lower(at + 1)
    if word in _RATES and before == "growth":
        return book.doing("change")
    if word in _RATES:
        # `how do they rate us`: the scores that they gave.
        scores = [
            i for i in book.of_kind("measure") if any(set(c.stems) & _SCORES for c in book.pieces[i].columns)
        ]
        return scores if after in {"us", "our", "the", "them", "it"} else []
    if word in _SPREADS and after in {"over", "of", "across", "between", "among", "into"}:
        return book.of_kind("by") if book.of_kind("measure") else []
    if (
        word in {"change", "changed", "changing"}
        and "over" in {after, book.lower(at + 2)}
        and book.lower(0) == "how"
    ):
        return book.doing("bucket")
    if word in _CORRELATED and (found := book.doing("correlation")):
        return found
    if word in _FALLS and after in _WHERE_TO:
        return book.where(lambda p: p.kind in {"when", "where", "by"})
    if word in {"differ", "differs"} and after == "from":
        return [
            i for i in book.of_kind("where") if book.pieces[i].compares_rows and book.pieces[i].op == "!="
        ]
    if word in {"differ", "differs"} and after in {"between", "by", "across", "per"}:
        return book.of_kind("by") if book.of_kind("measure") else []
    if word == "range" and before not in {"the", "of"} and at > 0:
        return sorted(i for i in book.bound[at - 1] if book.pieces[i].kind == "where")
    if word == "range" and {"min", "max"} <= {m for p in book.pieces for m in p.does}:
        return book.doing("min", "max")
    return []


def how_large(book: Ledger, much: str) -> list[int]:
    """`how far` of kilometres or between two amounts, `how big a share`, `how big is X` of one number of a row, `how
    fast is it growing`."""
    if much == "fast":
        return book.doing("change")
    if much == "far" and (apart := book.doing("difference")):
        return apart
    if much == "far":
        return book.where(
            lambda p: p.kind in {"measure", "shape"}
            and any((u := unit_of(c)) is not None and u.kind == 2 for c in p.columns)
        )  # fmt: skip
    measures = [
        i
        for i in book.of_kind("measure")
        if book.pieces[i].does & {"share", "avg", "median", "metric", "sum"}
    ]
    shown = [i for i in book.of_kind("shape") if any(is_measure(c) for c in book.pieces[i].columns)]
    return measures or (shown if len(shown) == 1 and book.of_kind("where") else [])
