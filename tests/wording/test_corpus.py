"""Readings and answers of the corpus: the sentences as they were read and approved, their numbers vouched for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtable.wording import wants_overall
from tests.wording.corpus import FOLDER, Case, answer, answers_to_prompts, cases, dataset_of, reading
from tests.wording.prompts import PROMPTS
from tests.wording.running import CATALOG, answered, connect, generate
from tests.wording.test_laws import check_inert
from tests.wording.vouching import strangers

READINGS = cases("readings")
ANSWERS = cases("answers")
APPROVED: dict[str, str] = json.loads((FOLDER / "prompts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("datasets")
    generate(made)
    return made


@pytest.mark.parametrize("case", READINGS, ids=[case["title"] for case in READINGS])
def test_readings(case: Case) -> None:
    assert reading(case) == case["reading"]


@pytest.mark.parametrize("case", ANSWERS, ids=[case["title"] for case in ANSWERS])
def test_answers(case: Case) -> None:
    text = answer(case)
    assert text == case["answer"]
    check_inert(text)
    columns = [(name, type_) for name, type_ in case["columns"]]
    asked = (case["question"], case.get("plan"), columns, case["rows"], dataset_of(case))
    assert strangers(text, *asked, case.get("row_count", len(case["rows"])), case.get("overall")) == []


def test_the_corpus_is_whole() -> None:
    assert len({case["title"] for case in READINGS}) == len(READINGS) >= 50
    assert len({case["title"] for case in ANSWERS}) == len(ANSWERS) >= 90


@pytest.mark.parametrize("dataset_id", PROMPTS)
def test_every_prompt_has_a_plan(dataset_id: str) -> None:
    assert tuple(PROMPTS[dataset_id]) == CATALOG.get(dataset_id).prompts


def test_answers_to_the_suggested_prompts(folder: Path) -> None:
    assert answers_to_prompts(folder) == APPROVED


@pytest.mark.parametrize("dataset_id", PROMPTS)
def test_numbers_of_the_suggested_prompts(folder: Path, dataset_id: str) -> None:
    dataset = CATALOG.get(dataset_id)
    with connect(folder, dataset) as connection:
        for question, plan in PROMPTS[dataset_id].items():
            text, (columns, rows), overall = answered(connection, question, plan, dataset)
            assert strangers(text, question, plan, columns, rows, dataset, len(rows), overall) == []
            check_inert(text)


def test_some_prompts_are_held_against_the_whole() -> None:
    asked = {q for prompts in PROMPTS.values() for q, plan in prompts.items() if wants_overall(q, plan)}
    assert "Return rate and average discount by category, highest return rate first" in asked
    assert "Monthly revenue in 2025" not in asked
