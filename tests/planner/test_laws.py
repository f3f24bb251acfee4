"""Laws of the planner, whatever the words: it never fails, plans always fit, and the same question is the same plan."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex


def _column(name: str, kind: ColumnType, unit: str = "") -> Column:
    return Column(name=name, type=kind, sql_type=kind.value.upper(), unit=unit)


_VISITS = Table(
    name="visits",
    description="One row per visit.",
    file="visits.csv",
    sha256="0" * 64,
    rows=40,
    time_column="arrived_on",
    columns=(
        _column("visit_id", ColumnType.INTEGER),
        _column("arrived_on", ColumnType.DATE),
        _column("left_at", ColumnType.TIMESTAMP),
        _column("guest_name", ColumnType.TEXT),
        _column("room_type", ColumnType.TEXT),
        _column("hotel_id", ColumnType.INTEGER),
        _column("nights", ColumnType.INTEGER, "nights"),
        _column("price per night", ColumnType.DECIMAL, "EUR"),
        _column("cancelled", ColumnType.BOOLEAN),
        _column("total", ColumnType.FLOAT),
    ),
)
_HOTELS = Table(
    name="hotels",
    file="hotels.csv",
    sha256="1" * 64,
    rows=3,
    columns=(
        _column("hotel_id", ColumnType.INTEGER),
        _column("name", ColumnType.TEXT),
        _column("city", ColumnType.TEXT),
        _column("stars", ColumnType.INTEGER),
        _column("year", ColumnType.INTEGER),
    ),
)
_DATASET = Dataset(
    id="stays",
    tables=(_VISITS, _HOTELS),
    relationships=(
        Relationship(many_table="visits", many_column="hotel_id", one_table="hotels", one_column="hotel_id"),
    ),
    metrics=(Metric(name="occupancy", table="visits", numerator={"agg": "sum", "column": "nights"}),),
    as_of="2025-06-30",
    version="sha256:" + "2" * 64,
)


def _profile(name: str, values: tuple[str | int | bool, ...]) -> ColumnProfile:
    counted = tuple(ValueCount(value=v, count=3) for v in values)
    low, high = (min(values), max(values)) if values else (None, None)  # type: ignore[type-var]  # one type each
    return ColumnProfile(
        name=name, nulls=1, distinct=len(values), minimum=low, maximum=high, values=counted, complete=True
    )


_INDEX = SchemaIndex.build(
    _DATASET,
    Profile(
        version=_DATASET.version,
        tables=(
            TableProfile(
                name="visits",
                rows=40,
                columns=(
                    _profile("room_type", ("single", "double", "sea view suite")),
                    _profile("guest_name", ("Ada King", "Bo Li", "Cleo O'Hara")),
                    _profile("nights", (1, 2, 3, 14)),
                    _profile("cancelled", (False, True)),
                ),
            ),
            TableProfile(
                name="hotels",
                rows=3,
                columns=(
                    _profile("city", ("Porto", "New York", "Nice")),
                    _profile("year", (1990, 2004, 2015)),
                ),
            ),
        ),
    ),
)
_WORDS = (
    "how many|what|which|who|where|when|list|show|the|of|by|per|for each|in|with|without|and|or|not|except|top 3|"
    "bottom five|highest|lowest|most|least|most common|average|total|median|maximum|number of|share of|percentage of|"
    "are|were|is|more than|at least|under|between|and|10|2|2004|25%|3 nights|since June 2025|last 90 days|in 2024|"
    "this month|vs|last month|compared with|per month|weekly|which month|month over month|day of week|running total of|"
    "growth of|distribution of|outliers|unusual|ratio of|minus|divided by|sorted by|descending|highest first|distinct|"
    "missing|empty|no|never|visits|hotels|hotel|visit|guest|guests|name|room type|room types|nights|price per night|"
    "price|cancelled|total|city|stars|year|occupancy|arrived|left|single|double|sea view suite|Ada King|Porto|"
    "New York|Nice|true|false|expensive|cheapest|oldest|99th percentile of|p95|standard deviation of|"
    "difference between|correlation between|first|last|each|every|"
    "as a share of the total|?|,|'Porto'|\"Bo Li\"|-5|1,200|2k|€40|yesterday"
).split("|")
_QUESTIONS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=14).map(" ".join)


def _lawful(question: str, before: EarlierTurn | None = None) -> Understood | Unsure:
    outcome = plan_question(question, _INDEX, before)
    if isinstance(outcome, Understood):
        assert check_plan(parse_plan(outcome.plan), _DATASET) == [], (question, outcome.plan)
        assert 0 < outcome.confidence <= 1
    else:
        assert outcome.reason
        assert all(isinstance(s, str) and s for s in outcome.suggestions)
    return outcome


@settings(max_examples=100)
@given(_QUESTIONS)
def test_any_question_of_schema_words_gives_a_fitting_plan_or_a_reason(question: str) -> None:
    assert _lawful(question) == _lawful(question)


@settings(max_examples=60)
@given(_QUESTIONS, _QUESTIONS)
def test_any_follow_up_gives_a_fitting_plan_or_a_reason(first: str, second: str) -> None:
    before = plan_question(first, _INDEX)
    if isinstance(before, Understood):
        _lawful(second, EarlierTurn(first, before.plan))


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_any_text_is_survived(text: str) -> None:
    _lawful(text)


def test_a_very_long_text_is_turned_away() -> None:
    outcome = _lawful("revenue by region " * 1000)
    assert isinstance(outcome, Unsure) and "too long" in outcome.reason
