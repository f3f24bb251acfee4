"""Sentences that compare two columns of a row, or say whether a condition holds, with the evidence."""

from __future__ import annotations

from decimal import Decimal

from sandtable.plan.decomposing import ALL
from sandtable.wording.degrees import subject, verb
from sandtable.wording.field import Field, Row
from sandtable.wording.phrases import joined, sentence_start, shared
from sandtable.wording.result import Result

_NAMED = 6
_STRENGTHS = ((Decimal("0.1"), "practically none"), (Decimal("0.3"), "weak"), (Decimal("0.6"), "moderate"))


def change_of(result: Result) -> Field | None:
    """The column that says how one column of the row differs from another: what rows are ordered by, else the
    absolute difference."""
    found = [field for field in result.fields if field.earlier is not None and field.source is not None]
    if result.order is not None and result.order.field in found:
        return result.order.field
    return min(found, key=lambda field: field.unit == "fraction", default=None)


def changed(result: Result, change: Field) -> str:
    """One row: from what to what. Several: which rose and which fell most."""
    if len(result.rows) == 1:
        row = result.rows[0]
        who = f"for {result.label(row)}, " if result.keys else ""
        return sentence_start(f"{result.lead}{who}{_from_to(result, change, row)}.")
    valued = [(row, number) for row in result.rows if (number := change.number(row)) is not None]
    named = [(row, number) for row, number in valued if not result.is_nameless(row)] or valued
    if not named:
        return sentence_start(f"{result.lead}for none of the {result.noun} are both values known.")
    up, down = max(named, key=lambda pair: pair[1]), min(named, key=lambda pair: pair[1])
    ends = [*([up] if up[1] > 0 else []), *([down] if down[1] < 0 else [])]
    head = _head(result, change)[0]
    if not ends:
        return sentence_start(f"{result.lead}{head} did not change for any of the {result.noun}.")
    told = [
        f"{result.label(row)} {_moved(number)} most, {_step(result, change, row, dated=row is ends[0][0])}"
        for row, number in ends
    ]
    return sentence_start(f"{result.lead}{head}: {'; '.join(told)}.")


def _head(result: Result, change: Field) -> tuple[str, str, str]:
    """The words that both columns share, and the rest of each."""
    earlier, later = _sides(result, change)
    head, before, after = shared(earlier.text, later.text)
    return (head, before, after) if head else (later.text, earlier.text, later.text)


def _sides(result: Result, change: Field) -> tuple[Field, Field]:
    assert change.earlier is not None and change.source is not None
    return result.fields[change.earlier], result.fields[change.source]


def _from_to(result: Result, change: Field, row: Row) -> str:
    earlier, later = _sides(result, change)
    head, before, after = _head(result, change)
    number = change.number(row)
    if number is None:
        values = [f"{side.text} {side.show(row)}" for side in (earlier, later) if side.cell(row) is not None]
        return f"there is nothing to compare ({joined(values)})" if values else "there is nothing to compare"
    if head == later.text:
        than = {0: "the same as"}.get(int(number.compare(0)), "more than" if number > 0 else "less than")
        return f"{subject(later)} is {later.show(row)}, {than} {subject(earlier)} ({earlier.show(row)})"
    if number == 0:
        return f"{head} {verb(later)} the same {before} and {after}, {later.show(row)}"
    return (
        f"{head} {_moved(number)} from {earlier.show(row)} {before} to {later.show(row)} {after}"
        f"{_share(result, change, row)}"
    )


def _step(result: Result, change: Field, row: Row, *, dated: bool) -> str:
    """From what to what; `dated` says what each of them is."""
    earlier, later = _sides(result, change)
    head, before, after = _head(result, change)
    beside = (f" {before}", f" {after}") if dated and head != later.text else ("", "")
    return f"from {earlier.show(row)}{beside[0]} to {later.show(row)}{beside[1]}{_share(result, change, row)}"


