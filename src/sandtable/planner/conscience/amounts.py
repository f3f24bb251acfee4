"""`how many hours`, `how many cartons`, `how much is the chair`: amounts that are not a count of rows.

A unit needs a measure in that unit; a thing needs a column of quantities. Neither is money, and neither is the row of
a table: those are counted.
"""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import closeness, names_column, names_table
from sandtable.planner.conscience.pieces import Piece, adds_codes
from sandtable.planner.conscience.quantities import is_converted
from sandtable.planner.conscience.units import Unit, unit_named, unit_of
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_measure, is_unique, label_of
from sandtable.planner.schema.entries import ColumnEntry

_SUMMARIES = frozenset({"sum", "avg", "median", "min", "max", "quantile"})
_ENDS = frozenset({"most", "least", "max", "maximum", "min", "minimum", "record"})
_ALL = frozenset("total all altogether overall sum summed combined added together".split())
_ONE_BY_ONE = frozenset(
    "take takes took taken last lasts wait waits spend spends stay stays need needs late early until till before "
    "after ahead a an old".split()
)
"""Words that refer to one row: its amount is averaged over the rows without `average` being said."""
_PERCENT = frozenset({"percent", "pct", "%", "percentage"})
_SHARES = frozenset({"percent", "share", "ratio"})
_AVERAGED = frozenset({"average", "avg", "mean", "median", "typically", "usually", "typical"})
_QUANTITIES = frozenset(
    stem(w) for w in "qty quantity quant units unit pieces pcs count cnt number num copies headcount".split()
)
_HERE = frozenset(stem(w) for w in "hand stock total line item sold in on of".split())
"""Words of such a column's name that a question may omit: `qty_on_hand`, `item_count`."""
_MONEY = frozenset(
    stem(w)
    for w in "price cost amount revenue total fee value sales net gross tax vat salary wage budget paid amt".split()
)
_MOST_BETWEEN = 2
"""Words between `how many` and the unit: `how many whole working days`."""


def amounts_asked(book: Ledger, end: int) -> list[int]:
    """The measures that `how many`, which ends here, can mean besides a count."""
    for at in range(end, min(end + _MOST_BETWEEN + 1, len(book.words))):
        word = book.words[at]
        if word.lower in _PERCENT:
            return [i for i in book.of_kind("measure", "order") if book.pieces[i].does & _SHARES]
        unit = unit_named(word.stem) if len(word.stem) > 1 else None
        if unit is not None and not _names_rows(book, at):
            return _in_unit(book, unit)
        if word.lower == "more" and at == end:
            return book.doing("difference", "change")
    return _quantities(book, end)


def _in_unit(book: Ledger, unit: Unit) -> list[int]:
    return [
        i for i in _amounts(book)
        if is_converted(book.pieces[i], unit) and _is_summed_as_said(book, book.pieces[i])
    ]  # fmt: skip


def _is_summed_as_said(book: Ledger, piece: Piece) -> bool:
    """Time that passes is averaged unless all of it is asked for, other amounts are summed unless one row's is."""
    said = {w.lower for w in book.words}
    averaged = bool(said & (_AVERAGED | _ONE_BY_ONE))
    if piece.does & {"min", "max"}:
        return bool(said & _ENDS) or any(w.endswith("est") for w in said)
    if "elapsed" in piece.does:
        return "sum" not in piece.does or bool(said & _ALL)
    return averaged or not piece.does & {"avg", "median"} or bool(piece.does & {"sum", "metric"})


def _amounts(book: Ledger) -> list[int]:
    """What is summed or averaged, and the numbers of a row that is looked up."""
    computed = [i for i in book.of_kind("measure", "order") if _is_computed(book.pieces[i])]
    passed = [i for i in book.of_kind("shape") if "elapsed" in book.pieces[i].does]
    if computed or passed or book.of_kind("measure"):
        return computed or passed
    return [i for i in book.of_kind("shape", "by") if any(is_measure(c) for c in book.pieces[i].columns)]


def _is_computed(piece: Piece) -> bool:
    return (
        bool(piece.does & (_SUMMARIES | {"metric"})) and not piece.does & {"share"} and not adds_codes(piece)
    )


def looked_up(book: Ledger) -> list[int]:
    """The numbers that are shown of one row: a condition names it, or an order picks it out."""
    if book.of_kind("measure") or not (_picks_one(book) or book.of_kind("limit")):
        return []
    return [i for i in book.of_kind("shape", "by") if any(is_measure(c) for c in book.pieces[i].columns)]


def _picks_one(book: Ledger) -> bool:
    return any(names_one(book, book.pieces[i]) for i in book.of_kind("where"))


def names_one(book: Ledger, piece: Piece) -> bool:
    """Whether a condition keeps one row alone: it names the label or the key of the table."""
    if piece.op != "=" or len(piece.columns) != 1 or len(piece.values) != 1:
        return False
    column = piece.columns[0]
    table = book.index.table(column.table)
    return table is not None and (label_of(table) is column or is_unique(column, table))


def _quantities(book: Ledger, end: int) -> list[int]:
    """`how many cartons did we sell`: a sum over a column of quantities, unless rows of a table are asked for."""
    if any(_names_rows(book, at) for at in range(end, min(end + 4, len(book.words)))):
        return []
    averaged = any(w.lower in _AVERAGED for w in book.words)
    wanted = {"sum"} | ({"avg", "median"} if averaged else set[str]())
    fitting = [i for i in _amounts(book) if book.pieces[i].does & wanted or book.pieces[i].kind == "shape"]
    return [
        i for i in fitting
        if any(_is_quantity(book, c) or _is_said(book, c) for c in book.pieces[i].columns)
        and not any(_is_money(c) for c in book.pieces[i].columns)
    ]  # fmt: skip


def _names_rows(book: Ledger, at: int) -> bool:
    """The word names the rows of a table, and is no value of a condition."""
    if any(book.pieces[i].kind == "where" and book.pieces[i].values for i in book.bound[at]):
        return False
    least = 0.7 if book.says(at) else 0.9
    return any(names_table(book.words[at].stem, table) >= least for table in book.index.tables)


def _is_quantity(book: Ledger, column: ColumnEntry) -> bool:
    """`qty`, or `qty_shipped` where shipping is mentioned."""
    if not column.numeric or unit_of(column) is not None or not set(column.stems) & _QUANTITIES:
        return False
    rest = set(column.stems) - _QUANTITIES - _HERE
    return all(any(closeness(word, part) >= 0.7 for word in book.stems) for part in rest)


def _is_said(book: Ledger, column: ColumnEntry) -> bool:
    """Called what the question says, and in no unit: `how many people did they invite` of a column of invitations."""
    if not is_measure(column) or unit_of(column) is not None:
        return False
    return any(book.says(at) and names_column(w.stem, column) >= 0.7 for at, w in enumerate(book.words))


def _is_money(column: ColumnEntry) -> bool:
    unit = unit_of(column)
    return (unit is not None and unit.kind == -1) or bool(set(column.stems) & _MONEY - _QUANTITIES)
