"""Whole analyses with a scripted model, the real gate and the real sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Event,
    Log,
    Planned,
    RunState,
    Table,
    Thought,
)
from tests.agent.analysis.coding import code_of
from tests.agent.analysis.trips import (
    ADVICE,
    CANARIES,
    CHART,
    FIRST,
    LAST,
    QUESTION,
    RIGHT,
    STEPS,
    WRONG,
    Model,
    blocks,
    office,
    step_in,
)
from tests.agent.house import last
from tests.agent.models.scripted import start_scripted

pytestmark = [pytest.mark.needs("userns")]

OUTLINE = """
plan
thought, code 1, run succeeded, log
thought, code 2, run failed, log
thought
thought, code 2, run succeeded, artifact table-1
thought, code 3, run succeeded, log, artifact table-2
thought, code 4, run succeeded, artifact plot-1
table, chart, message
"""


def outline(events: list[Event]) -> list[str]:
    """What happened, without the machinery's own remarks."""
    made: list[str] = []
    for event in events:
        match event:
            case Thought(text=text) if text.endswith("…"):
                pass
            case RunState(status=status):
                made += [] if status in ("pending", "running") else [f"run {status}"]
            case Code(step=step):
                made.append(f"code {step}")
            case ArtifactShown(artifact=artifact):
                made.append(f"artifact {artifact.id}")
            case _:
                made += [] if event.type == "delta" else [event.type]
    return made


def codes(events: list[Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, Code)]


async def test_three_steps_an_error_a_chart_an_answer_and_a_follow_up(tmp_path: Path) -> None:
    model = Model()
    with start_scripted(model) as server:
        settings = server.settings("openai", tmp_path / "home")
        async with office(settings, tmp_path) as made:
            events = await made.ask(QUESTION)
            runs = [await made.parts.runs.get(run_id) for run_id in last(events).run_ids]
            capsule = await made.parts.runs.capsule(last(events).run_ids[0])
            report = await made.parts.verify(capsule)
            shown = await made.ask("show me the code")
            model.told |= {
                "plan_steps": '["Count the pairs in final_df."]',
                "write_code": {"thought": "I count.", "code": "print(len(final_df), 'pairs')"},
                "conclude": "There are 4 pairs.",
            }
            model.tasks.clear()
            further = await made.ask("Use Python to count the pairs")
            asked = next(r.prompt for r in reversed(server.requests) if "Plan an analysis" in r.prompt)

    assert outline(events) == OUTLINE.replace("\n", ", ").strip(", ").split(", ")
    assert codes(events) == [FIRST, WRONG, RIGHT, LAST, f"{CHART}\nfig"]
    assert next(event for event in events if isinstance(event, Planned)).plan == {"steps": STEPS}
    thoughts = [event.text for event in events if isinstance(event, Thought)]
    assert f"{ADVICE['diagnosis']} {ADVICE['suggestion']}" in thoughts
    failure = next(event for event in events if isinstance(event, Log) and "KeyError" in event.text)
    assert "line 1" in failure.text and "Revenue" in failure.text

    said = last(events)
    assert said.text == (
        "The van in Zanzibar-Quetzal had the lowest change, at -917,873.\n\n[[table-2]]\n\n[[plot-1]]"
    ), "the sentence that no table bears out is left out"
    assert (said.ending, said.problem) == ("answered", None)
    table = next(event for event in events if isinstance(event, Table))
    assert (table.run_id, table.rows[0]) == (
        said.run_ids[0],
        ("Zanzibar-Quetzal", "van", 918273, 400, -917873),
    )
    chart = next(event for event in events if isinstance(event, Chart))
    assert chart.run_id == said.run_ids[-1] and chart.figure["data"][0]["type"] == "bar"

    assert [run.status for run in runs] == ["succeeded"] * 4
    assert {code_of(run).session for run in runs} == {"t"}
    origin = runs[0].request.origin
    assert origin is not None and origin.proposer == "openai:scripted"
    prompts = [prompt.name for prompt in origin.prompts]
    asked_first = ["system.md", "propose.md", "tools.md"]
    assert prompts == [*asked_first, "plan_steps.md", "write_code.md", "diagnose.md"]
    assert report.ok, report

    assert WRONG not in last(shown).text and RIGHT in last(shown).text
    assert model.tasks == ["plan_steps", "write_code", "conclude"], "one printed value makes no chart"
    told = blocks(asked)
    assert {"totals", "final_df"} <= set(told["variables"]) and LAST in told["history"][0]["python"]
    assert outline(further) == ["plan", "thought", "code 1", "run succeeded", "log", "message"]
    assert last(further).text == "There are 4 pairs."


