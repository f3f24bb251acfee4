"""A small dataset of trips, a question about it that takes three steps, and a model that answers in its order.

The second step goes wrong at first: `Revenue` is not a column.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandtable.agent.analyst import Analyst
from sandtable.assemble import Parts, assemble
from sandtable.assemble.conversation import converse
from sandtable.catalog.model import Dataset
from sandtable.settings import Settings
from tests.agent.models.scripted import Request, Say, Step

CSV = """\
city,vehicle,day,revenue
Zanzibar-Quetzal,van,2025-01-10,918273
Zanzibar-Quetzal,van,2025-02-10,400
Zanzibar-Quetzal,bike,2025-01-12,120
Zanzibar-Quetzal,bike,2025-02-12,150
Oslo,van,2025-01-05,900
Oslo,van,2025-02-05,870
Oslo,bike,2025-01-06,200
Oslo,bike,2025-02-06,190
"""
CANARIES = ("Zanzibar", "918273", "917873")
QUESTION = "Which vehicle and city lost most revenue from January to February?"
STEPS = [
    "Add the month of each trip.",
    "Sum revenue by city, vehicle and month.",
    "Put the change from the first to the last month into final_df and show it.",
]
FIRST = """\
trips_by_month = trips.assign(month=pd.to_datetime(trips["day"]).dt.strftime("%Y-%m"))
print("months:", sorted(trips_by_month["month"].unique()))"""
WRONG = """\
totals = trips_by_month.groupby(["city", "vehicle", "month"], as_index=False)["Revenue"].sum()
totals"""
RIGHT = WRONG.replace("Revenue", "revenue")
LAST = """\
wide = totals.pivot(index=["city", "vehicle"], columns="month", values="revenue").reset_index()
wide["change"] = wide.iloc[:, -1] - wide.iloc[:, -2]
final_df = wide.sort_values("change").reset_index(drop=True)
print("worst change:", final_df["change"].iloc[0])
final_df"""
CHART = """\
import plotly.express as px
fig = px.bar(final_df, x="city", y="change", color="vehicle", title="Change of revenue")"""
ANSWER = """\
The van in Zanzibar-Quetzal had the lowest change, at -917,873.

[[table-2]]

Everything else moved by 4,242 at most.

[[plot-1]]"""
ADVICE = {
    "diagnosis": "The column is called revenue, not Revenue.",
    "suggestion": "Write revenue in small letters.",
}
TASKS = {
    "propose": "Turn the question at the end",
    "plan_steps": "Plan an analysis",
    "write_code": "Write the Python for one step",
    "diagnose": "The code of one step failed",
    "draw": "Draw one chart",
    "conclude": "An analysis has been run",
}
Answer = Mapping[str, Any] | str | Callable[[str], Mapping[str, Any] | str]


def task_in(prompt: str) -> str:
    return next(name for name, words in TASKS.items() if words in prompt)


def step_in(prompt: str) -> int:
    found = re.search(r'<data name="step">\n\{"number":(\d+)', prompt)
    assert found is not None
    return int(found[1])


def code_for(prompt: str) -> dict[str, Any]:
    step = step_in(prompt)
    code = {1: FIRST, 2: RIGHT if '<data name="advice">' in prompt else WRONG, 3: LAST}[step]
    return {"thought": f"I write step {step}.", "code": code}


@dataclass
class Model:
    """Answers each task as told; what it is not told otherwise, it does well."""

    told: dict[str, Answer] = field(default_factory=dict)
    tasks: list[str] = field(default_factory=list)
    """What it was asked for, in order."""

    def __call__(self, request: Request) -> Step:
        task = task_in(request.prompt)
        self.tasks.append(task)
        answer = self.told.get(task, _WELL[task])
        return Say(answer(request.prompt) if callable(answer) else answer)


_WELL: dict[str, Answer] = {
    "propose": {"intent": "analysis", "text": "It takes several steps."},
    "plan_steps": {"steps": STEPS},
    "write_code": code_for,
    "diagnose": ADVICE,
    "draw": {"thought": "Bars compare groups.", "code": CHART},
    "conclude": ANSWER,
}


@dataclass
class Office:
    parts: Parts
    analyst: Analyst
    dataset: Dataset

    async def ask(self, question: str, thread: str = "t") -> list[Any]:
        asked = self.analyst.ask(question, dataset_id=self.dataset.id, thread_id=thread)
        return [event async for event in asked]


@asynccontextmanager
async def office(settings: Settings, home: Path) -> AsyncGenerator[Office, None]:
    source = home / "trips.csv"
    source.write_text(CSV, "utf-8")
    async with assemble(settings) as parts, converse(parts) as analyst:
        yield Office(parts, analyst, await parts.datasets.add_files([source]))


def blocks(prompt: str) -> dict[str, Any]:
    found = re.findall(r'<data name="(\w+)">\n(.*?)\n</data>', prompt, re.DOTALL)
    return {name: json.loads(text) for name, text in found}