def _share(result: Result, change: Field, row: Row) -> str:
    """The relative change, where the plan has it."""
    shares = [f for f in result.fields if f.earlier == change.earlier and f.source == change.source]
    share = next((f for f in shares if f.unit == "fraction" and f.number(row) is not None), None)
    if share is None:
        return ""
    shown = share.show(row)
    return f" ({shown if shown.startswith('−') else f'+{shown}'})"


def _moved(number: Decimal) -> str:
    return "rose" if number > 0 else "fell"


def caused(result: Result, measure: str, before: str, after: str) -> str:
    """How a measure changed, and in each dimension the member that contributed most to it."""
    named = {field.name: field for field in result.fields}
    earlier, later, part, share = (named[n] for n in ("before", "after", "contribution", "share_of_change"))
    whole = next((row for row in result.rows if named["dimension"].cell(row) == ALL), None)
    number = part.number(whole) if whole is not None else None
    head = f"{measure}, {before.removeprefix('in ')} against {after.removeprefix('in ')}"
    if whole is not None and number:
        head = (
            f"{measure} {_moved(number)} from {earlier.show(whole)} {before} to {later.show(whole)} {after}"
        )
    elif whole is not None and number == 0:
        head = f"{measure} is the same {before} and {after}, {later.show(whole)}"
    first: dict[str, Row] = {}
    for row in sorted(result.rows, key=lambda row: -(share.number(row) or Decimal(0))):
        if row is not whole and named["dimension"].cell(row) != ALL and share.number(row) is not None:
            first.setdefault(named["dimension"].show(row), row)
    told = [
        f"by {name.rpartition('.')[2].replace('_', ' ')}, {named['member'].name_of(row)} contributed most "
        f"({part.show(row)}, {share.show(row)} of the change)"
        for name, row in sorted(first.items())[:_NAMED]
    ]
    details = f" {sentence_start('; '.join(told))}." if told else ""
    return f"{sentence_start(f'{result.lead}{head}')}.{details}"


def truth_of(result: Result) -> Field | None:
    """The column that says whether the condition of the question holds."""
    return next((field for field in result.fields if field.derived == "holds"), None)


def held(result: Result, truth: Field) -> str:
    """Yes or no, with the evidence."""
    if len(result.rows) == 1:
        row = result.rows[0]
        shown = [_stated(f, row) for f in result.fields if f.measure and f is not truth]
        who = f"for {result.label(row)}, " if result.keys else ""
        evidence = (
            f"{who}{joined(shown[:_NAMED])}" if shown else f"{who}{truth.text.removeprefix('whether ')}"
        )
        return f"{_verdict(truth.cell(row))}: {result.lead}{evidence}."
    yes = [result.label(row) for row in result.rows if truth.cell(row) is True]
    head = f"it is so for {len(yes):,} of {len(result.rows):,} {result.noun}"
    if not yes or len(yes) == len(result.rows):
        head = f"it is so for {'all' if yes else 'none of the'} {len(result.rows):,} {result.noun}"
        return sentence_start(f"{result.lead}{head}.")
    names = f"{joined(yes)}" if len(yes) <= _NAMED else f"{', '.join(yes[:3])} and others"
    return sentence_start(f"{result.lead}{head}: {names}.")


def _stated(field: Field, row: Row) -> str:
    if field.cell(row) is None:
        return f"there is no {field.text}"
    return f"{subject(field)} {verb(field)} {field.show(row)}"


def _verdict(cell: object) -> str:
    return "Yes" if cell is True else "No" if cell is False else "That cannot be said"


def strength(correlation: Decimal) -> str:
    """How strong a correlation is, in a word."""
    size = abs(correlation)
    word = next((word for bound, word in _STRENGTHS if size < bound), "strong")
    if word == _STRENGTHS[0][1]:
        return word
    return f"{word} and {'positive' if correlation > 0 else 'negative'}"
