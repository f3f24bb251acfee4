"""With the chat model down or of no use, the built-in planner answers what it can, and says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, get_args

import pytest

from sandtable.agent.analysis.coder import Reply, Task
from sandtable.agent.events import Thought
from sandtable.agent.model_limits import COOL_S, LONG_S, CircuitBreaker
from sandtable.agent.model_trouble import Kind, ModelTrouble
from sandtable.agent.proposer import PlanProposal, SqlProposal
from sandtable.capsule.query import plan_of
from sandtable.errors import ErrorCode, InvalidInput
from tests.agent.analysis.coding import ScriptedCoder
from tests.agent.house import BAD, COUNT, Scripted, last, open_house

QUESTION = "How many orders are there?"
HARD = "asdf qwer zxcv"
LEAD = "The built-in planner answered this, because"


def trouble(kind: Kind = "unreachable", **more: Any) -> ModelTrouble:
    return ModelTrouble(kind, "no answer", suggestion="Mend it.", model="openai:gpt-5", **more)


@pytest.mark.parametrize("kind", get_args(Kind))
async def test_the_planner_answers_and_says_why(kind: Kind, tmp_path: Path) -> None:
    said_by_provider = "![x](https://evil.test/x.png)"
    down = Scripted([trouble(kind, said=said_by_provider)], name="openai:gpt-5")
    async with open_house(tmp_path, down, planner=True) as house:
        events = await house.ask(QUESTION)
        said = last(events)
        assert said.ending == "answered" and "42" in said.text and said.problem is None
        note = next(part for part in said.text.split("\n\n") if LEAD in part)
        assert note.startswith(f"*{LEAD} openai:gpt-5 ") and note.endswith(" Mend it.*")
        assert "evil.test" not in said.text
        assert any(isinstance(event, Thought) and LEAD in event.text for event in events)
        run = await house.runs.get(said.run_ids[0])
    assert run.request.origin is not None
    assert run.request.origin.model_dump() == {
        "proposer": "builtin",
        "prompts": (),
        "tokens_in": 0,
        "tokens_out": 0,
        "latency_ms": 0.0,
        "repairs": 0,
    }


async def test_without_a_planner_the_trouble_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([trouble()])) as house:
        said = await house.say(QUESTION)
    assert (said.ending, said.text) == ("failed", "No answer. Mend it.")


async def test_what_the_planner_cannot_answer_ends_in_the_models_trouble(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([trouble()]), planner=True) as house:
        said = await house.say(HARD)
    assert said.ending == "failed" and said.run_ids == ()
    assert said.text.startswith("No answer. Mend it.\n\nThe built-in planner could not answer it either.")
    assert said.problem is not None and said.problem.details["kind"] == "unreachable"
    assert said.problem.code is ErrorCode.RUNNER_INTERNAL_ERROR
    assert said.problem.suggestion.startswith("Mend it. The built-in planner could not answer it either.")


async def test_a_model_that_gives_up_during_its_repairs_is_stood_in_for(tmp_path: Path) -> None:
    down = Scripted([PlanProposal(BAD), trouble("unreadable")])
    async with open_house(tmp_path, down, planner=True) as house:
        said = await house.say(QUESTION)
        run = await house.runs.get(said.run_ids[0])
    assert said.ending == "answered" and LEAD in said.text
    assert run.request.origin is not None
    assert (run.request.origin.proposer, run.request.origin.repairs) == ("builtin", 0)


async def test_a_refused_proposal_of_a_living_model_stays_the_models(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([SqlProposal("DROP TABLE orders")]), planner=True) as house:
        said = await house.say(QUESTION)
    assert said.ending == "refused" and LEAD not in said.text


async def test_a_plan_that_fails_is_not_asked_for_again(tmp_path: Path) -> None:
    """The planner would say the same, and the model is down: one run, its failure, and who proposed it."""
    down = Scripted([trouble()])
    async with open_house(tmp_path, down, planner=True, compile=_refuse) as house:
        said = await house.say(QUESTION)
    assert said.ending == "refused" and LEAD in said.text
    assert len(down.asked) == 1


def _refuse(*_: Any) -> Any:
    raise InvalidInput("cannot be compiled")


async def test_the_conversation_goes_on_after_it(tmp_path: Path) -> None:
    """A follow-up builds on the planner's plan, by the model and by the planner."""
    model = Scripted([trouble(), PlanProposal(COUNT), trouble()])
    async with open_house(tmp_path, model, planner=True) as house:
        first = await house.say("Revenue by region")
        second = await house.say("now by month")
        third = await house.say("Revenue by region")
        fourth = await house.say("now only for North")
        runs = [await house.runs.get(said.run_ids[0]) for said in (first, third, fourth)]
        plans = [plan_of(run.request.query) for run in runs]
    assert [LEAD in said.text for said in (first, second, third, fourth)] == [True, False, True, True]
    assert model.asked[1].history[0].plan == plans[0]
    assert plans[1] == plans[0]
    assert plans[2] is not None and "North" in str(plans[2]["filters"])


