"""What a run needs from the rest of the house, as small protocols."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandtable.catalog.model import Dataset
from sandtable.policy.verdict import Verdict
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import Limits


class CompiledPlan(Protocol):
    @property
    def sql(self) -> str: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...


class Datasets(Protocol):
    async def ready(self, dataset_id: str) -> Dataset:
        """The dataset in its current version, with its data in the store. Raises NotFound."""
        ...

    async def version(self, dataset_id: str, version: str) -> Dataset:
        """One version, as it was when it was queried. Raises NotFound when it is not here."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    datasets: Datasets
    compile: Callable[[dict[str, Any], Dataset, int], CompiledPlan]
    """Plan, dataset, row limit. Raises InvalidInput for a plan that cannot be used."""
    judge: Callable[[str, Dataset], Awaitable[Verdict]]
    executor: Executor
    engine: str
    """Such as `duckdb 2.0.0`."""
    isolation: tuple[str, ...] = ()
    limits: Limits = field(default_factory=lambda: Limits.model_validate({}))
    """The most any run may use; requests may ask for less."""
    threads: int = 1
    """For large data; small data and order-dependent queries use one."""
    large_rows: int = 500_000
    """From how many rows on data is large."""
    judge_s: float = 10.0
    """After how long the gate counts as hung."""
    grace_s: float = 10.0
    """How long after the wall-clock limit a sandbox counts as hung."""
