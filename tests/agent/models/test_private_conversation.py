"""A whole conversation with `SANDTABLE_PRIVACY=schema`: the person sees the cells, the model never does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtable.agent.events import Message, Table
from sandtable.assemble import assemble
from sandtable.assemble.conversation import converse
from tests.agent.models.scripted import Call, Request, Say, Step, start_scripted

CANARIES = ("Zanzibar-Quetzal", "918273645", "1987-06-05", "Ada Nightingale")
CSV = """\
name,city,income,joined
Ada Nightingale,Zanzibar-Quetzal,918273645,1987-06-05
Grace Ann,Zanzibar-Quetzal,10,2024-02-01
Linus Ohm,Oslo,20,2024-03-01
"""
BY_CITY = {
    "table": "people",
    "select": [
        {"column": "city"},
        {"agg": "count", "as": "people"},
        {"agg": "max", "column": "income", "as": "most"},
    ],
    "order_by": [{"expr": "people", "dir": "desc"}],
}
FIRST = "How many people are in each city, and what is the highest income?"
ONLY = "now only those who joined before 2000"
NAMED = "How many people are in the first row of crowded?"
REPLIES = {
    FIRST: {"intent": "plan", "plan": BY_CITY},
    ONLY: {
        "intent": "plan",
        "plan": {**BY_CITY, "filters": [{"column": "joined", "op": "<", "value": "2000-01-01"}]},
    },
    NAMED: {
        "intent": "plan",
        "plan": {"table": "crowded", "select": [{"column": "city"}, {"column": "people"}], "limit": 1},
    },
}
LOOKED_AT = "SELECT city, name AS who, count(*) AS n FROM people GROUP BY ALL"
BAD_SQL = "SELECT CAST(city AS INTEGER) AS number FROM people ORDER BY 1"


def _script(request: Request) -> Step:
    if len(request.body.get("tools") or ()) > 1 and '<data name="looks">' not in request.prompt:
        return Call("execute_sql", {"sql": LOOKED_AT})
    for question, reply in REPLIES.items():
        if f'<data name="question">\n{json.dumps(question)}\n</data>' in request.prompt:
            return Say(reply)
    if '<data name="refused">' in request.prompt:
        return Say({"intent": "ask_back", "text": "The cities are no numbers."})
    return Say({"intent": "sql", "sql": BAD_SQL})


@pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
async def test_no_cell_reaches_the_model_in_a_conversation(wire: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, "utf-8")
    asking_sql = "Give me SQL that turns every city into a number"
    questions = [
        FIRST,
        ONLY,
        "call that crowded",
        NAMED,
        asking_sql,
        "show me the SQL",
        "why was that rejected?",
        FIRST,
    ]
    shown = ""
    endings: list[str] = []
    with start_scripted(_script) as server:
        settings = server.settings(wire, tmp_path / "home", privacy="schema")
        async with assemble(settings) as parts, converse(parts) as analyst:
            dataset = await parts.datasets.add_files([tmp_path / "people.csv"])
            for question in questions:
                asked = analyst.ask(question, dataset_id=dataset.id, thread_id="t")
                events = [event async for event in asked]
                shown += "".join(e.model_dump_json() for e in events if isinstance(e, Table | Message))
                assert isinstance(events[-1], Message)
                endings.append(events[-1].ending)
        sent = server.said()
    assert [canary for canary in CANARIES[:2] if canary not in shown] == [], "the person sees the cells"
    assert "its message may quote the data and is not shown" in sent, (
        "the failed run was sent back for repair"
    )
    assert [canary for canary in CANARIES if canary in sent] == []
    assert [endings[place] for place in (0, 1, 3, 4, 7)] == ["answered"] * 3 + ["failed", "answered"]
    assert len(server.requests) >= 5
    assert '"columns":{"city":"VARCHAR","who":"VARCHAR","n":"BIGINT"}' in json.loads(f'"{_looks(sent)}"')


def _looks(sent: str) -> str:
    """What the model was shown of the first run that it looked at, as it stands in a request's JSON."""
    return sent.partition('<data name=\\"looks\\">')[2].partition("</data>")[0]
