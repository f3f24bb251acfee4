"""Code in a real sandbox: results, artifacts, determinism, and ordinary analysis after the seal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandtable.errors import ErrorCode, SandboxUnavailable
from sandtable.sandbox.artifact import ARTIFACTS
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ORDINARY = (Path(__file__).parent / "ordinary.txt").read_text(encoding="utf-8").strip().split("\n---\n")


@pytest.mark.parametrize("code", _ORDINARY, ids=[code.splitlines()[-1][:60] for code in _ORDINARY])
async def test_ordinary_analysis(bench: Bench, code: str) -> None:
    """Whatever a library loads on first use must be there: no file can be read any more."""
    result = await bench.run(code, wall_ms=30_000)
    assert result.status == "succeeded", (result.error, result.stderr)
    assert result.stderr == ""
    assert result.stdout or result.output["artifacts"], "nothing came of it"


async def test_the_last_table_is_the_result(bench: Bench) -> None:
    result = await bench.run("show(df.head(1))\nshow_html('x')\ndf.groupby('region')['amount'].sum()")
    assert [column.model_dump() for column in result.columns] == [
        {"name": "region", "type": "VARCHAR"},
        {"name": "amount", "type": "DOUBLE"},
    ]
    assert result.rows == (("east", 49450.5), ("north", 49549.5), ("south", 49500.0))
    assert (result.row_count, result.truncated) == (3, False)
    assert result.output["displayed"] == "table-2"
    assert result.stdout == "[[table-1]]\n[[html-1]]\n"
    kinds = [artifact.kind for artifact in ARTIFACTS.validate_python(result.output["artifacts"])]
    assert kinds == ["table", "html", "table"]


async def test_no_table_no_rows(bench: Bench) -> None:
    result = await bench.run("1 + 1")
    assert (result.columns, result.rows, result.row_count, result.stdout) == ((), (), 0, "2\n")
    assert result.output == {"artifacts": [], "displayed": None, "loaded": {}}


async def test_rows_over_the_limit(bench: Bench) -> None:
    result = await bench.run("df", rows=5)
    assert (len(result.rows), result.row_count, result.truncated) == (5, 5, True)


async def test_a_failed_run_has_no_rows_but_what_it_showed(bench: Bench) -> None:
    result = await bench.run("show(df.head(1))\nmissing")
    assert result.error is not None
    assert (result.error.code, result.error.type) == (ErrorCode.VALIDATION_ERROR, "NameError")
    assert result.rows == ()
    assert [artifact["id"] for artifact in result.output["artifacts"]] == ["table-1"]


async def test_a_wide_table_costs_what_is_used_of_it(bench: Bench) -> None:
    result = await bench.run("wide['c7'].sum() + orders.id.sum()", data=bench.wide())
    assert result.output["loaded"] == {"orders": ["id"], "wide": ["c7"]}
    whole = await bench.run("wide.shape", data=bench.wide())
    assert (whole.stdout, whole.output["loaded"]) == ("(100, 300)\n", {"wide": "all"})


async def test_two_tables_have_no_df(bench: Bench) -> None:
    result = await bench.run("df", data=bench.wide())
    assert result.error is not None
    assert result.error.type == "NameError"


_REPEATED = """
show({}.__class__)
print(set('the quick brown fox'), random.random(), np.random.rand(), np.random.default_rng().normal())
print(hash('a'), sql('select random() as r, uuid() as u').to_string())
show_plot(px.scatter(df.sample(20), x='id', y='amount', color='region'))
show(pl.from_pandas(df).sample(3))
alt.Chart(df.sample(5)).mark_bar().encode(x='region', y='amount')
"""


async def test_the_same_code_gives_the_same_bytes(bench: Bench) -> None:
    """From whichever shelf the sandbox comes."""
    first = await bench.run(_REPEATED)
    assert first.status == "succeeded", first.error
    await bench.executor.settle()
    again = await asyncio.gather(*(bench.run(_REPEATED) for _ in range(3)))
    same = {"stdout", "stderr", "rows", "columns", "output"}
    for result in again:
        assert result.model_dump(include=same) == first.model_dump(include=same)
    other = await bench.run(_REPEATED, seed=2)
    assert other.stdout != first.stdout


async def test_another_template_gives_the_same_bytes(bench: Bench) -> None:
    first = await bench.run(_REPEATED)
    executor = LocalExecutor(bench.store.root, standby=0)
    try:
        second = await Bench(executor, bench.store).run(_REPEATED)
    finally:
        await executor.aclose()
    assert (second.stdout, second.output) == (first.stdout, first.output)


async def test_nothing_stays_from_run_to_run(bench: Bench) -> None:
    for _ in range(3):
        await bench.run("left = 1\npd.left = 1\ncon.execute('create table left_behind as select 1')")
    await bench.executor.settle()
    result = await bench.run("hasattr(pd, 'left'), len(sql('show tables'))")
    assert result.stdout == "(False, 1)\n"


async def test_after_earlier_cells_it_is_a_cell_of_their_session(bench: Bench) -> None:
    cells = [
        "x = random.random()\nshow(df.head(1))",
        "y = 1\n1 / 0",
        "print('lost')\nraise SystemExit",
        "nope =",
    ]
    last = "print(x, y, random.random())\ndf.head(2)"
    before = [{"code": code, "seed": number} for number, code in enumerate(cells)]
    alone = await bench.run(last, seed=9, before=before)
    session = await bench.open()
    try:
        for cell in before:
            await session.cell(cell["code"], seed=cell["seed"])
        living = await session.cell(last, seed=9)
    finally:
        await session.aclose()
    assert alone.status == "succeeded", alone.error
    assert (alone.stdout, alone.rows, alone.output) == (living.stdout, living.rows, living.output)
    assert [artifact["id"] for artifact in alone.output["artifacts"]] == ["table-2"]


async def test_the_world_around_code(bench: Bench) -> None:
    code = (
        "import os, time, threading\n"
        "print(sorted(os.environ), time.tzname[0], threading.active_count(), os.getcwd())"
    )
    result = await bench.run(code, check=False)
    names, zone, threads, _ = result.stdout.rsplit(" ", 3)
    assert (names, zone, threads) == ("['POLARS_MAX_THREADS', 'POLARS_TEMP_DIR', 'TZ']", "UTC", "1")


async def test_queries_and_code_have_templates_of_their_own(bench: Bench) -> None:
    job = bench.job("SELECT 1 AS x", mode="sql")
    await bench.executor.submit(job)
    assert (await bench.executor.result(job.id)).rows == ((1,),)
    code, query = await bench.executor.start("py"), await bench.executor.start()
    assert code.pid != query.pid
    assert "pandas" in code.engine
    assert "pandas" not in query.engine


async def test_a_host_without_the_libraries_is_told_what_to_install(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sandtable.sandbox.local.launch._COMMAND",
        {"py": (["-S", "-P", "-c", _WITHOUT, "-m"], {"PATH": "/usr/bin:/bin"})},
    )
    executor = LocalExecutor(bench.store.root)
    try:
        with pytest.raises(SandboxUnavailable) as caught:
            await executor.start("py")
    finally:
        await executor.aclose()
    assert "pip install 'sandtable[python]'" in caught.value.suggestion


_WITHOUT = """
import json, socket, sys
control = socket.socket(fileno=json.loads(sys.argv[-1])["control_fd"])
control.send(json.dumps({"missing": "pandas"}).encode())
"""
