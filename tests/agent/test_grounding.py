"""A model's wording is said only when the rows say the same: names, numbers, who is highest, what rose.

The corpus has wordings over the results of `tests/wording/corpus/answers.json`: those that may be said in place of the
plain sentence, and those that may not.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sandtable.agent.grounding import Facts, facts_of, grounded
from sandtable.agent.grounding.facts import printed_facts
from sandtable.agent.grounding.lexicon import LEXICON, MOST
from sandtable.agent.grounding.said import sentence_grounded
from sandtable.wording.meanings import result_of
from tests.agent.models.asking import shop
from tests.wording.corpus import cases, dataset_of

CORPUS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "corpus" / "wordings.json").read_text(encoding="utf-8")
)
RESULTS = {case["title"]: case for case in cases("answers")}
SAID = [(entry["result"], text) for entry in CORPUS for text in entry["said"]]
NOT_SAID = [(entry["result"], text) for entry in CORPUS for text in entry["not_said"]]
OTHER_PLAIN = "Another sentence."


@cache
def facts(title: str) -> Facts:
    case = RESULTS[title]
    columns = [(name, type_) for name, type_ in case["columns"]]
    rows = [tuple(row) for row in case["rows"]]
    total = max(len(rows), case.get("row_count") or 0)
    given_ = (case["question"], case.get("plan"), columns, rows, dataset_of(case), total)
    return facts_of(result_of(*given_, case.get("truncated", False), case.get("overall")), case.get("plan"))


def test_the_corpus_is_large_enough() -> None:
    assert len(set(SAID)) >= 60
    assert len(set(NOT_SAID)) >= 150
    assert sum(not text.isascii() for _, text in NOT_SAID) >= 25


@pytest.mark.parametrize(("title", "text"), SAID, ids=[text for _, text in SAID])
def test_what_the_rows_say_may_be_said(title: str, text: str) -> None:
    assert grounded(text, OTHER_PLAIN, facts(title))


@pytest.mark.parametrize(("title", "text"), NOT_SAID, ids=[ascii(text) for _, text in NOT_SAID])
def test_what_they_do_not_say_may_not(title: str, text: str) -> None:
    assert not grounded(text, RESULTS[title]["answer"], facts(title))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        pytest.param("a count with filters", "There are 41 orders in Germany.", id="the time"),
        pytest.param("a count with filters", "There are 41 orders in March 2025.", id="the condition"),
        pytest.param("a duration", "The median resolution time is 98.5 minutes.", id="the only condition"),
        pytest.param(
            "highest and lowest group", "Books has the lowest return rate, at 3.8 %.", id="the highest"
        ),
        pytest.param("a distribution", "Rating 5 has the most order items, 2,397.", id="the lowest"),
        pytest.param("days of the week", "Saturday had 1,441 orders.", id="the lowest, without a rank"),
        pytest.param(
            "a short ranking",
            "Monitor has more revenue (€11,250) than Headphones (€9,800.55).",
            id="the first",
        ),
        pytest.param(
            "two keys", "Urgent in EMEA has the highest SLA breach rate, 46.5 %.", id="the lowest of two keys"
        ),
    ],
)
def test_a_true_text_that_leaves_out_what_the_plain_sentence_says_is_dropped(title: str, text: str) -> None:
    assert not grounded(text, RESULTS[title]["answer"], facts(title))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        pytest.param("a count with filters", "In March 2025, there are 41 orders in Germany.", id="by name"),
        pytest.param(
            "highest and lowest group",
            "The highest return rate is 14.2 %, for Electronics, and Books has the lowest, 3.8 %.",
            id="both ends",
        ),
        pytest.param(
            "a distribution",
            "Rating 5 has the most order items, 2,397. Rating 1 has the fewest order items (277).",
            id="both ends, two sentences",
        ),
    ],
)
def test_a_text_that_keeps_it_is_said(title: str, text: str) -> None:
    assert grounded(text, RESULTS[title]["answer"], facts(title))


@pytest.mark.parametrize("title", RESULTS, ids=str)
def test_the_plain_sentence_itself_may_always_be_said(title: str) -> None:
    assert grounded(RESULTS[title]["answer"], RESULTS[title]["answer"], facts(title))


@pytest.mark.parametrize(("title", "text"), SAID, ids=[text for _, text in SAID])
def test_swapped_names_are_not_said(title: str, text: str) -> None:
    """Each name in the place of each other: what was true of one row is not true of the other."""
    known = facts(title)
    names = [str(cell) for row in RESULTS[title]["rows"] for cell in row if isinstance(cell, str)]
    named = [name for name in names if name in text and len(known.names.get(name.lower(), ())) == 1]
    for one, other in permutations(named, 2):
        swapped = text.replace(one, "\0").replace(other, one).replace("\0", other)
        same_list = swapped.startswith("The regions are")
        assert same_list or not grounded(swapped, OTHER_PLAIN, known), swapped


@pytest.mark.parametrize(("title", "text"), SAID, ids=[text for _, text in SAID])
def test_turned_superlatives_are_not_said(title: str, text: str) -> None:
    turned = text
    for high, low in (("highest", "lowest"), ("most ", "fewest "), ("higher", "lower"), ("rose", "fell")):
        for one, other in ((high, low), (low, high)):
            if one in text:
                turned = text.replace(other, "\0").replace(one, other).replace("\0", one)
                assert not grounded(turned, OTHER_PLAIN, facts(title)), turned


@given(st.sampled_from(SAID), st.integers(min_value=1, max_value=9), st.integers(min_value=0, max_value=30))
def test_another_digit_is_not_said(case: tuple[str, str], add: int, at: int) -> None:
    """Any digit changed: no other number passes, unless it is the same cell rounded in another way."""
    title, text = case
    places = [place for place, char in enumerate(text) if char.isdigit()]
    if not places or "about" in text or "k " in text or text.endswith("k."):
        return
    place = places[at % len(places)]
    changed = text[:place] + str((int(text[place]) + add) % 10) + text[place + 1 :]
    # The cell is 0.0645, halfway between the two.
    assume(not (title == "two values" and changed == text.replace("6.4", "6.5")))
    assert not grounded(changed, OTHER_PLAIN, facts(title)), changed


@given(
    st.sampled_from([entry["result"] for entry in CORPUS]),
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8),
)
def test_no_text_raises(title: str, words: list[str]) -> None:
    grounded(" ".join(words), OTHER_PLAIN, facts(title))


@pytest.mark.parametrize("word", sorted(word for word, meaning in LEXICON.items() if meaning.letter == MOST))
def test_every_superlative_is_checked(word: str) -> None:
    known = facts("two groups counted")
    truth = {grounded(f"{name} has the {word} orders.", OTHER_PLAIN, known) for name in ("Web", "Store")}
    assert truth == {True, False}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The slope is 3.57.", True),
        ("The slope is 3.58.", False),
        ("The slope is 0.021.", False),
        ("There are 8 trips.", True),
        ("There are 9 trips.", False),
        ("The rate is 5.", False),
    ],
    ids=[
        "labelled",
        "another number",
        "of another label",
        "counted",
        "another count",
        "two numbers, one label",
    ],
)
def test_what_code_printed_stands_with_its_label(text: str, said: bool) -> None:
    printed = printed_facts("slope: 3.5712, p = 0.0213\n8 trips\nrate: 5\nrate: 6\n")
    assert sentence_grounded(text, [printed]) is said


def test_a_cell_that_reads_like_a_word_names_no_row() -> None:
    columns = [("label", "VARCHAR"), ("n", "BIGINT")]
    rows = [("highest", 1), ("the", 2), ("Globex [x](https://evil.test)", 3)]
    known = facts_of(result_of("", None, columns, rows, shop(), 3, False, None))
    assert not {"highest", "the"} & set(known.names)
    assert not grounded("Globex [x](https://evil.test) has 3.", OTHER_PLAIN, known)
