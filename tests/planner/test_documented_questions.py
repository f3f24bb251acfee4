"""Every question that a page shows, answered and compared with SQL written by hand.

`corpus/documented.json` has a line for each saying: its gold SQL, the word at which it is asked about, or why it is not
for the planner. A page that gains a saying which the corpus lacks fails here, and so does a line that no page has.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.splitting import questions_in
from sandtable.planner.candidates.network.reader import the_reader
from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, csv_world, same_answer

_ROOT = Path(__file__).resolve().parents[2]
_CORPUS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "corpus" / "documented.json").read_text("utf-8")
)
_SAYINGS: list[dict[str, Any]] = _CORPUS["questions"]
_PAGES = [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md"))]
_TALK = "conversation.md"
"""Here every italic is something that a person says."""

_FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_ITALIC = re.compile(r"(?<![*\w])\*(?!\s)([^*\n]+?)(?<!\s)\*(?![*\w])")
_ASKED = (
    re.compile(r'(?:\bask\(|\bask )\s*"([^"\n]+)"'),
    re.compile(r'"(?:message|content|question)":\s*"([^"\n]+)"'),
    re.compile(r'"([^"\n]{3,160}\?)"'),
)
_CHAT = re.compile(r"^.*sandtable chat .*#.*$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"\n]+)"')
_SHORT = 4


def sayings_of(page: str, text: str) -> set[str]:
    """What a page says to Sandtable: calls, commands, messages in JSON, and italics that are more than emphasis."""
    found = {saying for pattern in _ASKED for saying in pattern.findall(text)}
    for line in _CHAT.findall(text):
        found.update(_QUOTED.findall(line))
    prose = _CODE.sub("`", _FENCE.sub("", text))
    for saying in _ITALIC.findall(prose):
        if page == _TALK or saying.endswith("?") or len(saying.split()) >= _SHORT:
            found.add(saying)
    # A saying with `…` in it is a pattern, not something to say.
    return {saying for saying in found if "…" not in saying and "`" not in saying}


@pytest.fixture(scope="module")
def grounds(worlds: dict[str, World], tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """The built-in datasets and the files of the examples; `sales@library` is the page's own `sales.csv`."""
    found = dict(worlds)
    for key, text in _CORPUS["files"].items():
        name = key.partition("@")[0]
        path = tmp_path_factory.mktemp("documented") / f"{name}.csv"
        path.write_text(text, "utf-8")
        found[key] = csv_world(name, path)
    return found


def test_every_saying_of_a_page_is_in_the_corpus() -> None:
    said = {s: page.name for page in _PAGES for s in sayings_of(page.name, page.read_text("utf-8"))}
    known = {case["said"] for case in _SAYINGS}
    assert not {f"{page}: {s}" for s, page in said.items() if s not in known}


def test_every_line_of_the_corpus_is_on_a_page() -> None:
    said = {s for page in _PAGES for s in sayings_of(page.name, page.read_text("utf-8"))}
    pieces = {part for case in _SAYINGS for part in case.get("parts", ())}
    assert not {case["said"] for case in _SAYINGS} - said - pieces


def test_a_page_that_gains_a_question_is_noticed() -> None:
    text = 'Say *who bought most?* or\n```sh\nsandtable ask "sales by shop" --data shop.csv\n```\nnot *really* so.'
    assert sayings_of("web.md", text) == {"who bought most?", "sales by shop"}


_PLANNED = [case for case in _SAYINGS if "on" in case]


@pytest.mark.parametrize("with_reader", [False, True], ids=["grammar", "reader"])
@pytest.mark.parametrize("case", _PLANNED, ids=lambda c: f"{c.get('before', '')} > {c['said']}"[-60:])
def test_saying_is_answered_rightly_or_asked_about(
    grounds: dict[str, World], case: dict[str, Any], with_reader: bool
) -> None:
    world = grounds[case["on"]]
    reader = the_reader() if with_reader else None
    before = None
    if "before" in case:
        first = plan_question(case["before"], world.index, reader=reader)
        assert isinstance(first, Understood), first
        before = EarlierTurn(case["before"], first.plan)
    outcome = plan_question(case["said"], world.index, before, reader=reader)
    if "asks" in case:
        # With the reader the doubt may be about the whole reading instead of the word.
        assert isinstance(outcome, Unsure) and (outcome.unknown == (case["asks"],) or with_reader), outcome
        return
    assert isinstance(outcome, Understood), outcome
    assert same_answer(
        world.run_plan(outcome.plan), world.run_sql(case["sql"]), ordered=case.get("ordered", False)
    ), outcome.plan
    if "chart" in case:
        assert outcome.plan.get("chart") == case["chart"]


@pytest.mark.parametrize("case", [c for c in _SAYINGS if "parts" in c], ids=lambda c: c["said"])
def test_a_message_with_several_questions_is_taken_apart(case: dict[str, Any]) -> None:
    assert list(questions_in(case["said"])) == case["parts"]


@pytest.mark.parametrize("case", [c for c in _SAYINGS if "not_for_the_planner" in c], ids=lambda c: c["said"])
def test_what_is_not_for_the_planner_says_why(case: dict[str, Any]) -> None:
    assert set(case) == {"said", "not_for_the_planner"} and case["not_for_the_planner"]
