"""Our own training domains: every sketch can be read, and is a plan that fits its dataset."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from sandtable.errors import InvalidInput
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import DAY_NAMES, REFERENCES, SMALL, WORDS
from training.reader.domains import read_domain
from training.reader.notation import NotationError, read_sketch

DOMAINS = Path(__file__).resolve().parents[2] / "training" / "domains"
FILES = sorted(DOMAINS.glob("*.txt"))
_domain = cache(read_domain)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_sketch_is_a_plan_that_fits(path: Path) -> None:
    domain = _domain(path)
    assert domain.refused == ()
    problems: list[str] = []
    for asked in domain.asked:
        if not asked.wordings:
            problems.append(f"{path.name}:{asked.line}: no wording")
        plan = plan_of(asked.sketch, domain.dataset.id)
        if plan is None:
            assert asked.sketch == ("none",)
            continue
        try:
            problems += [
                f"{path.name}:{asked.line}: {each.message}"
                for each in check_plan(parse_plan(plan), domain.dataset)
            ]
        except InvalidInput as error:
            problems.append(f"{path.name}:{asked.line}: {error}")
    assert problems == []


def test_there_are_at_least_1500_questions_over_many_datasets_and_every_construction() -> None:
    domains = [_domain(path) for path in FILES]
    assert sum(len(domain.asked) for domain in domains) >= 1500
    assert len(domains) >= 50
    used = Counter(t for d in domains for a in d.asked for t in a.sketch if isinstance(t, str))
    few = {*DAY_NAMES, *SMALL, *REFERENCES, "hour", "over", "p50", "p99", "plus"}
    assert set(WORDS) - used.keys() <= few


@pytest.mark.parametrize(
    ("sketch", "said"),
    [
        ("rides count()", "begins with TABLE"),
        ("nothing: count()", "no table"),
        ("{table}: sum(nothing)", "no column"),
        ("{table}: count() | limit x", "no number"),
        ("{table}: count() | time someday", "no time window"),
        ("{table}: count() | group x", "no part"),
        ("{table}: count() | limit 3 | where x = 1", "too late"),
        ("{table}: frobnicate(x)", "no measure"),
    ],
)
def test_what_cannot_be_read_says_why(sketch: str, said: str) -> None:
    dataset = _domain(FILES[0]).dataset
    with pytest.raises(NotationError, match=said):
        read_sketch(sketch.replace("{table}", dataset.tables[0].name), dataset)
