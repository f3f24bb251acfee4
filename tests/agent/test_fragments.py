"""Fragments from data, plans, providers and people do nothing in the messages of a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.agent.analysis.coder import Advice, Reply, Task
from sandtable.agent.model_trouble import Cause, Fault
from sandtable.agent.proposer import Asked, PlanProposal, Proposed, SqlProposal
from sandtable.errors import ErrorCode
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.agent.analysis.coding import QUESTION, ScriptedCoder, analysing
from tests.agent.house import COUNT, SHOP, House, Scripted, open_house
from tests.hostile import FRAGMENTS, live_in

# Markup of our own: a table, a block of code, the names of a dataset, a list of questions.
KINDS = ("table", "thead", "tbody", "tr", "th", "td", "strong", "em", "bullet_list", "list_item")
OURS = ("fence", "hardbreak", *(f"{kind}_{end}" for kind in KINDS for end in ("open", "close")))
# Every one of them is tried in tests/test_quoting.py; a conversation costs more.
TRIED = {
    name: FRAGMENTS[name]
    for name in ("image", "html image", "code that breaks out", "terminal link", "bare address")
}
# The gate of this house ends a statement with a semicolon.
ROWS_SQL = "SELECT region, amount FROM orders LIMIT 2"


async def spoken(house: House, thread: str) -> str:
    """All that the thread's readers see, one message after the other."""
    state = await house.state(thread)
    replies = [message for message in state.values["messages"] if message.type == "ai"]
    return "\n\n".join(str(message.content) for message in replies)


async def live_after(house: House, *questions: str, thread: str) -> list[str]:
    for question in questions:
        await house.ask(question, thread)
    said = await spoken(house, thread)
    assert said, "the turn has broken"
    return live_in(said, *OURS)


async def test_an_engine_error_that_repeats_a_cell(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([SqlProposal(ROWS_SQL)])) as house:
        for name, fragment in TRIED.items():
            error = JobError(
                code=ErrorCode.VALIDATION_ERROR,
                type="ConversionException",
                message=f"Could not convert string '{fragment}' to INT32",
                suggestion=f"Look at {fragment}",
            )
            house.executor.on(f"{ROWS_SQL};", Script(error=error))
            live = await live_after(house, "amounts?", "explain", "why was that rejected?", thread=name)
            assert live == [], name


async def test_cells_and_column_names_of_an_answer(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        for place, (name, fragment) in enumerate(TRIED.items()):
            sql = f"SELECT {place}, region, amount FROM orders LIMIT 2"
            rows = [(fragment, 1.5), (f"x {fragment}", 2.5)]
            house.executor.on(f"{sql};", Script(columns=[(fragment, "VARCHAR"), ("n", "DOUBLE")], rows=rows))
            assert await live_after(house, sql, "explain", thread=name) == [], name


async def test_a_plan_that_names_what_is_not_there(tmp_path: Path) -> None:
    proposer = Scripted([PlanProposal(COUNT)])
    async with open_house(tmp_path, proposer) as house:
        for name, fragment in TRIED.items():
            wrong: list[dict[str, Any]] = [
                {"table": fragment, "select": [{"agg": "count", "as": "n"}]},
                {"table": "orders", "select": [{"agg": "sum", "column": fragment}]},
                {"table": "orders", "select": [{"agg": "count", "as": fragment}], fragment: 1},
            ]
            for number, plan in enumerate(wrong):
                proposer.script, proposer.asked = [PlanProposal(plan)], []
                thread = f"{name} {number}"
                live = await live_after(house, "amounts?", thread=thread)
                assert live == [], thread


async def test_an_error_of_a_provider(tmp_path: Path) -> None:
    class Failing(Scripted):
        cause: Cause = "status"
        said = ""

        async def propose(self, asked: Asked) -> Proposed:
            raise Fault(self.cause, 418, self.said).trouble("openai:gpt-5", "x")

    proposer = Failing([])
    async with open_house(tmp_path, proposer) as house:
        for name, fragment in TRIED.items():
            proposer.said = fragment
            for proposer.cause in ("status", "redirected"):
                live = await live_after(house, "amounts?", thread=f"{name} {proposer.cause}")
                assert live == [], (name, proposer.cause)


async def test_what_a_catalog_says_of_its_data(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        for name, fragment in TRIED.items():
            column = SHOP.tables[0].columns[0].model_copy(update={"name": fragment[:255]})
            columns = (column, *SHOP.tables[0].columns[1:])
            table = SHOP.tables[0].model_copy(update={"description": fragment, "columns": columns})
            shop = {"title": fragment, "description": fragment, "prompts": (fragment,), "tables": (table,)}
            house.datasets.current["shop"] = SHOP.model_copy(update=shop)
            live = await live_after(house, "hello", "what data is there?", thread=name)
            assert live == [], name


async def test_steps_and_failures_of_an_analysis(tmp_path: Path) -> None:
    class Hostile(ScriptedCoder):
        said = ""

        async def diagnose(self, task: Task) -> Reply[Advice]:
            return self._reply("diagnose", task, Advice(diagnosis=self.said, suggestion=self.said))

    coder = Hostile(codes=["one"])
    async with analysing(tmp_path, coder) as house:
        for name, fragment in TRIED.items():
            coder.said, coder.steps = fragment, (fragment, f"Fit {fragment}.")
            error = JobError(
                code=ErrorCode.RUNNER_INTERNAL_ERROR, type="KeyError", message=fragment, suggestion=fragment
            )
            house.executor.on("one", Script(error=error))
            assert await live_after(house, QUESTION, thread=name) == [], name
