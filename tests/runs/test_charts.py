"""The figure of a run: made when asked for, kept in the capsule, never in the way of the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.canonical import canonical
from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.model import SCHEMA, Capsule, Origin, Prompt
from sandtable.capsule.query import PlanQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.capsule.verify import verify
from sandtable.catalog.model import Dataset
from sandtable.chart.figure import chart_of
from sandtable.runs import draw as drawing
from sandtable.runs.desk import Runs
from sandtable.runs.model import Run, RunRequest
from sandtable.runs.rederive import rederive_with
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobResult
from tests.runs.world import World, ask

SQL = "SELECT region, total"
COLUMNS = [("region", "VARCHAR"), ("total", "DOUBLE")]
ROWS = [("North", 2.0), ("South", 1.5), ("East", float("inf"))]
ORIGIN = Origin(
    proposer="anthropic:claude",
    prompts=(Prompt(name="plan", sha256="ab" * 32),),
    tokens_in=10,
    tokens_out=5,
    latency_ms=12.5,
    repairs=1,
)


@pytest.fixture(autouse=True)
def _result(world: World) -> None:
    world.executor.on(f"{SQL};", Script(columns=COLUMNS, rows=ROWS))


async def ended(runs: Runs, request: RunRequest) -> Run:
    return await runs.wait((await runs.submit(request)).id, 5)


async def capsule_of(runs: Runs, run: Run) -> Capsule:
    return Capsule.model_validate(read_statement(unpack(await runs.capsule(run.id))[0])["predicate"])


async def test_a_chart_is_made_when_asked_for(runs: Runs) -> None:
    run = await ended(runs, ask(SQL, chart=True, question="total by region"))
    assert run.chart is not None
    assert run.chart["data"][0]["x"] == ["North", "South", "East"]
    assert run.chart["data"][0]["y"] == [2, 1.5, None]
    assert canonical(run.chart) == canonical(chart_of(COLUMNS, ROWS, question="total by region"))
    assert "draw_ms" in run.stats
    capsule = await capsule_of(runs, run)
    assert capsule.schema_version == SCHEMA
    assert capsule.chart == run.chart == (await runs.get(run.id)).chart
    assert [listed.chart for listed in await runs.list()] == [None]


async def test_no_chart_is_made_unasked(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "chart_of", broken_chart)
    run = await ended(runs, ask(SQL))
    capsule = await capsule_of(runs, run)
    assert (run.chart, capsule.chart, capsule.digests.chart) == (None, None, None)
    assert "draw_ms" not in run.stats


def broken_chart(*given: Any, **more: Any) -> None:
    raise ZeroDivisionError("a defect")


async def test_a_chart_that_cannot_be_made_costs_no_answer(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "chart_of", broken_chart)
    run = await ended(runs, ask(SQL, chart=True))
    assert (run.status, run.chart, run.row_count) == ("succeeded", None, 3)
    assert (await capsule_of(runs, run)).chart is None
    assert drawing.draw(JobResult(job_id="j", status="succeeded"), "", None, 200) is None


async def test_one_cell_is_a_number(runs: Runs) -> None:
    run = await ended(runs, ask("SELECT 1", chart=True))
    assert run.status == "succeeded" and run.chart is not None
    assert [(trace["type"], trace["value"]) for trace in run.chart["data"]] == [("indicator", 42)]


@pytest.mark.parametrize(
    ("sql", "more"),
    [
        pytest.param("SELECT * FROM read_csv('x')", {}, id="refused"),
        pytest.param(SQL, {"mode": "dry_run"}, id="dry run"),
    ],
)
async def test_only_results_have_charts(runs: Runs, sql: str, more: dict[str, Any]) -> None:
    run = await ended(runs, ask(sql, chart=True, **more))
    assert run.chart is None
    assert (await capsule_of(runs, run)).chart is None


async def test_a_cached_result_gets_the_chart_of_its_own_question(runs: Runs, world: World) -> None:
    first = await ended(runs, ask(SQL))
    bars = await ended(runs, ask(SQL, chart=True))
    line = await ended(runs, ask(SQL, chart=True, question="line chart of total by region"))
    assert bars.cached_from == line.cached_from == first.id
    assert len(world.executor.jobs) == 1
    assert bars.chart is not None and line.chart is not None and first.chart is None
    assert (bars.chart["data"][0]["type"], line.chart["data"][0]["type"]) == ("bar", "scatter")
    again = await ended(runs, ask(SQL, chart=True, cache=False))
    assert again.cached_from is None
    assert again.chart == bars.chart


async def test_a_large_result_is_drawn_too(runs: Runs, world: World) -> None:
    rows = [(f"2024-01-{1 + n % 28:02d}T00:{n // 28:02d}:00", n) for n in range(1000)]
    world.executor.on("SELECT t, a, b;", Script(columns=[("t", "TIMESTAMP"), ("a", "BIGINT")], rows=rows))
    world.changes["limits"] = world.parts().limits.model_copy(update={"rows": 5000})
    async with world.opened() as more:
        run = await ended(more, ask("SELECT t, a, b", chart=True))
    assert run.chart is not None
    assert len(run.chart["data"][0]["x"]) == 1000


async def test_the_origin_is_sealed_with_its_prompts(runs: Runs) -> None:
    run = await ended(runs, ask(SQL, origin=ORIGIN))
    capsule = await capsule_of(runs, run)
    assert run.request.origin == capsule.origin == ORIGIN
    assert capsule.prompts == ("sha256:" + "ab" * 32,)
    assert capsule.digests.origin is not None
    without = await capsule_of(runs, await ended(runs, ask(SQL)))
    assert (without.origin, without.prompts, without.digests.origin) == (None, (), None)


async def test_every_end_keeps_its_origin(runs: Runs) -> None:
    run = await ended(runs, ask("SELECT * FROM read_csv('x')", origin=ORIGIN, chart=True))
    assert run.status == "rejected"
    assert (await capsule_of(runs, run)).origin == ORIGIN


async def test_capsules_with_charts_verify_and_name_a_chart_that_does_not(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def rehash(dataset: Dataset) -> str:
        return dataset.version

    parts = rederive_with(World(tmp_path).parts(), trusted_keys(tmp_path), rehash)
    plan = {"table": "orders", "select": 1.0}
    request = RunRequest(dataset_id="shop", query=PlanQuery(plan), chart=True, origin=ORIGIN)
    plotted = await ended(runs, request)
    assert (await verify(await runs.capsule(plotted.id), parts)).complete

    def flattering(columns: Any, rows: Any, **more: Any) -> Any:
        return chart_of(columns, [(name, 9.0) for name, _ in rows], **more)

    monkeypatch.setattr(drawing, "chart_of", flattering)
    false = await ended(runs, ask(SQL, chart=True))
    monkeypatch.undo()
    world = World(tmp_path)
    world.executor.on(f"{SQL};", Script(columns=COLUMNS, rows=ROWS))
    report = await verify(
        await runs.capsule(false.id), rederive_with(world.parts(), trusted_keys(tmp_path), rehash)
    )
    assert [link.name for link in report.links if link.status == "broken"] == ["chart"]
