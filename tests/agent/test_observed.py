"""What an observer gets of a chat model's work, and of a step that waits for a person."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.observed import ObservedProposer, observed_proposer, observed_step
from sandtable.agent.proposer import Proposed, Talk, Usage, Worded
from sandtable.observing import UNOBSERVED, Observer


class Noted:
    """A meter that keeps what it gets."""

    def __init__(self) -> None:
        self.timings: list[tuple[str, dict[str, str]]] = []
        self.counts: list[tuple[str, float, dict[str, str]]] = []

    def timed(self, what: str, seconds: float, **labels: str) -> None:
        assert seconds >= 0
        self.timings.append((what, labels))

    def counted(self, what: str, amount: float = 1, **labels: str) -> None:
        self.counts.append((what, amount, labels))


class Model:
    name = "openai:some"

    def __init__(self, trouble: ModelTrouble | None = None, worded: Worded | None = None) -> None:
        self._trouble, self._worded = trouble, worded

    async def propose(self, asked: Any) -> Proposed:
        if self._trouble:
            raise self._trouble
        return Proposed(Talk("hm"), Usage(tokens_in=7, tokens_out=3, latency_ms=1))

    async def word(self, asked: Any, run: Any, plain: str) -> Worded | None:
        return self._worded


@pytest.fixture
def noted() -> Noted:
    return Noted()


NOTHING: Any = None


async def test_a_proposal_is_timed_and_its_tokens_counted(noted: Noted) -> None:
    proposer = observed_proposer(Model(), Observer(noted))
    assert proposer.name == "openai:some"
    assert (await proposer.propose(NOTHING)).what == Talk("hm")
    assert noted.timings == [("model", {"task": "propose", "outcome": "replied"})]
    assert noted.counts == [("tokens", 7, {"direction": "in"}), ("tokens", 3, {"direction": "out"})]


async def test_a_failure_is_counted_by_its_kind_and_goes_on(noted: Noted) -> None:
    trouble = ModelTrouble("rate_limit", "too often", suggestion="Wait.", model="openai:some")
    with pytest.raises(ModelTrouble):
        await ObservedProposer(Model(trouble), Observer(noted)).propose(NOTHING)
    assert noted.timings == [("model", {"task": "propose", "outcome": "rate_limit"})]
    assert noted.counts == []


async def test_a_wording_that_is_left_out(noted: Noted) -> None:
    assert await ObservedProposer(Model(), Observer(noted)).word(NOTHING, NOTHING, "") is None
    assert noted.timings == [("model", {"task": "word", "outcome": "left out"})]


def test_the_built_in_planner_is_no_model() -> None:
    model = Model()
    model.name = "builtin"
    assert observed_proposer(model, UNOBSERVED) is model


async def test_a_step_that_waits_for_a_person_waits_still(noted: Noted) -> None:
    async def approve(state: Any, config: Any) -> Any:
        raise GraphInterrupt(())

    with pytest.raises(GraphInterrupt):
        await observed_step(Observer(noted), "approve", approve, waits=GraphInterrupt)({}, NOTHING)
    assert noted.timings == [("step", {"step": "approve"})]


async def test_the_end_of_a_question_says_who_proposed(noted: Noted) -> None:
    async def answer(state: Any, config: Any) -> Any:
        return {"exchanges": [{"ending": "asked"}, {"ending": "answered"}]}

    for origin in ("builtin", "builtin-reader", "openai:some", None):
        state: Any = {"turn": {"origin": origin} if origin else {}}
        await observed_step(Observer(noted), "answer", answer, waits=GraphInterrupt)(state, NOTHING)
    assert [labels["proposer"] for _, _, labels in noted.counts] == ["builtin", "builtin", "model", "none"]
    assert {labels["ending"] for _, _, labels in noted.counts} == {"answered"}
    assert {labels["step"] for _, labels in noted.timings} == {"wording"}
