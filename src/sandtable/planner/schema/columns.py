"""The role of a column: label of a row, measure, year, identifier, yes or no."""

from __future__ import annotations

from sandtable.catalog.profile import Cell
from sandtable.catalog.units import split_unit
from sandtable.planner.language.vocabulary import WH_COLUMNS
from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry, TableEntry

_TRUE = frozenset({"yes", "y", "true", "t", "1"})
_FALSE = frozenset({"no", "n", "false", "f", "0"})
_ID = frozenset({"id", "number", "code", "key", "uuid", "sku", "index", "isbn"})
_CODES = frozenset(
    stem(w)
    for w in "code codes zip zipcode postcode postal isbn issn ean upc gtin phone fax telephone ssn iban bic serial "
    "vin barcode latitude longitude".split()
)
_RATES = frozenset(stem(word) for word in "rate share ratio percent pct percentage margin discount".split())
_LABEL = tuple(stem(w) for w in "name title label".split())
_YEAR = frozenset(stem(w) for w in "year season yr".split())
_EVENTS = frozenset(
    stem(w)
    for w in "first found founded opened open joined established elected built born birth debut introduced launched "
    "published released started ended since ascent inaugurated completed constructed discovered formed created".split()
)
_MANY_VALUES = 60
_RANKED = frozenset(stem(w) for w in "rank ranking position place pos standing".split())


def is_identifier(column: ColumnEntry) -> bool:
    """Numbers that name something: adding them up means nothing."""
    if column.numeric and column.measure is not None:
        return column.measure == "identifier"
    return column.stems[-1] in _ID or column.stems[0] == "id"


def is_code(column: ColumnEntry) -> bool:
    """Numbers that stand for something else, such as a place or a line: neither a sum nor an average means anything."""
    return is_identifier(column) or is_year(column) or (column.numeric and column.stems[-1] in _CODES)


def is_measure(column: ColumnEntry) -> bool:
    return column.numeric and not is_identifier(column) and not is_year(column)


def is_year(column: ColumnEntry) -> bool:
    """Whole numbers that are years."""
    if not column.numeric:
        return False
    if set(column.stems) & _YEAR and not set(column.stems) - _YEAR - {"releas", "birth", "build", "found"}:
        return _looks_like_years(column) is not False
    return (
        bool(set(column.stems) & (_YEAR | _EVENTS)) and not column.unit and _looks_like_years(column) is True
    )


def _looks_like_years(column: ColumnEntry) -> bool | None:
    if column.profile is None or column.profile.minimum is None or column.profile.maximum is None:
        return None
    try:
        low, high = float(column.profile.minimum), float(column.profile.maximum)
    except ValueError:
        return False
    return low >= 1400 and high <= 2100


def is_rank(column: ColumnEntry) -> bool:
    """The best has the smallest number."""
    return column.numeric and bool(set(column.stems) & _RANKED)


def is_unique(column: ColumnEntry, table: TableEntry) -> bool:
    """Whether each row has its own value."""
    if column.profile is None or not table.rows:
        return column.stems[-1] == "id" and column.position == 0
    profile = column.profile
    return (
        column.table == table.name
        and profile.distinct >= 0.98 * table.rows
        and profile.nulls <= 0.02 * table.rows
    )


def distinct_of(column: ColumnEntry) -> int | None:
    return column.profile.distinct if column.profile else None


def has_nulls(column: ColumnEntry) -> bool:
    return column.profile.nulls > 0 if column.profile else column.nullable


def label_of(table: TableEntry) -> ColumnEntry | None:
    """The column by which people call a row of this table."""
    texts = [c for c in table.columns if c.text]
    own = set(table.stems)
    for wanted in _LABEL:
        named = [c for c in texts if wanted in c.stems]
        if named:
            return min(named, key=lambda c: (len(set(c.stems) - own), c.position))
    alike = [c for c in texts if set(c.stems) & own and len(c.stems) == 1]
    if alike:
        return alike[0]
    unique = [c for c in texts if is_unique(c, table) and not is_identifier(c)]
    if unique:
        return unique[0]
    return next((c for c in table.columns if is_unique(c, table) and is_identifier(c)), None)


def key_of(table: TableEntry) -> ColumnEntry | None:
    return next((c for c in table.columns if is_unique(c, table) and is_identifier(c)), None)


def asked_by(word: str, table: TableEntry) -> ColumnEntry | None:
    """The column that `who`, `where` or `when` asks for."""
    wanted = [stem(w) for w in WH_COLUMNS.get(word, "").split()]
    fitting = [c for c in table.columns if word == "when" or not c.numeric]
    for name in wanted:
        alone = [c for c in fitting if name in c.stems and not set(c.stems) - {name, *_LABEL, "id", "full"}]
        if alone:
            return alone[0]
    for name in wanted:
        among = [c for c in fitting if name in c.stems]
        if among and word != "who":
            return among[0]
    if word == "when":
        return next((c for c in table.columns if c.temporal or is_year(c)), None)
    label = label_of(table) if word == "who" else None
    return None if label is not None and stem("date") in label.stems else label


def speaking_of(words: str, table: TableEntry) -> ColumnEntry | None:
    """The number or date that one of these words names, the first word that fits first."""
    dated = "date" in words.split()
    for wanted in words.split():
        fitting = [c for c in table.columns if stem(wanted) in c.stems and (c.numeric or c.temporal)]
        if dated:
            fitting = [c for c in fitting if c.temporal or is_year(c)]
        if fitting:
            return min(fitting, key=lambda c: (len(c.stems), c.position))
    if "date" in words.split():
        if table.time_column:
            return table.column(table.time_column)
        return next((c for c in table.columns if c.temporal or is_year(c)), None)
    return None


def is_varied(column: ColumnEntry) -> bool:
    """Too many different numbers to have a row for each."""
    if column.profile is None:
        return False
    rows = sum(v.count for v in column.profile.values) or column.profile.distinct
    return column.profile.distinct > _MANY_VALUES or (
        column.profile.distinct > 3 and column.profile.distinct > rows / 2
    )


def truth(column: ColumnEntry) -> tuple[Cell, Cell] | None:
    """The cells that mean yes and no in a column that holds nothing else."""
    if column.boolean:
        return True, False
    profile = column.profile
    if profile is None or not profile.complete or not 1 <= profile.distinct <= 2:
        return None
    yes: Cell = None
    no: Cell = None
    for counted in profile.values:
        spelled = str(counted.value).strip().lower()
        if spelled in _TRUE:
            yes = counted.value
        elif spelled in _FALSE:
            no = counted.value
        else:
            return None
    if yes is None or (column.numeric and profile.distinct != 2):
        return None
    return yes, no


def unit_of_numbers(column: ColumnEntry) -> str:
    """The unit of a column of numbers; `fraction` where 20 % is 0.2, `millions` where 5 million is 5.

    Empty when it is unknown.
    """
    if column.unit.lower() in {"fraction", "ratio", "share"}:
        return "fraction"
    most = column.profile.maximum if column.profile else None
    small = isinstance(most, int | float) and not isinstance(most, bool) and 0 < most <= 1
    if small and _RATES & set(column.stems):
        return "fraction"
    for scale in ("million", "thousand"):
        if scale in column.stems and not column.unit:
            return f"{scale}s"
    return column.unit or split_unit(column.name)[1]
