"""Questions that are made unanswerable, rows that are drawn for a domain, and what is judged on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandtable.planner.candidates.network.fitting import plan_for
from training.reader.domains import Domain, read_domain
from training.reader.example import Example
from training.reader.furnishing import relations_of
from training.reader.judging import Ground, ground_of
from training.reader.notation import read_sketch
from training.reader.unanswerable import NOTHING, estranged, lacking

DOMAINS = Path(__file__).resolve().parents[2] / "training" / "domains"


def examples_of(domain: Domain) -> list[Example]:
    return [
        Example("own", domain.dataset, domain.profile, wording, asked.sketch, False)
        for asked in domain.asked
        for wording in asked.wordings
    ]


@pytest.fixture(scope="module")
def shoes() -> Domain:
    return read_domain(DOMAINS / "shoe_shop_sales.txt")


def test_what_a_question_needs_is_not_there_any_more(shoes: Domain) -> None:
    asked = examples_of(shoes)
    made = list(lacking(asked, 1.0))
    assert len(made) > 20
    for each in made:
        gone = _columns(shoes) - {(t.name, c.name) for t in each.dataset.tables for c in t.columns}
        assert each.sketch == NOTHING and len(gone) == 1 and each.dataset.id != shoes.dataset.id
        sketches = [e.sketch for e in asked if e.question == each.question]
        assert any((getattr(t, "table", ""), getattr(t, "name", "")) in gone for s in sketches for t in s)


def _columns(domain: Domain) -> set[tuple[str, str]]:
    return {(t.name, c.name) for t in domain.dataset.tables for c in t.columns}


def test_a_word_of_another_dataset_stands_before_the_rows(shoes: Domain) -> None:
    others = examples_of(read_domain(DOMAINS / "airline_flights.txt"))
    mine = examples_of(shoes)
    made = [each for each in estranged([*mine, *others], 1.0) if each.dataset.id == shoes.dataset.id]
    asked = {each.question for each in mine}
    assert made
    for each in made:
        words = each.question.split(" ")
        assert each.sketch == NOTHING
        assert any(" ".join(words[:at] + words[at + 1 :]) in asked for at in range(len(words)))


def test_rows_keep_keys_references_and_listed_values(shoes: Domain) -> None:
    sketches = [each.sketch for each in shoes.asked]
    drawn = relations_of(shoes.dataset, shoes.profile, sketches, 0)
    assert drawn == relations_of(shoes.dataset, shoes.profile, sketches, 0)
    assert drawn != relations_of(shoes.dataset, shoes.profile, sketches, 1)
    cells = {(r.name, c): [row[at] for row in r.rows] for r in drawn for at, c in enumerate(r.columns)}
    for link in shoes.dataset.relationships:
        keys = cells[link.one_table, link.one_column]
        assert max(Counter(keys).values()) == 1
        assert set(cells[link.many_table, link.many_column]) - {None} <= set(keys)
    for table in shoes.profile.tables:
        for column in table.columns:
            listed = {each.value for each in column.values}
            assert listed <= set(cells[table.name, column.name])


def test_columns_that_are_asked_for_gaps_have_some(shoes: Domain) -> None:
    empty = replace(shoes.asked[0], sketch=_with_gap(shoes))
    sketches = [each.sketch for each in (*shoes.asked, empty)]
    drawn = relations_of(shoes.dataset, shoes.profile, sketches, 0)
    products = next(r for r in drawn if r.name == "products")
    assert None in [row[products.columns.index("category")] for row in products.rows]


def _with_gap(domain: Domain) -> tuple[Any, ...]:
    return read_sketch("products: count() | where category is null", domain.dataset)


@pytest.fixture(scope="module")
def ground(shoes: Domain) -> Ground:
    return ground_of(examples_of(shoes))


@pytest.mark.parametrize(
    ("sketch", "other", "right"),
    [
        ("sales: sum(amount)", "sales: sum(amount)", True),
        ("sales: sum(amount)", "sales: sum(discount)", False),
        ("stores: name | where city = 'Graz'", "stores: name, city | where city = 'Graz'", True),
        ("stores: name | where city = 'Graz'", "stores: name", False),
        ("sales: stores.name, sum(amount) | desc #2 | limit 1", "sales: stores.name, sum(amount)", False),
        ("sales: count() | where returned = true", "sales: count() if returned = true", True),
    ],
)
def test_a_plan_is_judged_by_what_it_gives(
    shoes: Domain, ground: Ground, sketch: str, other: str, right: bool
) -> None:
    asked = examples_of(shoes)[0]
    judge = ground.judge(replace(asked, sketch=read_sketch(sketch, shoes.dataset)))
    plan = plan_for(read_sketch(other, shoes.dataset), ground.index)
    assert plan is not None and judge(plan) is right


def test_nothing_answers_what_the_data_do_not_tell(shoes: Domain, ground: Ground) -> None:
    plan = plan_for(shoes.asked[0].sketch, ground.index)
    assert plan is not None
    assert not ground.judge(replace(examples_of(shoes)[0], sketch=NOTHING))(plan)
