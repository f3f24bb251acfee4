"""The plan before, as the network reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.planner.candidates.network.fitting import plan_for
from sandtable.planner.candidates.network.inputs import BEFORE, SIZE, inputs_of
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.recalling import recall
from sandtable.planner.candidates.network.sketch import Item
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex
from training.reader.domains import Domain, read_domain
from training.reader.notation import read_sketch
from training.reader.prepare import VOCABULARY

DOMAINS = Path(__file__).resolve().parents[4] / "training" / "domains"


@pytest.fixture(scope="module")
def domain() -> Domain:
    return read_domain(DOMAINS / "airline_flights.txt")


@pytest.fixture(scope="module")
def index(domain: Domain) -> SchemaIndex:
    return SchemaIndex.build(domain.dataset, domain.profile)


def _plan(written: str, domain: Domain, index: SchemaIndex) -> Json:
    plan = plan_for(read_sketch(written, domain.dataset), index)
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("flights: origin, count()", "flights origin count"),
        (
            "flights: count() | where status = 'Operated' | time 2025-06",
            "flights count where status is operated time from 2025 06 01 to 2025 06 30",
        ),
        (
            "flights: tail_no, count() | having #2 > avg",
            "flights tail no count having second over avg second",
        ),
        ("flights: tail_no, count() | desc #2 | limit 3", "flights tail no count order desc second limit 3"),
        (
            "aircraft: tail_no | where exists flights (status = 'Cancelled')",
            "aircraft tail no where has flights status is cancelled",
        ),
        ("flights: share(status = 'Cancelled')", "flights count if status is cancelled per count"),
        ("flights: tail_no, count() | then avg(#2)", "flights tail no count then avg count"),
    ],
)
def test_a_plan_is_told_in_words(written: str, said: str, domain: Domain, index: SchemaIndex) -> None:
    told = recall(_plan(written, domain, index), index)
    assert " ".join(word for part in told for word in part.words) == said


def test_names_that_a_plan_gives_to_its_outputs_are_not_told(domain: Domain, index: SchemaIndex) -> None:
    plan = _plan("flights: origin, sum(seats_sold) | desc #2", domain, index)
    other = {
        **plan,
        "select": [plan["select"][0], {**plan["select"][1], "as": "anything"}],
        "order_by": [{"expr": "anything", "dir": "desc"}],
    }
    assert recall(plan, index) == recall(other, index)


def test_what_it_speaks_of_can_be_pointed_at(domain: Domain, index: SchemaIndex) -> None:
    plan = _plan(
        "flights: count() | where status = 'Operated', arr_delay_min > 45 | time 2024-Q1", domain, index
    )
    made = inputs_of("and by origin?", index, Pieces.load(VOCABULARY), plan)
    items = [placed.item for placed in made.items if made.parts[placed.start] == BEFORE]
    assert Item("value", "flights", "status", "Operated") in items
    assert Item("number", value=45.0) in items
    assert Item("window", value=(("from", "2024-01-01"), ("to", "2024-03-31"))) in items
    assert len(made.pieces) <= SIZE


@pytest.mark.parametrize("path", sorted(DOMAINS.glob("[a-c]*.txt")), ids=lambda path: path.stem)
def test_every_plan_of_a_domain_can_be_told(path: Path) -> None:
    domain = read_domain(path)
    index = SchemaIndex.build(domain.dataset, domain.profile)
    for asked in domain.asked:
        plan = plan_for(asked.sketch, index)
        assert plan is None or all(part.words for part in recall(plan, index))
