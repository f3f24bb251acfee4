"""Follow-ups that the reader is trained on: those that were written, and those that are made of phrases."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import is_sketch
from training.reader.dialogues import Continued, leaning, plainer, read_dialogues
from training.reader.domains import Domain, read_domain
from training.reader.follow_ups import continued
from training.reader.notation import read_sketch

TRAINING = Path(__file__).resolve().parents[2] / "training"
FILES = sorted((TRAINING / "dialogues").glob("*.txt"))


@pytest.fixture(scope="module")
def flights() -> Domain:
    return read_domain(TRAINING / "domains" / "airline_flights.txt")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_follow_up_is_a_plan_that_fits_and_changes_something(path: Path) -> None:
    domain = read_domain(TRAINING / "domains" / path.name)
    read = read_dialogues(path, domain.dataset)
    assert read.refused == ()
    problems: list[str] = []
    for each in read.found:
        if not each.wordings or each.before == each.sketch:
            problems.append(f"{path.name}:{each.line}: no wording, or nothing changes")
        for sketch in (each.before, each.sketch):
            plan = plan_of(sketch, domain.dataset.id)
            if plan is None:
                assert sketch == ("none",) and sketch is each.sketch
                continue
            found = check_plan(parse_plan(plan), domain.dataset)
            problems += [f"{path.name}:{each.line}: {problem.message}" for problem in found]
    assert problems == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("> and in May?\n= flights: count()\n", "no answer stands before it"),
        (": flights: sum(nothing)\n", "no column is called"),
        (": flights: count()\nand in May?\n", "a line begins with"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, flights: Domain, text: str, said: str
) -> None:
    path = tmp_path / "airline_flights.txt"
    path.write_text(text, encoding="utf-8")
    read = read_dialogues(path, flights.dataset)
    assert read.found == ()
    assert len(read.refused) >= 1
    assert said in read.refused[0]


def test_a_split_without_too_splits_the_groups_that_are_there() -> None:
    each = Continued(
        1, ("none",), ("split that by plan too", "and by month?", "break it down by plan"), "", ("none",)
    )
    assert plainer(each) == ["split that by plan"]


@pytest.mark.parametrize(
    ("question", "before", "meant"),
    [
        (
            "flights: origin, count() | desc #2 | limit 1",
            "flights: count() | where status = 'Operated' | time 2025-06",
            "flights: origin, count() | where status = 'Operated' | time 2025-06 | desc #2 | limit 1",
        ),
        ("flights: count() | time 2024", "flights: count() | time 2025-06", None),
        ("aircraft: count()", "flights: count() | time 2025-06", None),
        ("flights: count()", "flights: origin, count()", None),
    ],
)
def test_a_whole_question_with_and_is_about_the_same_rows(
    flights: Domain, question: str, before: str, meant: str | None
) -> None:
    found = leaning(
        "Where do most start?", read_sketch(question, flights.dataset), read_sketch(before, flights.dataset)
    )
    if meant is None:
        assert found is None
    else:
        assert found == ("and where do most start?", read_sketch(meant, flights.dataset))


def test_follow_ups_of_phrases_are_sketches_and_the_same_for_the_same_seed(flights: Domain) -> None:
    def drawn() -> list[tuple[str, object]]:
        found = list(continued([(flights.dataset, flights.profile)], 60, seed=3))
        assert all(is_sketch(e.sketch) and e.before is not None for e in found)
        assert all(not check_plan(parse_plan(e.before), flights.dataset) for e in found if e.before)
        return [(e.question, e.sketch) for e in found]

    first = drawn()
    assert len(first) == 60
    assert first == drawn()
