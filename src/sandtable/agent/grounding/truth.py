"""Whether a clause is true of the rows: one check for each form of `grammar`.

Invariant: strict. A superlative is accepted only if all rows are present or are sorted by that column; rows that
share a rank must all be named. A value must be given with its own row and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from sandtable.agent.grounding.facts import Facts, Rows
from sandtable.agent.grounding.grammar import Clause
from sandtable.agent.grounding.lexicon import MEASURE, MOST, MOVED, NAME, NOUN, PREPOSITION, TOP, VALUE
from sandtable.agent.grounding.numbers import Claim, bears_out, same
from sandtable.agent.grounding.reading import Token
from sandtable.wording.field import Field

_CHANGE = ("change", "difference", "growth", "delta")


def is_true(clause: Clause, facts: Facts) -> bool:
    match clause.form:
        case "values":
            return _values(clause, facts)
        case "extreme":
            return _extreme(clause, facts)
        case "compared":
            return _compared(clause, facts)
        case "moved":
            return _moved(clause, facts)
        case "listed":
            return _listed(clause, facts)
        case _:
            return False


def _values(clause: Clause, facts: Facts) -> bool:
    rows = _meant(clause, facts)
    if rows is None:
        return False
    beside = {token.start for token in clause.part("overall")}
    spoken = clause.part("what") or [token for token in clause.tokens if token.start not in beside]
    stated = list(_stated(spoken))
    if clause.part("noun") and clause.part("noun")[0].letter == NOUN:
        return len(stated) == 1 and _counts_rows(stated[0][0], clause, facts)
    about = column_of(clause, facts)
    says = all(_all_say(rows, about if c is None else c, claim, facts) for claim, c in stated)
    return bool(stated) and says and _overall(clause, facts, about)


def _counts_rows(claim: Claim, clause: Clause, facts: Facts) -> bool:
    """`There are 5 regions`: equal to the number of rows, all with different names."""
    named = [key for key in facts.result.fields if not key.measure]
    one_each = len(named) == 1 and facts.complete and not clause.part("lead") and not clause.part("tail")
    cells = {str(named[0].cell(row)) for row in facts.result.rows} if one_each else set[str]()
    return one_each and len(cells) == len(facts.result.rows) == claim.value and not claim.percent


def _extreme(clause: Clause, facts: Facts) -> bool:
    column, high = column_of(clause, facts), _claims_high(clause.tokens)
    measure = facts.measures.get(column) if column is not None else None
    among = _meant(clause, facts, without="who")
    if measure is None or high is None or among is None or not _only_keys(clause.part("who")):
        return False
    who = frozenset[int]().union(*_alternatives(clause.part("who"))) & among
    if not who or who != _ends(measure, among, facts, high):
        return False
    beside = [claim for part in ("inner", "outer") for claim, _ in _stated(clause.part(part))]
    named = [c for part in ("inner", "outer") for _, c in _stated(clause.part(part)) if c is not None]
    return (
        all(c == column for c in named)
        and all(_all_say(who, column, claim, facts) for claim in beside)
        and _overall(clause, facts, column)
        and _followed(clause, facts, measure, among, high)
    )


def _ends(measure: Field, among: Rows, facts: Facts, high: bool) -> Rows:
    """The rows at one end; none where that cannot be known."""
    numbers = {place: n for place in among if (n := measure.number(facts.result.rows[place])) is not None}
    if not facts.complete:
        whole = len(among) == len(facts.result.rows)
        if not whole or 0 not in numbers or not _in_order(measure, facts, high):
            return frozenset()
        return frozenset(place for place, number in numbers.items() if number == numbers[0])
    if len(numbers) < 2:
        return frozenset()
    end = max(numbers.values()) if high else min(numbers.values())
    ends = frozenset(place for place, number in numbers.items() if number == end)
    return ends if len(ends) < len(numbers) else frozenset()


def ends_of(facts: Facts) -> Rows:
    """The highest and the lowest rows of the column that an answer is about; of the first few rows, the first ones."""
    measure = facts.measures.get(facts.main) if facts.main is not None else None
    if measure is None:
        return frozenset()
    everything = frozenset(range(len(facts.result.rows)))
    return _ends(measure, everything, facts, True) | _ends(measure, everything, facts, False)


def _followed(clause: Clause, facts: Facts, measure: Field, among: Rows, high: bool) -> bool:
    """Who comes next, one after the other, each with its own value."""
    named = _valued(clause.part("followed"))
    if not named:
        return True
    places = _ranked(measure, among, facts, high)
    lead = len(_alternatives(clause.part("who")))
    for (rows, stated), place in zip(named, places[lead:], strict=False):
        if rows != {place} or not all(
            _all_say(rows, measure.index if c is None else c, v, facts) for v, c in stated
        ):
            return False
    return len(named) <= len(places) - lead


def _ranked(measure: Field, among: Rows, facts: Facts, high: bool = True) -> list[int]:
    """Rows from one end to the other; none where that is not known, or where two share a place."""
    numbers = {p: n for p in among if (n := measure.number(facts.result.rows[p])) is not None}
    known = facts.complete or _in_order(measure, facts, high)
    if len(set(numbers.values())) < len(numbers) or not known:
        return []
    return sorted(numbers, key=lambda place: numbers[place], reverse=high)


def _in_order(measure: Field, facts: Facts, high: bool) -> bool:
    """The rows are the first of all rows in this order."""
    order = facts.result.order
    return order is not None and order.field.index == measure.index and order.descending == high


def _compared(clause: Clause, facts: Facts) -> bool:
    one, other = _row(clause.part("who")), _row(clause.part("other"))
    column, high = column_of(clause, facts), _claims_high(clause.tokens)
    measure = facts.measures.get(column) if column is not None else None
    if measure is None or high is None or one is None or other is None or clause.part("lead"):
        return False
    first, second = (measure.number(facts.result.rows[place]) for place in (one, other))
    if first is None or second is None or not (first > second if high else first < second):
        return False
    sides = {one: ("inner", "outer", "third"), other: ("last", "end")}
    return all(
        _all_say(frozenset({place}), column, claim, facts)
        for place, parts in sides.items()
        for part in parts
        for claim, _ in _stated(clause.part(part))
    )


def _moved(clause: Clause, facts: Facts) -> bool:
    column = column_of(clause, facts)
    measure = facts.measures.get(column) if column is not None else None
    rises = _direction(clause.tokens, MOVED)
    if measure is None or rises is None:
        return False
    if clause.part("by"):
        return _moved_by(clause, facts, rises)
    return _moved_between(clause, facts, measure, rises)


def _moved_by(clause: Clause, facts: Facts, rises: bool) -> bool:
    """`North fell by 40`, where the one column of changes says -40."""
    place, claim = _row(clause.part("who")), clause.part("by")[0].claim
    changes = [m for m in facts.measures.values() if any(word in m.text.lower() for word in _CHANGE)]
    if place is None or claim is None or claim.value <= 0 or len(changes) != 1:
        return False
    return bears_out(changes[0], facts.result.rows[place], claim, lost=not rises)


def _moved_between(clause: Clause, facts: Facts, measure: Field, rises: bool) -> bool:
    times = [key for key in facts.result.fields if not key.measure and key.is_time]
    among = _meant(clause, facts)
    if len(times) != 1 or among is None or not facts.complete:
        return False
    # One row for each moment: with several, there is no one line to follow.
    dated = sorted((str(times[0].cell(facts.result.rows[p])), p) for p in among)
    line = [p for _, p in dated if measure.number(facts.result.rows[p]) is not None]
    if len({when for when, _ in dated}) < len(dated) or len(line) < 2:
        return False
    ends: list[int] = []
    for part, usual in (("since", line[0]), ("until", line[-1])):
        found = [p for p in line if p in clause.part(part)[0].rows] if clause.part(part) else [usual]
        if len(found) != 1:
            return False
        ends.append(found[0])
    values = [clause.part(part)[0].claim for part in ("first", "last")]
    start, end = (measure.number(facts.result.rows[p]) or Decimal(0) for p in ends)
    went = (end > start) is rises and start != end and line.index(ends[0]) < line.index(ends[1])
    said = zip(ends, values, strict=True)
    return (
        went
        and all(v is not None and bears_out(measure, facts.result.rows[p], v) for p, v in said)
        and _peak(clause, facts, measure, frozenset(line))
    )


def _peak(clause: Clause, facts: Facts, measure: Field, among: Rows) -> bool:
    if not clause.part("at"):
        return True
    high, place = _direction(clause.tokens, MOST), _row(clause.part("at"))
    if high is None or place is None or _ends(measure, among, facts, high) != {place}:
        return False
    claims = [claim for part in ("inner", "outer") for claim, _ in _stated(clause.part(part))]
    return all(bears_out(measure, facts.result.rows[place], claim) for claim in claims)


def _listed(clause: Clause, facts: Facts) -> bool:
    """All rows there are; of the first few, those in their order."""
    named = _valued(clause.part("followed"))
    column = column_of(clause, facts)
    one_key = sum(not key.measure for key in facts.result.fields) == 1
    if any(len(rows) != 1 for rows, _ in named) or clause.part("lead") or not one_key:
        return False
    if not _only_keys(clause.part("followed")):
        return False
    places = [next(iter(rows)) for rows, _ in named]
    if len(set(places)) < len(places):
        return False
    if not all(_all_say(rows, c if c is not None else column, v, facts) for rows, s in named for v, c in s):
        return False
    if not clause.part("top"):
        return facts.complete and len(places) == len(facts.result.rows)
    claim, measure = clause.part("top")[1].claim, facts.measures.get(column) if column is not None else None
    if measure is None or claim is None or claim.value != len(places):
        return False
    return places == _ranked(measure, frozenset(range(len(facts.result.rows))), facts)[: len(places)]


def _overall(clause: Clause, facts: Facts, column: int | None) -> bool:
    claims = [claim for claim, _ in _stated(clause.part("overall"))]
    known = facts.overall.get(column) if column is not None else None
    return not claims or (known is not None and all(same(claim, known) for claim in claims))


def _all_say(rows: Rows, column: int | None, claim: Claim, facts: Facts) -> bool:
    measure = facts.measures.get(
        column if column is not None else facts.main if facts.main is not None else -1
    )
    if measure is None or not rows:
        return False
    return all(bears_out(measure, facts.result.rows[place], claim) for place in rows)


def column_of(clause: Clause, facts: Facts) -> int | None:
    """The one column that a clause is about: the one that it names, else the one that the answer is about."""
    named = [token.columns for token in clause.tokens if token.letter == MEASURE]
    if not named:
        return facts.main
    common = frozenset.intersection(*named)
    if len(common) == 1:
        return next(iter(common))
    return facts.main if facts.main in common else None


def _stated(tokens: Sequence[Token]) -> Iterator[tuple[Claim, int | None]]:
    """Values with the column that is named beside them; -1 where that is not one."""
    for place, token in enumerate(tokens):
        if token.letter != VALUE or token.claim is None or (place and tokens[place - 1].letter == TOP):
            continue
        before = place - 1 - (place > 0 and tokens[place - 1].letter in (PREPOSITION, "w", "b", ":"))
        after = place + 1 + (place + 2 < len(tokens) and tokens[place + 1].letter == PREPOSITION)
        named = next(
            (
                tokens[at].columns
                for at in (before, after)
                if 0 <= at < len(tokens) and tokens[at].letter == MEASURE
            ),
            None,
        )
        yield token.claim, None if named is None else next(iter(named)) if len(named) == 1 else -1


def _valued(tokens: Sequence[Token]) -> list[tuple[Rows, list[tuple[Claim, int | None]]]]:
    """Each name of a list with the values that stand beside it."""
    made: list[tuple[Rows, list[Token]]] = []
    for token in tokens:
        if token.letter == NAME:
            made.append((token.rows, []))
        elif made and token.letter in (VALUE, MEASURE):
            made[-1][1].append(token)
    return [(rows, list(_stated(beside))) for rows, beside in made]


def _meant(clause: Clause, facts: Facts, without: str = "") -> Rows | None:
    """The rows that all names of a clause have in common; None when there are none."""
    rows: Rows = frozenset(range(len(facts.result.rows)))
    for part in ("lead", "who", "tail"):
        for token in clause.part(part) if part != without else ():
            if token.letter == NAME:
                rows &= token.rows
    return rows or None


def _alternatives(tokens: Sequence[Token]) -> list[Rows]:
    """The rows of each name in a list of names; names without a separator between them name one row together."""
    made: list[Rows] = []
    joins = False
    for token in tokens:
        if token.letter == NAME:
            made[-1:] = [made[-1] & token.rows] if joins and made else [*made[-1:], token.rows]
            joins = True
        elif token.letter != PREPOSITION:
            joins = False
    return made


def _row(tokens: Sequence[Token]) -> int | None:
    found = _alternatives(tokens)
    rows = found[0] if len(found) == 1 and _only_keys(tokens) else frozenset[int]()
    return next(iter(rows)) if len(rows) == 1 else None


def _only_keys(tokens: Sequence[Token]) -> bool:
    """Not what the whole question was limited to: of one country alone, nothing is the highest."""
    return not any(token.scope for token in tokens)


def _claims_high(tokens: Sequence[Token]) -> bool | None:
    found = {token.high for token in tokens if token.letter in (MOST, "L", "C", "A")}
    return found.pop() if len(found) == 1 else None


def _direction(tokens: Sequence[Token], letter: str) -> bool | None:
    found = {token.high for token in tokens if token.letter == letter}
    return found.pop() if len(found) == 1 else None
