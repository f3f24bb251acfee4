"""A workspace in this process, on a small engine; what it changes in libraries is put back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import altair as alt
import duckdb
import numpy as np
import plotly.basedatatypes
import pytest

from sandtable_runner.python.workspace import Workspace

LIMITS = {"rows": 200, "cell_bytes": 1000, "result_bytes": 100_000, "log_bytes": 10_000}
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1, "python_enable_replacements": False}) as made:
        made.execute(
            "CREATE TABLE orders AS SELECT x AS id, ['north', 'south', 'east'][1 + x % 3] AS region, "
            "CAST(x * 1.5 AS DECIMAL(10, 2)) AS amount, DATE '2024-01-01' + x::INT AS day "
            "FROM range(10) AS r(x)"
        )
        yield made


@pytest.fixture
def workspace(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for owner, name in (
        (np.random, "default_rng"),
        (plotly.basedatatypes.BaseFigure, "show"),
        (alt.TopLevelMixin, "show"),
        (alt.TopLevelMixin, "display"),
        (warnings, "formatwarning"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return Workspace(connection, ["orders"], checked=True)


@pytest.fixture
def run(workspace: Workspace) -> Run:
    def run_cell(code: str, *, seed: int = 1, names: dict[str, str] | None = None, **limits: int) -> Any:
        return workspace.run(code, seed=seed, limits=LIMITS | limits, names=names or {})

    return run_cell
