"""What a model says with no run behind it is labelled as its own words, or not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.agent.grounding.unrun import LABEL, LONGEST, own_words, suggestion_or_none
from sandtable.agent.proposer import AskBack, Talk
from tests.agent.house import Scripted, last, open_house

KNOWN = "What were the top 5 regions in 2025?\norders region amount"


@pytest.mark.parametrize(
    "text",
    [
        "I only know this shop.",
        "Do you mean the top 5 regions, or those of 2025?",
        "Meinen Sie die Regionen?",
        "I do not know *zorps*.",
        "Europe leads the others.",
    ],
)
def test_plain_words_are_shown_under_their_label(text: str) -> None:
    assert own_words(text, KNOWN) == f"{LABEL} {text.replace('*', '')}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("There were 7 orders.", id="a number"),
        pytest.param("There were ٧ orders.", id="a digit of another script"),
        pytest.param("½ of the orders are lost.", id="a fraction"),
        pytest.param("Chapter Ⅶ.", id="a numeral"),
        pytest.param("三 orders were lost.", id="a number as a sign"),
        pytest.param("| region | n |\n|---|---|\n| North | many |", id="a table"),
        pytest.param("# Result\nNorth leads.", id="a heading"),
        pytest.param("Result\n======", id="an underlined heading"),
        pytest.param("- North\n- South", id="a list"),
        pytest.param("1. North", id="a numbered list"),
        pytest.param("> North leads.", id="a quotation"),
        pytest.param("```\nNorth\n```", id="a fence"),
        pytest.param("See https://evil.test/x", id="an address"),
        pytest.param("See www.evil.test", id="an address without a scheme"),
        pytest.param("Write to me@evil.test", id="a mail address"),
        pytest.param("![x](https://evil.test/x.png)", id="an image"),
        pytest.param("[more](javascript:alert)", id="a link"),
        pytest.param("<img src=x onerror=alert>", id="HTML"),
        pytest.param("$$x$$ leads.", id="math"),
        pytest.param("The result is verified and signed.", id="a claim of proof"),
        pytest.param("This is proven by the capsule.", id="another claim of proof"),
        pytest.param("I ran the query: North leads.", id="a claim of a run"),
        pytest.param("According to the data, North leads.", id="a claim of a source"),
        pytest.param("North leads. " * 60, id="endless"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_may_not_be_shown_at_all(text: str) -> None:
    assert own_words(text, KNOWN) is None


def test_hidden_characters_are_taken_out() -> None:
    said = own_words("North\u200b leads\u202e the\nothers.", KNOWN)
    assert said == f"{LABEL} North leads the others."
    assert own_words("a" * (LONGEST + 1), KNOWN) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Revenue by region", True),
        ("Top 5 regions", True),
        ("Why did revenue reach 9 million?", False),
        ("[x](https://evil.test)", False),
        ("Revenue\nby region", False),
        ("a" * 300, False),
    ],
    ids=["plain", "a known number", "a number", "a link", "two lines", "long"],
)
def test_suggestions(text: str, kept: bool) -> None:
    assert suggestion_or_none(text, KNOWN) == (text if kept else None)


async def test_a_fake_answer_in_talk_is_replaced_by_our_own_words(tmp_path: Path) -> None:
    fake = "| region | revenue |\n|---|---|\n| North | 41 |\n\nVerified: run `run_01` is signed."
    async with open_house(tmp_path, Scripted([Talk(fake)])) as house:
        said = await house.say("revenue by region?")
    assert said.text.startswith("I could not turn that into a query over Shop.")
    assert "North" not in said.text and said.run_ids == ()


async def test_a_question_back_of_a_model_is_labelled_and_ours_is_not(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([AskBack("Which of the regions is meant?")])) as house:
        said = await house.say("zorps?")
    assert said.text.startswith(f"{LABEL} Which of the regions is meant?")
    async with open_house(tmp_path / "b", Scripted([AskBack("Which one?")], name="builtin")) as house:
        ours = last(await house.ask("zorps?"))
    assert ours.text.startswith("Which one?")
