"""A run of Python from request to capsule, over a scripted sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandtable.capsule.canonical import digest
from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.model import LOG_CHARS, SCHEMA, UNCHECKED, Capsule
from sandtable.capsule.query import CodeQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.capsule.shown import ROOM_BYTES
from sandtable.capsule.verify import verify
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, InvalidInput, NotFound
from sandtable.runs.code import seed_of
from sandtable.runs.desk import Runs
from sandtable.runs.export import csv_of, export_run
from sandtable.runs.model import Run, RunRequest, read_request
from sandtable.runs.rederive import rederive_with
from sandtable.sandbox.artifact import MOST_ARTIFACTS, TableArtifact
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.capsule.samples import VERSION
from tests.runs.world import World, code

COLUMNS = [("region", "VARCHAR"), ("total", "DOUBLE")]
ROWS = [["North", 2.0], ["South", 1.5]]
TABLE: dict[str, Any] = {
    "id": "table-1",
    "kind": "table",
    "title": "By region",
    "columns": [{"name": name, "type": kind} for name, kind in COLUMNS],
    "rows": ROWS,
    "row_count": 2,
    "truncated": False,
}
FIGURE: dict[str, Any] = {
    "data": [{"type": "bar", "x": ["a"], "y": [1.5]}],
    "layout": {"title": {"text": "T"}},
}
PLOT: dict[str, Any] = {"id": "plot-1", "kind": "plot", "title": "T", "format": "plotly", "figure": FIGURE}
SHOWN = Script(
    columns=COLUMNS,
    rows=ROWS,
    stdout="hello\n[[table-1]]\n",
    output={"artifacts": [TABLE], "displayed": None, "loaded": {"orders": "all"}},
)
PLOTTED = replace(SHOWN, output={"artifacts": [TABLE, PLOT], "displayed": "plot-1"})
NOTHING = Script(columns=(), rows=(), stdout="7\n", output={"artifacts": [], "displayed": None})


@pytest.fixture(autouse=True)
def _scripts(world: World) -> None:
    world.executor.on("orders", SHOWN)
    world.executor.on("plot", PLOTTED)
    world.executor.on("print(7)", NOTHING)


async def ended(runs: Runs, request: RunRequest) -> Run:
    return await runs.wait((await runs.submit(request)).id, 5)


async def capsule_of(runs: Runs, run: Run) -> Capsule:
    return Capsule.model_validate(read_statement(unpack(await runs.capsule(run.id))[0])["predicate"])


async def verified(world: World, runs: Runs, run: Run, **changes: Any) -> dict[str, tuple[str, str]]:
    async def rehash(dataset: Dataset) -> str:
        return dataset.version

    parts = rederive_with(world.parts(**changes), trusted_keys(world.home), rehash)
    report = await verify(await runs.capsule(run.id), parts)
    return {link.name: (link.status, link.detail) for link in report.links}


async def test_code_runs_and_leaves_what_it_printed_and_showed(runs: Runs, world: World) -> None:
    run = await ended(runs, code("orders", question="what?"))
    assert (run.status, run.request.mode, run.sql, run.executed_sql) == ("succeeded", "python", None, None)
    assert run.stdout == "hello\n[[table-1]]\n"
    assert run.rows == (("North", 2.0), ("South", 1.5))
    [shown] = run.artifacts
    assert isinstance(shown, TableArtifact)
    assert (shown.title, shown.rows) == ("By region", run.rows)
    assert run.output == {}
    [job] = world.executor.jobs
    assert (job.mode, job.text) == ("python", "orders")
    assert job.options == {"names": {}, "seed": seed_of("orders", VERSION), "check": True}
    assert await runs.get(run.id) == run


async def test_the_capsule_holds_the_code_and_what_it_showed(runs: Runs) -> None:
    run = await ended(runs, code("orders", names={"award_data": "orders"}))
    made = await capsule_of(runs, run)
    assert (made.schema_version, made.mode, made.python, made.sql) == (SCHEMA, "python", "orders", None)
    assert made.names == {"award_data": "orders"}
    assert made.engine == "duckdb 2.0.0, python 3.11.2, pandas 3.1.0"
    [kept] = made.artifacts
    assert kept.artifact is not None
    assert (kept.id, kept.kind, kept.title, kept.artifact["rows"]) == ("table-1", "table", "By region", ROWS)
    assert made.digests.python == digest("orders")
    assert made.digests.stdout == digest("hello\n[[table-1]]\n")
    assert made.digests.artifacts is not None


async def test_everything_about_it_is_derived_again(runs: Runs, world: World) -> None:
    links = await verified(world, runs, await ended(runs, code("plot", chart=True)))
    assert {status for status, _ in links.values()} == {"ok"}, links
    assert list(links)[-2:] == ["artifacts", "stdout"]
    assert links["plan"] == ("ok", "there is no plan: Python was submitted")


@pytest.mark.parametrize(
    ("now", "broken"),
    [
        pytest.param(replace(SHOWN, stdout="bye\n"), ["stdout"], id="prints something else"),
        pytest.param(
            replace(SHOWN, output={"artifacts": [{**TABLE, "title": "Other"}]}), ["artifacts"], id="a title"
        ),
        pytest.param(
            replace(SHOWN, output={"artifacts": [{**TABLE, "rows": [["North", 3.0], ROWS[1]]}]}),
            ["artifacts"],
            id="a cell of a table",
        ),
        pytest.param(PLOTTED, ["artifacts"], id="one more"),
        pytest.param(replace(SHOWN, output={"artifacts": []}), ["artifacts"], id="one less"),
        pytest.param(replace(SHOWN, rows=[["North", 3.0]]), ["result"], id="other rows"),
    ],
)
async def test_the_link_that_broke_is_named(runs: Runs, world: World, now: Script, broken: list[str]) -> None:
    run = await ended(runs, code("orders"))
    world.executor.on("orders", now)
    links = await verified(world, runs, run)
    assert [name for name, (status, _) in links.items() if status == "broken"] == broken


@pytest.mark.parametrize(
    ("then", "now"),
    [
        pytest.param(
            replace(SHOWN, stdout="<f at 0x7f00deadbeef>\n"),
            replace(SHOWN, stdout="<f at 0x7fffdeadbee0>\n"),
            id="addresses",
        ),
        pytest.param(
            SHOWN,
            replace(
                SHOWN, output={"artifacts": [{**TABLE, "rows": [["South", 1.5], ["North", 2.0 + 4e-16]]}]}
            ),
            id="order of rows and noise of floats",
        ),
        pytest.param(
            PLOTTED,
            replace(
                PLOTTED,
                output={
                    "artifacts": [
                        TABLE,
                        {**PLOT, "figure": {**FIGURE, "data": [{**FIGURE["data"][0], "y": [1.5 + 2e-16]}]}},
                    ]
                },
            ),
            id="noise in a figure",
        ),
    ],
)
async def test_noise_breaks_nothing(runs: Runs, world: World, then: Script, now: Script) -> None:
    world.executor.on("orders", then)
    run = await ended(runs, code("orders"))
    world.executor.on("orders", now)
    assert {status for status, _ in (await verified(world, runs, run)).values()} == {"ok"}


async def test_a_volatile_run_says_that_it_cannot_be_compared(runs: Runs, world: World) -> None:
    first, second = [await ended(runs, code("datetime.now()")) for _ in range(2)]
    assert second.cached_from is None and first.verdict is not None
    links = await verified(world, runs, first)
    why = "the code uses datetime.now, whose value differs from run to run"
    assert [links[name] for name in ("result", "artifacts", "stdout")] == [("not_checked", why)] * 3
    assert links["verdict"][0] == "ok"


async def test_a_server_without_python_verifies_what_it_can(runs: Runs, world: World) -> None:
    links = await verified(world, runs, await ended(runs, code()), judge_python=None)
    assert links["verdict"] == ("not_checked", "Python is switched off here")
    assert links["result"][0] == links["artifacts"][0] == "not_checked"
    assert links["signature"][0] == "ok"


async def test_the_same_code_is_answered_from_the_first_run(runs: Runs, world: World) -> None:
    first = await ended(runs, code("plot"))
    again = await ended(runs, code("plot"))
    assert again.cached_from == first.id
    assert (again.artifacts, again.stdout, again.rows, again.chart) == (
        first.artifacts,
        first.stdout,
        first.rows,
        FIGURE,
    )
    assert len(world.executor.jobs) == 1
    assert {status for status, _ in (await verified(world, runs, again)).values()} == {"ok"}
    other = await ended(runs, code("plot", names={"a": "orders"}))
    assert other.cached_from is None
    assert (await ended(runs, code("plot", cache=False))).cached_from is None


async def test_long_output_is_kept_whole_and_sealed_by_its_digest(runs: Runs, world: World) -> None:
    long = "x" * (LOG_CHARS + 100) + "\n"
    world.executor.on("orders", replace(SHOWN, stdout=long))
    run = await ended(runs, code("orders"))
    assert run.stdout == (await runs.get(run.id)).stdout == long
    made = await capsule_of(runs, run)
    assert (len(made.stdout), made.digests.stdout) == (LOG_CHARS, digest(long))
    assert len((await runs.list())[0].stdout) == LOG_CHARS
    assert {status for status, _ in (await verified(world, runs, run)).values()} == {"ok"}
    assert (await ended(runs, code("orders"))).cached_from == run.id


async def test_a_large_artifact_is_in_the_capsule_by_its_digest(runs: Runs, world: World) -> None:
    page = {"id": "html-1", "kind": "html", "title": "", "html": "x" * ROOM_BYTES}
    world.executor.on("orders", replace(SHOWN, output={"artifacts": [page, TABLE]}))
    run = await ended(runs, code("orders"))
    assert [artifact.id for artifact in run.artifacts] == ["html-1", "table-1"]
    made = await capsule_of(runs, run)
    assert [record.artifact is None for record in made.artifacts] == [True, False]
    assert {status for status, _ in (await verified(world, runs, run)).values()} == {"ok"}
    world.executor.on("orders", replace(SHOWN, output={"artifacts": [{**page, "html": "y"}, TABLE]}))
    assert (await verified(world, runs, run))["artifacts"][1].endswith("html-1")


@pytest.mark.parametrize(
    ("text", "chart", "drawn"),
    [
        pytest.param("plot", False, FIGURE, id="a figure of its own, asked for or not"),
        pytest.param("plot", True, FIGURE, id="a figure of its own"),
        pytest.param("orders", False, None, id="a table, and none asked for"),
        pytest.param("orders", True, "ours", id="a table"),
        pytest.param("print(7)", True, None, id="text alone"),
    ],
)
async def test_the_chart_of_a_run(runs: Runs, world: World, text: str, chart: bool, drawn: Any) -> None:
    run = await ended(runs, code(text, chart=chart, question="total by region"))
    kept = (await capsule_of(runs, run)).chart
    if drawn == "ours":
        assert run.chart is not None and run.chart["data"][0]["y"] == [2, 1.5]
        assert kept == run.chart
    else:
        assert (run.chart, kept) == (drawn, None)
    assert (await runs.get(run.id)).chart == run.chart
    assert {status for status, _ in (await verified(world, runs, run)).values()} <= {"ok", "reading"}


async def test_refused_code_is_rejected_with_its_place(runs: Runs, world: World) -> None:
    run = await ended(runs, code("x = 1\nimport os"))
    assert run.status == "rejected" and run.error is not None
    assert run.error.code == ErrorCode.PYTHON_POLICY_VIOLATION
    assert (run.error.details["position"], run.error.details["length"]) == (6, 9)
    assert world.executor.jobs == []
    assert {status for status, _ in (await verified(world, runs, run)).values()} <= {"ok", "reading"}


async def test_code_that_fails_keeps_what_it_printed(runs: Runs, world: World) -> None:
    error = JobError(code=ErrorCode.VALIDATION_ERROR, type="KeyError", message="'b'", suggestion="use `a`")
    script = Script(
        error=error, stdout="so far\n", stderr='File "<cell>", line 1', output={"artifacts": [TABLE]}
    )
    world.executor.on("orders", script)
    run = await ended(runs, code("orders"))
    assert (run.status, run.stdout, run.stderr) == ("failed", "so far\n", 'File "<cell>", line 1')
    assert run.error is not None and run.error.details["type"] == "KeyError"
    assert [artifact.id for artifact in (await runs.get(run.id)).artifacts] == ["table-1"]
    assert run.rows is None and run.chart is None
    links = await verified(world, runs, run)
    assert links["result"] == ("ok", "the run is failed: it has no result")
    assert links["artifacts"][0] == links["stdout"][0] == "not_checked"


@pytest.mark.parametrize(
    "output",
    [
        pytest.param({"artifacts": [{"id": "table-1"}]}, id="fields missing"),
        pytest.param({"artifacts": [{**TABLE, "id": "html-1"}]}, id="another kind"),
        pytest.param({"artifacts": [TABLE, TABLE]}, id="twice"),
        pytest.param({"artifacts": [{**TABLE, "rows": [["North"]]}]}, id="a row too short"),
        pytest.param(
            {"artifacts": [{**TABLE, "id": f"table-{n}"} for n in range(1, MOST_ARTIFACTS + 2)]},
            id="too many",
        ),
        pytest.param({"artifacts": "table-1"}, id="no list"),
    ],
)
async def test_an_answer_that_is_not_as_agreed_fails_the_run(runs: Runs, world: World, output: Any) -> None:
    world.executor.on("orders", replace(SHOWN, output=output))
    run = await ended(runs, code("orders"))
    assert run.status == "failed" and run.error is not None
    assert run.error.code == ErrorCode.RUNNER_INTERNAL_ERROR
    assert run.artifacts == ()


async def test_unchecked_code_says_so_everywhere(world: World) -> None:
    async with world.opened(parts=world.parts(may_skip_check=True)) as runs:
        run = await ended(runs, code("import os", check=False))
        assert (run.status, run.warnings) == ("succeeded", (UNCHECKED,))
        assert run.verdict is not None and run.verdict.decision == "unchecked"
        assert world.executor.jobs[0].options["check"] is False
        made = await capsule_of(runs, run)
        assert made.verdict is not None
        assert (made.verdict.decision, made.verdict.warnings) == ("unchecked", (UNCHECKED,))
        assert (await ended(runs, code("import os", check=False))).cached_from is None
        links = await verified(world, runs, run)
        assert links["verdict"] == ("not_checked", "the code ran unchecked; the gate would refuse it")
        assert links["result"][0] == "not_checked"
        fine = await ended(runs, code("orders", check=False))
        links = await verified(world, runs, fine)
        assert links["verdict"] == ("not_checked", "the code ran unchecked; the gate would approve it")
        assert links["result"][0] == links["artifacts"][0] == "ok"


async def test_a_server_checks_all_code(runs: Runs, world: World) -> None:
    with pytest.raises(InvalidInput, match="always checked"):
        await runs.submit(code("orders", check=False))


async def test_a_server_that_takes_up_unchecked_code_checks_it(world: World) -> None:
    """A run that a command left behind when it was killed."""
    idle = world.runs(parts=world.parts(may_skip_check=True), concurrency=0)
    await idle.start()
    left = await idle.submit(code("import os", check=False))
    await idle.aclose()
    async with world.opened() as runs:
        run = await runs.wait(left.id, 5)
    assert run.status == "rejected"
    assert world.executor.jobs == []


async def test_python_switched_off(world: World) -> None:
    async with world.opened(parts=world.parts(judge_python=None)) as runs:
        with pytest.raises(InvalidInput, match="switched off") as refused:
            await runs.submit(code())
        assert "SANDTABLE_PYTHON=on" in refused.value.suggestion


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"python": "1", "sql": "SELECT 1"}, "both `sql` and `python`"),
        ({"python": "x" * (3 << 20)}, "more than"),
        ({"python": "1", "mode": "dry_run"}, "not for Python"),
        ({"sql": "SELECT 1", "mode": "python"}, "not for SQL"),
        ({"sql": "SELECT 1", "check": False}, "only Python"),
        ({"sql": "SELECT 1", "session": "s"}, "only Python"),
        ({"sql": "SELECT 1", "names": {"a": "orders"}}, "only Python"),
        ({"python": "1", "names": {"not a name": "orders"}}, "cannot be a name"),
        ({"python": "1", "names": {"class": "orders"}}, "cannot be a name"),
        ({"python": "1", "names": {"__builtins__": "orders"}}, "cannot be a name"),
        ({"python": "1", "names": {f"n{n}": "orders" for n in range(101)}}, "more than 100"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_that_makes_no_sense_does_not_construct(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_request({"dataset_id": "shop", **fields})


async def test_a_name_for_no_table(runs: Runs) -> None:
    with pytest.raises(NotFound, match="`award_data` is to stand for the table `order`") as refused:
        await runs.submit(code(names={"award_data": "order"}))
    assert refused.value.suggestion == "Did you mean `orders`?"


def test_text_without_a_form_in_utf8_is_made_whole() -> None:
    assert code("'\ud83d'").query == CodeQuery("'\ufffd'")


def test_the_seed_depends_on_code_and_data() -> None:
    seeds = {seed_of(text, version) for text in ("a", "b") for version in ("1", "2")}
    assert len(seeds) == 4
    assert all(0 <= seed < 1 << 32 for seed in seeds)


async def test_the_last_table_can_be_downloaded(runs: Runs, world: World) -> None:
    assert csv_of(await ended(runs, code("orders"))) == b"region,total\r\nNorth,2.0\r\nSouth,1.5\r\n"
    store: Any = None
    with pytest.raises(NotFound, match="showed no table"):
        await export_run(await ended(runs, code("print(7)")), "csv", world.executor, store)
