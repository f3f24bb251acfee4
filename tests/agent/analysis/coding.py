"""A coder that follows a script, and cells that a scripted sandbox answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sandtable.agent.analysis.coder import Advice, Reply, Task, Written
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.proposer import Usage
from sandtable.capsule.query import CodeQuery
from sandtable.errors import ErrorCode
from sandtable.runs.model import Run
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.agent.house import House, open_house

T = TypeVar("T")
QUESTION = "forecast revenue for next month"
CHART = "fig = px.line(final_df)\nfig"


@dataclass
class ScriptedCoder:
    steps: tuple[str, ...] = ("Load.", "Fit.", "Forecast.")
    codes: list[str] = field(default_factory=lambda: ["one", "two", "three"])
    """In the order in which they are asked for; the last is repeated."""
    answer: str | None = None
    trouble: set[str] = field(default_factory=set[str])
    """What it cannot do."""
    calls_each: int = 1
    tasks: list[tuple[str, Task]] = field(default_factory=list[tuple[str, Task]])

    async def plan_steps(self, task: Task) -> Reply[tuple[str, ...]]:
        return self._reply("plan_steps", task, self.steps)

    async def write_code(self, task: Task) -> Reply[Written]:
        place = sum(name == "write_code" for name, _ in self.tasks)
        code = self.codes[min(place, len(self.codes) - 1)]
        return self._reply("write_code", task, Written(thought=f"Now {code}.", code=code))

    async def diagnose(self, task: Task) -> Reply[Advice]:
        return self._reply("diagnose", task, Advice(diagnosis="It is wrong", suggestion="Mend it"))

    async def draw(self, task: Task) -> Reply[Written]:
        return self._reply("draw", task, Written(code=CHART))

    async def conclude(self, task: Task, plain: str) -> Reply[str] | None:
        return None if self.answer is None else self._reply("conclude", task, self.answer)

    @property
    def asked_for(self) -> list[str]:
        return [name for name, _ in self.tasks]

    def _reply(self, name: str, task: Task, what: T) -> Reply[T]:
        self.tasks.append((name, task))
        if name in self.trouble:
            raise ModelTrouble("unreadable", "no usable reply", suggestion="Ask again.", model="m")
        return Reply(what, Usage(((f"{name}.md", "0" * 64),), 10, 5, 1.0), self.calls_each)


def table(number: int, rows: list[list[Any]], *names: str) -> dict[str, Any]:
    columns = [{"name": name, "type": "DOUBLE"} for name in names]
    return {
        "id": f"table-{number}",
        "kind": "table",
        "title": "",
        "columns": columns,
        "rows": rows,
        "row_count": len(rows),
        "truncated": False,
    }


def plot(number: int) -> dict[str, Any]:
    figure = {"data": [{"type": "bar", "x": [1], "y": [2]}], "layout": {}}
    return {"id": f"plot-{number}", "kind": "plot", "title": "", "format": "plotly", "figure": figure}


def shows(*artifacts: dict[str, Any], stdout: str = "") -> Script:
    tables = [artifact for artifact in artifacts if artifact["kind"] == "table"]
    columns = [(column["name"], column["type"]) for column in tables[-1]["columns"]] if tables else []
    rows = tables[-1]["rows"] if tables else []
    return Script(columns=columns, rows=rows, output={"artifacts": list(artifacts)}, stdout=stdout)


def fails(kind: str = "ValueError", message: str = "no") -> Script:
    error = JobError(code=ErrorCode.VALIDATION_ERROR, type=kind, message=message, suggestion="See the line.")
    trace = f'Traceback (most recent call last):\n  File "<cell>", line 3, in <module>\n{kind}: {message}\n'
    return Script(error=error, stderr=trace)


RESULT = shows(table(1, [[1.0, 10.0], [2.0, 20.5]], "month", "revenue"), stdout="fitted 2 months\n")
SINGLE = shows(table(1, [[42.0]], "revenue"))
DRAWN = shows(plot(1))


def code_of(run: Run) -> CodeQuery:
    assert isinstance(run.request.query, CodeQuery)
    return run.request.query


@asynccontextmanager
async def analysing(
    home: Path, coder: ScriptedCoder, scripts: dict[str, Script] | None = None, **more: Any
) -> AsyncIterator[House]:
    async with open_house(home, coder=coder, python=True, **more) as house:
        for code, script in {"three": RESULT, CHART: DRAWN, **(scripts or {})}.items():
            house.executor.on(code, script)
        yield house