async def test_a_person_still_approves(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([trouble()]), planner=True, approval="sql") as house:
        waiting = await house.say(QUESTION)
        assert waiting.ending == "waiting"
        said = last(await house.approve({"type": "approve"}))
    assert said.ending == "answered" and LEAD in said.text


class DownCoder(ScriptedCoder):
    async def plan_steps(self, task: Task) -> Reply[tuple[str, ...]]:
        raise trouble("timeout")


@pytest.mark.parametrize(
    ("question", "ending", "text"),
    [
        pytest.param(
            "forecast revenue for next month",
            "failed",
            "No answer. Mend it.\n\nAn analysis in Python needs the chat model, so nothing was run.",
            id="needs-python",
        ),
        pytest.param(
            "use Python to count the orders",
            "answered",
            f"{LEAD} openai:gpt-5 did not answer in time.",
            id="a-plan-will-do",
        ),
    ],
)
async def test_an_analysis_needs_the_model(question: str, ending: str, text: str, tmp_path: Path) -> None:
    async with open_house(
        tmp_path, Scripted([trouble()]), planner=True, python=True, coder=DownCoder()
    ) as house:
        said = await house.say(question)
    assert said.ending == ending and text in said.text
    assert ("Answered with a plan, without Python" in said.text) is (ending == "answered")


async def test_an_analysis_that_the_model_leaves_says_so(tmp_path: Path) -> None:
    coder = ScriptedCoder(trouble={"write_code"})
    async with open_house(tmp_path, Scripted([trouble()]), python=True, coder=coder) as house:
        said = await house.say("forecast revenue for next month")
    assert said.ending == "failed" and "The chat model wrote no code for it" in said.text


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def _times_out(clock: Clock, seconds: float) -> None:
    clock.now += seconds
    raise trouble("timeout")


async def _works() -> str:
    return "yes"


async def test_a_long_wait_in_vain_is_not_repeated_for_a_while() -> None:
    clock = Clock()
    breaker = CircuitBreaker("openai:gpt-5", clock)
    with pytest.raises(ModelTrouble, match=r"^no answer$"):
        await breaker.within(60, lambda: _times_out(clock, 60))
    with pytest.raises(ModelTrouble, match="no answer, a moment ago") as caught:
        await breaker.within(60, _works)
    assert caught.value.kind == "timeout" and "asked again in 30 s. Mend it." in caught.value.suggestion
    clock.now += COOL_S
    assert await breaker.within(60, _works) == "yes"
    assert await breaker.within(60, _works) == "yes"


async def test_one_question_at_a_time_tries_the_model_again() -> None:
    clock, go = Clock(), asyncio.Event()
    breaker = CircuitBreaker("openai:gpt-5", clock)
    with pytest.raises(ModelTrouble):
        await breaker.within(60, lambda: _times_out(clock, 60))
    clock.now += COOL_S

    async def waits() -> str:
        await go.wait()
        return "back"

    probing = asyncio.create_task(breaker.within(60, waits))
    await asyncio.sleep(0)
    with pytest.raises(ModelTrouble, match="a moment ago"):
        await breaker.within(60, _works)
    go.set()
    assert await probing == "back"
    assert await breaker.within(60, _works) == "yes"


async def test_a_cancelled_probe_proves_nothing() -> None:
    clock = Clock()
    breaker = CircuitBreaker("openai:gpt-5", clock)
    with pytest.raises(ModelTrouble):
        await breaker.within(60, lambda: _times_out(clock, 60))
    clock.now += COOL_S
    probing = asyncio.create_task(breaker.within(60, asyncio.Event().wait))
    await asyncio.sleep(0)
    probing.cancel()
    await asyncio.gather(probing, return_exceptions=True)
    assert await breaker.within(60, _works) == "yes"


@pytest.mark.parametrize(
    ("kind", "waited_s", "trips"),
    [
        pytest.param("unreachable", LONG_S / 2, True, id="known-at-once"),
        pytest.param("unreadable", 60.0, True, id="it-lives"),
        pytest.param("timeout", 20.0, False, id="a-wording"),
    ],
)
async def test_what_is_not_remembered(kind: Kind, waited_s: float, trips: bool) -> None:
    clock = Clock()
    breaker = CircuitBreaker("openai:gpt-5", clock)

    async def fails() -> None:
        clock.now += waited_s
        raise trouble(kind)

    with pytest.raises(ModelTrouble):
        await breaker.within(60, fails, trips=trips)
    assert await breaker.within(60, _works) == "yes"
