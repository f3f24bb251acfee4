"""How many sandboxes wait, and which of them jobs take."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.stored.store import DataStore
from sandtable.observing import Observer
from sandtable.sandbox.executor import executed
from sandtable.sandbox.job import Job
from sandtable.sandbox.local.executor import LocalExecutor


class Taken:
    def __init__(self) -> None:
        self.origins: list[str] = []

    def timed(self, what: str, seconds: float, **labels: str) -> None:
        raise AssertionError("an executor times nothing")

    def counted(self, what: str, amount: float = 1, **labels: str) -> None:
        assert (what, labels["kind"]) == ("sandbox", "sql")
        self.origins.append(labels["origin"])


async def test_taken_and_ready_sandboxes_are_counted(store: DataStore, isolation: Any) -> None:
    taken = Taken()
    executor = LocalExecutor(
        store.root, isolation=isolation, standby=1, presealed=1, observer=Observer(taken)
    )
    try:
        assert not any(executor.ready_now().values())
        result = await executed(executor, Job(id="one", mode="sql", text="SELECT 1 AS n"))
        assert {"query_ms", "fetch_ms", "seal_ms"} <= result.metrics.keys()
        await executor.settle()
        ready = executor.ready_now()
        assert (ready["sql", "presealed"], ready["sql", "standby"]) == (1, 1)
        await executed(executor, Job(id="two", mode="sql", text="SELECT 2 AS n"))
        assert taken.origins == ["fresh", "presealed"]
    finally:
        await executor.aclose()
