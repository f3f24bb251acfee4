"""Stretches of time in a draft → its time window, filters on other dates, or two periods to compare."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Spot
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.times import TimePhrase
from sandtable.planner.schema.columns import is_year
from sandtable.planner.schema.entries import ColumnEntry, Json

_BESIDE = frozenset("in on at the was were is are been be , since from between a has have had".split())
_VERSUS = frozenset("vs versus against compared compare with to than and or , the in over from".split())
_COMPARATIVES = frozenset("higher lower more less fewer larger smaller greater bigger better worse".split())
_MOVED = frozenset(
    "grow grew grown rise rose risen increase increased fall fell fallen drop dropped decline declined "
    "decrease decreased shrink shrank".split()
)
_SPOKEN_VERSUS = frozenset("vs versus against compared compare than relative".split())


def settle_times(draft: Draft) -> None:
    phrases = [s for s in draft.phrases if _usable(draft, s)]
    if len(phrases) == 2 and _versus(draft, phrases[0], phrases[1]):
        _compare_periods(draft, phrases[0], phrases[1])
        return
    if len(phrases) == 1 and _moved(draft, phrases[0]):
        _year_by_year(draft, phrases[0])
        return
    for phrase in phrases:
        _apply(draft, phrase)


def _usable(draft: Draft, phrase: TimePhrase) -> bool:
    """A stretch of time for which there is a column; its words are freed otherwise."""
    if default_time(draft) is not None or year_column(draft, phrase) is not None:
        return True
    for at in range(phrase.start, phrase.end):
        draft.reading.owner[at] = FREE
    draft.phrases = [s for s in draft.phrases if s is not phrase]
    return False


def default_time(draft: Draft) -> ColumnEntry | None:
    """The column that time means when the question does not say."""
    for name in sorted(draft.reach, key=lambda n: draft.reach[n]):
        table = draft.index.table(name)
        if table is None:
            continue
        if table.time_column:
            return table.column(table.time_column)
        found = next((c for c in table.columns if c.temporal), None)
        if found:
            return found
    return None


def year_column(draft: Draft, phrase: TimePhrase) -> ColumnEntry | None:
    if phrase.years is None:
        return None
    return next((c for c in draft.home.columns if is_year(c)), None)


def _beside(draft: Draft, phrase: TimePhrase) -> ColumnEntry | None:
    """A date column said just before the time: `delivered in May`, `hired after 2015`."""
    for spot in (draft.before(phrase.start, _BESIDE), draft.after(phrase.end, frozenset({"the"}), 1)):
        if spot is None or not spot.open:
            continue
        for column in spot.options or _event(draft, spot):
            if column.temporal or (is_year(column) and phrase.years is not None):
                spot.role, spot.chosen = "time", column
                return column
    return None


def _event(draft: Draft, spot: Spot) -> list[ColumnEntry]:
    """`delivered in May` is about the date of delivery, even where `delivered` is a status too."""
    said = draft.reading.words[spot.start].stem if spot.end == spot.start + 1 else ""
    return [c for c in draft.home.columns if c.temporal and said in c.stems]


def _apply(draft: Draft, phrase: TimePhrase) -> None:
    column = _beside(draft, phrase) or default_time(draft) or year_column(draft, phrase)
    assert column is not None
    if is_year(column):
        _apply_years(draft, phrase, column)
        return
    usual = column is default_time(draft)
    if draft.time is None:
        declared = usual and column.table == draft.home.name and draft.home.time_column == column.name
        draft.time = dict(phrase.window) if declared else {"column": draft.ref(column), **phrase.window}
        draft.used.append(
            f'"{draft.reading.written(phrase.start, phrase.end)}" read as {_spoken(draft, column)}'
        )
        return
    draft.conditions.extend(
        Condition(phrase.start, phrase.end, leaf, column) for leaf in _leaves(draft, column, phrase)
    )


def _apply_years(draft: Draft, phrase: TimePhrase, column: ColumnEntry) -> None:
    assert phrase.years is not None
    low, high = phrase.years
    ref = draft.ref(column)
    if low != high:
        leaf: Json = {"column": ref, "op": "between", "value": [low, high]}
        draft.conditions.append(Condition(phrase.start, phrase.end, leaf, column))
        return
    op = {"from": ">=", "after": ">", "before": "<", "to": "<="}.get(phrase.bound, "=")
    leaf = {"column": ref, "op": op, "value": low}
    draft.conditions.append(
        Condition(phrase.start, phrase.end, leaf, column, value=low if op == "=" else None)
    )


def _spoken(draft: Draft, column: ColumnEntry) -> str:
    window = draft.time or {}
    if "last" in window:
        return f"{column.name} in the last {window['last']} {window['unit']}s"
    if "period" in window:
        year = "fiscal year" if window["period"] == "fiscal_ytd" else "year"
        return f"{column.name} in the {year} to date"
    ends = [f"{word} {window[key]}" for key, word in (("from", "from"), ("to", "to")) if key in window]
    return f"{column.name} {' '.join(ends)}"


def _leaves(draft: Draft, column: ColumnEntry, phrase: TimePhrase) -> list[Json]:
    ref = draft.ref(column)
    leaves: list[Json] = []
    if "from" in phrase.window:
        leaves.append({"column": ref, "op": ">=", "value": phrase.window["from"]})
    if "to" in phrase.window:
        leaves.append({"column": ref, "op": "<=", "value": phrase.window["to"]})
    return leaves


def _versus(draft: Draft, a: TimePhrase, b: TimePhrase) -> bool:
    """`2025 compared with 2024`, `this month vs last month`."""
    if a.bound != "in" or b.bound != "in" or a.period is None or b.period is None:
        return False
    between = [draft.reading.lower(i) for i in range(a.end, b.start)]
    line = set(draft.reading.line.split())
    said = bool(line & _SPOKEN_VERSUS) or bool(line & {"difference", "differ", "change", "changed"})
    return said and len(between) <= 4 and all(w in _VERSUS or w in _COMPARATIVES for w in between)


def _moved(draft: Draft, phrase: TimePhrase) -> bool:
    """`did revenue grow from 2024 to 2025`: one year against the other, not both together."""
    several = phrase.bound == "in" and phrase.years is not None and phrase.years[0] < phrase.years[1]
    return several and bool(_MOVED & set(draft.reading.line.split())) and default_time(draft) is not None


def _year_by_year(draft: Draft, phrase: TimePhrase) -> None:
    draft.comparing = True
    _apply(draft, phrase)
    draft.bucket = Bucket(phrase.start, phrase.end, "year", change=True)
    draft.bucket_column = default_time(draft)


def _compare_periods(draft: Draft, a: TimePhrase, b: TimePhrase) -> None:
    assert a.period is not None and b.period is not None
    draft.comparing = True
    column = default_time(draft)
    years = year_column(draft, a) if a.years and b.years else None
    if column is None:
        assert years is not None
        leaf = {"column": years.name, "op": "in", "value": sorted({a.period.first.year, b.period.first.year})}
        draft.conditions.append(Condition(a.start, b.end, leaf, years))
        draft.groups.append(years)
        return
    unit = a.period.unit if a.period.unit == b.period.unit else "month"
    unit = (
        unit
        if unit in {"day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year"}
        else "month"
    )
    draft.bucket = Bucket(a.start, b.end, unit, change=True)
    draft.bucket_column = column
    whole = a.period.joined(b.period)
    gap = (max(a.period.first, b.period.first) - min(a.period.last, b.period.last)).days
    declared = column.table == draft.home.name and draft.home.time_column == column.name
    window: Json = dict(whole.window)
    draft.time = window if declared else {"column": draft.ref(column), **window}
    if gap > 1:
        draft.compared = [{"any": [{"all": _leaves(draft, column, s)} for s in (a, b)]}]