async def _stopped(asked: AsyncGenerator[Event, None]) -> str:
    """Listens until a cell runs, and goes away."""
    async with aclosing(asked) as events:
        async for event in events:
            if isinstance(event, RunState) and event.status == "running":
                # It has begun to run when a moment has passed.
                await asyncio.sleep(0.3)
                return event.run_id
    raise AssertionError("nothing ran")


async def test_a_cancelled_cell_keeps_the_state_and_a_session_that_ended_is_rebuilt(tmp_path: Path) -> None:
    model = Model({"plan_steps": {"steps": ["Do it."]}, "conclude": "There are 8 trips."})

    def writes(code: str) -> None:
        model.told["write_code"] = {"thought": "I write.", "code": code}

    with start_scripted(model) as server:
        async with office(server.settings("ollama", tmp_path / "home"), tmp_path) as made:
            writes("count = len(df)\nprint(count)")
            await made.ask(QUESTION)
            writes("rounds = 0\nwhile True:\n    rounds += 1")
            asked = made.analyst.ask(QUESTION, dataset_id=made.dataset.id, thread_id="t")
            cancelled = await made.parts.runs.get(await _stopped(asked))
            writes("print(count, 'trips')")
            alive = await made.ask(QUESTION)
            await made.parts.sessions.end("t")
            writes("print(count, 'trips')")
            rebuilt = await made.ask(QUESTION)
    assert cancelled.status == "cancelled"
    printed = [event.text for event in alive if isinstance(event, Log)]
    assert printed == ["8 trips\n"], "the session is as the cell left it"
    assert last(alive).text == "There are 8 trips."
    assert last(rebuilt).text.startswith("There are 8 trips.\n\n*The session had ended in the meantime: ")


def _careless(prompt: str) -> dict[str, Any]:
    """Code that prints cells, names columns after them, and fails over one of them."""
    if step_in(prompt) == 1:
        code = 'wide = trips.pivot_table(index="vehicle", columns="city", values="revenue").reset_index()\n'
        return {"thought": "A pivot.", "code": f"{code}print(trips.to_string())\nwide"}
    if '<data name="advice">' not in prompt:
        return {"thought": "A cast.", "code": 'numbers = trips["city"].astype(int)'}
    return {"thought": "Sorted.", "code": 'final_df = trips.sort_values("revenue")\nfinal_df'}


async def test_with_privacy_no_cell_reaches_the_model(tmp_path: Path) -> None:
    model = Model({"write_code": _careless, "plan_steps": {"steps": ["Pivot.", "Sort."]}})
    model.told["draw"] = {"code": 'fig = px.bar(final_df, x="city", y="revenue")'}
    with start_scripted(model) as server:
        settings = server.settings("anthropic", tmp_path / "home", privacy="schema")
        async with office(settings, tmp_path) as made:
            events = await made.ask(QUESTION)
            await made.ask("Use Python to do it again")
        sent = server.said()
        seen = [blocks(request.prompt) for request in server.requests if "The code of one" in request.prompt]
    shown = "".join(event.model_dump_json() for event in events)
    assert [canary for canary in CANARIES[:2] if canary not in shown] == [], "the person sees the cells"
    assert [canary for canary in CANARIES if canary in sent] == []
    assert "conclude" not in model.tasks and model.tasks.count("diagnose") == 2
    assert seen[0]["error"] == {
        "code": "VALIDATION_ERROR",
        "type": "ValueError",
        "line": 1,
        "message": "(withheld)",
    }
    pivoted = seen[0]["cells"][0]
    assert pivoted["output"] == "(withheld)"
    assert pivoted["tables"] == [
        {
            "tag": "[[table-1]]",
            "row_count": 2,
            "columns": {"vehicle": "VARCHAR", "(withheld) 2": "DOUBLE", "(withheld) 3": "DOUBLE"},
        }
    ]
    said = last(events)
    assert said.ending == "answered" and "918,273" in said.text
    assert "[[table-2]]" in said.text and "[[plot-1]]" in said.text
