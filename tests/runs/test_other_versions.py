"""A run of code that is verified where Python or a library has another version than the run had."""

from __future__ import annotations

from dataclasses import replace

from sandtable.runs.desk import Runs
from tests.runs.test_code import SHOWN, ended, verified
from tests.runs.world import World, code


async def test_what_differs_is_told_with_the_versions_and_is_not_called_broken(
    runs: Runs, world: World
) -> None:
    world.executor.on("orders", SHOWN)
    run = await ended(runs, code("orders"))
    world.executor.on("orders", replace(SHOWN, stdout="bye\n"))
    links = await verified(world, runs, run, python_engine=lambda: "python 3.13.0, pandas 3.1.0")
    assert {name for name, (status, _) in links.items() if status != "ok"} == {"stdout"}
    status, detail = links["stdout"]
    assert status == "not_checked"
    assert "it was made with python 3.11.2 (here 3.13.0)" in detail
