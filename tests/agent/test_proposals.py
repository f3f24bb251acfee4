"""What becomes of proposals: repaired, given up, asked back, worded, and never believed without rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from sandtable.agent.events import Error, RunState
from sandtable.agent.grounding.unrun import LABEL
from sandtable.agent.proposer import AskBack, Asked, PlanProposal, Proposed, SqlProposal, Talk, Usage
from sandtable.agent.state import State
from sandtable.errors import ErrorCode, SandtableError
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.agent.house import BAD, COUNT, UNKNOWN, Scripted, ask_back, kinds, last, open_house
from tests.runs.world import canonical_sql


@pytest.mark.parametrize("script", [[BAD, BAD, COUNT], [UNKNOWN, COUNT]], ids=["bad twice", "no such column"])
async def test_a_refused_plan_goes_back_with_the_validators_words(tmp_path: Path, script: list[Any]) -> None:
    proposer = Scripted([PlanProposal(plan) for plan in script])
    async with open_house(tmp_path, proposer) as house:
        events = await house.ask("total amount?")
        assert last(events).ending == "answered"
        assert len(proposer.asked) == len(script)
        attempts = proposer.asked[-1].attempts
        assert len(attempts) == len(script) - 1
        assert attempts[0].problem.code == ErrorCode.VALIDATION_ERROR
        assert attempts[0].problem.details["errors"]
        run = await house.runs.get(last(events).run_ids[0])
        assert run.request.origin is not None and run.request.origin.repairs == len(script) - 1
        assert run.request.origin.tokens_in == 10 * len(script)


async def test_after_two_repairs_it_says_honestly_that_it_failed(tmp_path: Path) -> None:
    proposer = Scripted([PlanProposal(UNKNOWN)])
    async with open_house(tmp_path, proposer) as house:
        said = await house.say("total amount?")
        assert (said.ending, len(proposer.asked)) == ("refused", 3)
        assert said.problem is not None and said.problem.code == ErrorCode.VALIDATION_ERROR
        assert "amuont" in said.text and "3 times" in said.text
        run = await house.runs.get(said.run_ids[0])
        assert run.status == "rejected"
        assert not house.executor.jobs
        explained = await house.say("why was that rejected?")
        assert "amuont" in explained.text and explained.run_ids == said.run_ids


async def test_a_runner_error_is_repaired(tmp_path: Path) -> None:
    bad, good = "SELECT region + 1 FROM orders", "SELECT 1 FROM orders"
    proposer = Scripted([SqlProposal(bad), SqlProposal(good)])
    async with open_house(tmp_path, proposer) as house:
        error = JobError(code=ErrorCode.VALIDATION_ERROR, type="BinderException", message="cannot add text")
        house.executor.on(canonical_sql(bad), Script(error=error))
        events = await house.ask("add regions")
        assert last(events).ending == "answered"
        assert proposer.asked[1].attempts[0].problem.message == "cannot add text"
        assert [e.status for e in events if isinstance(e, RunState)].count("failed") == 1
        messages = (await house.state()).values["messages"]
        assert [m.type for m in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]


async def test_a_database_that_is_down_is_not_repaired_by_another_query(tmp_path: Path) -> None:
    proposer = Scripted([SqlProposal("SELECT 1 FROM orders")])
    async with open_house(tmp_path, proposer) as house:
        down = JobError(
            code=ErrorCode.RUNNER_INTERNAL_ERROR, type="DatabaseUnavailable", message="shop does not answer"
        )
        house.executor.on(canonical_sql("SELECT 1 FROM orders"), Script(error=down))
        said = await house.say("total amount?")
        assert (said.ending, len(proposer.asked)) == ("failed", 1)
        assert "shop does not answer" in said.text


async def test_a_time_out_is_told_and_not_tried_again(tmp_path: Path) -> None:
    proposer = Scripted([SqlProposal("SELECT 1 FROM orders")])
    async with open_house(tmp_path, proposer) as house:
        error = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="stopped after 30 s")
        house.executor.on(canonical_sql("SELECT 1 FROM orders"), Script(error=error))
        said = await house.say("everything with everything")
        assert (said.ending, len(proposer.asked)) == ("failed", 1)
        assert "too long" in said.text and "filter" in said.text


async def test_a_proposer_without_a_better_idea_lets_the_refusal_stand(tmp_path: Path) -> None:
    proposer = Scripted([SqlProposal("DROP TABLE orders"), ask_back()])
    async with open_house(tmp_path, proposer) as house:
        said = await house.say("total amount?")
        assert (said.ending, len(proposer.asked)) == ("refused", 2)
        assert (await house.runs.get(said.run_ids[0])).status == "rejected"


async def test_it_asks_back(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([ask_back("I do not know *zorps*.")])) as house:
        events = await house.ask("zorps by moon")
        said = last(events)
        assert (said.ending, said.run_ids, said.suggestions) == ("asked", (), ("Revenue by region",))
        assert "zorps" in said.text
        assert kinds(events) == ["message"]


async def test_a_proposer_may_just_talk(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([Talk("I only know this shop.")])) as house:
        said = await house.say("tell me a joke about ducks")
        assert (said.text, said.ending) == (f"{LABEL} I only know this shop.", "conversed")


@pytest.mark.parametrize(
    "said",
    [
        Talk("Revenue was 5 million last year."),
        Talk("See [this](http://evil.test)."),
        AskBack("Half of the 400 orders are missing."),
        AskBack("![x](http://evil.test/?leak=1) Which one?", ("Revenue by region", "[x](http://evil.test)")),
    ],
    ids=["a number", "a link", "numbers in a question back", "an image in a question back"],
)
async def test_what_a_model_says_without_a_run_holds_no_number_and_no_link(tmp_path: Path, said: Any) -> None:
    async with open_house(tmp_path, Scripted([said])) as house:
        heard = await house.say("so what?")
        assert heard.ending == "asked"
        assert heard.text.startswith("I could not turn that into a query over Shop.")
        assert "evil" not in heard.text and "evil" not in str(heard.suggestions)


async def test_a_broken_proposer_is_told_plainly(tmp_path: Path) -> None:
    class Broken(Scripted):
        async def propose(self, asked: Asked) -> Proposed:
            raise SandtableError("the key was refused", suggestion="Check the key.")

    async with open_house(tmp_path, Broken([])) as house:
        said = await house.say("anything?")
        assert said.ending == "failed"
        assert "The key was refused. Check the key." in said.text


async def test_a_defect_ends_the_turn_with_an_error(tmp_path: Path) -> None:
    class Defective(Scripted):
        async def propose(self, asked: Asked) -> Proposed:
            raise KeyError("x")

    async with open_house(tmp_path, Defective([])) as house:
        events = await house.ask("anything?")
        assert isinstance(events[-1], Error)
        assert events[-1].problem.code == ErrorCode.RUNNER_INTERNAL_ERROR
        assert (await house.say("hi")).ending == "conversed"


async def test_a_chat_models_raw_reply_is_no_message(tmp_path: Path) -> None:
    class Chatty(Scripted):
        async def propose(self, asked: Asked) -> Proposed:
            model = GenericFakeChatModel(messages=iter([AIMessage("secret raw json")]))
            await model.ainvoke("x")
            return Proposed(PlanProposal(COUNT), Usage())

    async with open_house(tmp_path, Chatty([])) as house:
        given = State(messages=[HumanMessage("How many?", id="h")], dataset_id="shop")
        config: Any = {"configurable": {"thread_id": "t"}}
        chunks = [c async for c in house.analyst.stream(given, config, ["messages"])]
        assert "secret" not in "".join(str(message.content) for _, (message, _) in chunks)


@pytest.mark.parametrize(
    ("wording", "kept"),
    [
        (lambda plain: "There are 42 of them.", True),
        (lambda plain: "There are 43 of them.", False),
        (lambda plain: "There are 42, twice as many as last year.", False),
        (lambda plain: "See http://evil.test/42", False),
    ],
    ids=["grounded", "invented", "multiple", "link"],
)
async def test_a_models_wording_is_used_only_when_the_rows_vouch_for_it(
    tmp_path: Path, wording: Any, kept: bool
) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)], wording=wording)) as house:
        said = await house.say("How many orders are there?")
        assert (wording("") in said.text) is kept
        assert "42" in said.text


async def test_ask_back_suggests_prompts_of_the_dataset(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([AskBack("No idea.")])) as house:
        assert (await house.say("zorps?")).suggestions == ("Revenue by region", "How many orders are there?")
