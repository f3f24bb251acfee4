"""A part that was read from a word which names nothing in the data: dashed, said to be likely, changed by one click."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import serving
from tests.browser.web.axe import violations
from tests.browser.web.person import Picture, answer, ask_and_see, ends, newest_run, open_app, open_details

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui", "axe")]

_PROGRAM = """
import sandtable.agent.builtin
from sandtable.cli import main
from tests.agent.reader import reads
sandtable.agent.builtin.plan_question = reads("takings", "revenue")
main(prog_name="sandtable")
"""
LIKELY = "revenue · likely: “takings”"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A server whose planner reads "takings" as revenue."""
    with serving(tmp_path, (sys.executable, "-c", _PROGRAM)) as start:
        yield start()


@pytest.mark.parametrize(
    "look",
    [{}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}],
    ids=["wide", "phone"],
)
def test_a_likely_part(served: str, page: Page, picture: Picture, look: dict[str, object]) -> None:
    open_app(page, served)
    first = ask_and_see(page, "takings by region in 2024")
    chip = first.get_by_role("button", name=re.compile(f"^{LIKELY}"))
    expect(chip).to_have_text(
        f"{LIKELY}, measure: likely meant by “takings”, not a name in the data, to be checked"
    )
    expect(chip).to_have_css("border-top-style", "dashed")
    expect(first.get_by_role("button", name=re.compile("^by region"))).to_have_css(
        "border-top-style", "solid"
    )
    expect(first.get_by_text("proposed by a model", exact=True)).to_be_visible()
    expect(first.get_by_text("read literally", exact=True)).to_have_count(0)
    run = newest_run(page, served)
    assert run["origin"]["proposer"] == "builtin-reader"
    assert violations(page) == []
    picture("1-likely")

    page.reload()
    ends(page, "succeeded")
    chip = answer(page).get_by_role("button", name=re.compile(f"^{LIKELY}"))
    expect(chip).to_be_visible()
    chip.click()
    choice = page.get_by_role("menu").get_by_role("menuitemradio").nth(1)
    taken = str(choice.text_content())
    picture("2-menu")
    choice.click()
    second = ends(page, "succeeded", 2)
    expect(second.get_by_text(re.compile(f"^{re.escape(taken)}")).first).to_be_visible()
    expect(second.get_by_text("· likely")).to_have_count(0)
    assert newest_run(page, served)["origin"] is None


def test_its_proof_names_the_reader(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "takings by region in 2024")
    panel = open_details(page, "Reading")
    expect(panel).to_contain_text("The built-in reader, a small model: its likely parts are to be checked")
    picture("1-reading")
    proof = open_details(page, "Proof").get_by_role("region", name="How the question became the query")
    expect(proof).to_contain_text("proposed by a model")
    proof.scroll_into_view_if_needed()
    picture("2-proof")
