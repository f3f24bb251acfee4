"""Questions in plain language, through the whole house: planner, gate, sandbox, capsule."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas
import pytest

import sandtable
from sandtable import InvalidInput, NotFound, aio

FRAME = pandas.DataFrame({"city": ["Bonn", "Cork", "Bonn"], "amount": [3, 5, 4]})


def test_an_answer_has_text_rows_and_a_record(sales: Path) -> None:
    answer = sandtable.ask("total amount by city", data=sales)
    assert answer.success and answer.status == "answered"
    assert answer.table is not None
    assert answer.table.records() == [
        {"city": "Bonn", "total_amount": 7},
        {"city": "Cork", "total_amount": 5},
    ]
    assert "7" in answer.text
    assert answer.reading == "total amount, by city, highest total amount first"
    assert answer.sql is not None and "GROUP BY" in answer.sql
    assert answer.chart is not None and answer.chart["data"][0]["type"] == "bar"
    assert answer.run_id is not None and answer.run_id.startswith("run_")


def test_a_conversation_goes_on() -> None:
    first = sandtable.ask("total amount by city", data={"sales": FRAME})
    second = sandtable.ask("only the top 1", data={"sales": FRAME}, thread=first.thread)
    assert second.thread == first.thread
    assert second.table is not None and second.table.rows == (("Bonn", 7),)


def test_another_reading_is_a_plan_away() -> None:
    first = sandtable.ask("total amount by city", data={"sales": FRAME})
    assert first.read_as is not None
    assert [(part.kind, part.source) for part in first.read_as.parts[:2]] == [
        ("measure", "words"),
        ("by", "words"),
    ]
    choice = next(c for c in first.read_as.parts[0].choices if c.label == "average amount")
    second = sandtable.ask(choice.message, data={"sales": FRAME}, thread=first.thread, plan=choice.plan)
    assert second.table is not None and sorted(second.table.rows) == [("Bonn", 3.5), ("Cork", 5)]
    assert second.read_as is not None and second.read_as.parts[0].source == "chosen"


def test_what_is_not_understood_is_asked_back(sales: Path) -> None:
    answer = sandtable.ask("florble the wumpus?", data=sales)
    assert not answer.success
    assert answer.status == "asked"
    assert answer.table is None and answer.run_id is None


@pytest.mark.parametrize(
    ("question", "says"), [("  ", "empty"), ("x" * 20_000, "too long"), (None, "of type NoneType")]
)
def test_what_is_no_question(question: str, says: str, sales: Path) -> None:
    with pytest.raises(InvalidInput, match=says):
        sandtable.ask(question, data=sales)


def test_about_nothing_that_exists() -> None:
    with pytest.raises(NotFound, match="neither a file nor a dataset"):
        sandtable.ask("how many?", data="nowhere")


async def test_many_at_once_from_another_loop(sales: Path) -> None:
    answers = await asyncio.gather(
        aio.ask("total amount by city", sales),
        aio.ask("how many sales?", sales),
        aio.ask("average amount", sales),
    )
    rows = [answer.table.rows for answer in answers if answer.table]
    assert rows == [(("Bonn", 7), ("Cork", 5)), ((3,),), ((4.0,),)]


def test_bad_settings_are_told(monkeypatch: pytest.MonkeyPatch, sales: Path) -> None:
    monkeypatch.setenv("SANDTABLE_MAX_ROWS", "none")
    with pytest.raises(InvalidInput, match="max_rows"):
        sandtable.ask("how many sales?", data=sales)


def test_files_that_belong_together_are_joined_and_it_is_said(tmp_path: Path) -> None:
    orders, customers = tmp_path / "orders.csv", tmp_path / "customers.csv"
    orders.write_text("order_id,customer_id,revenue\n1,7,10\n2,8,20\n3,7,5\n", encoding="utf-8")
    customers.write_text("customer_id,name,city\n7,Ann,Bonn\n8,Bob,Cork\n9,Cy,Rome\n", encoding="utf-8")
    answer = sandtable.ask("revenue by customer city", data=[orders, customers])
    assert answer.table is not None and sorted(answer.table.rows) == [("Bonn", 15), ("Cork", 20)]
    assert answer.read_as is not None
    assert answer.read_as.joins == ("orders.customer_id = customers.customer_id",)
    assert "Joined by: " in answer.text
    without = sandtable.ask("customers without orders", data=[orders, customers])
    assert without.table is not None and without.table.rows == (("Cy",),)
    assert without.read_as is not None
    assert without.read_as.joins == ("customers.customer_id = orders.customer_id",)
    alone = sandtable.ask("total revenue", data=[orders, customers])
    assert alone.read_as is not None and alone.read_as.joins == () and "Joined" not in alone.text


def test_an_answer_that_found_nothing_explains_itself() -> None:
    sql = "SELECT count(*) AS n FROM sales WHERE city = 'Bon'"
    empty = sandtable.ask(sql, data={"sales": FRAME})
    why = empty.explain()
    assert why.text.startswith("Of 3 rows of `sales`, none is left where `city = 'Bon'`.") and why.run_ids
    [fix] = why.fixes
    assert (fix.title, fix.text) == ("Use `Bonn` for `Bon`", sql.replace("'Bon'", "'Bonn'"))
    plan = {"table": "sales", "select": [{"agg": "count", "as": "n"}]}
    plan["filters"] = [{"column": "amount", "op": ">", "value": 100}]
    planned = sandtable.ask("more than 100", data={"sales": FRAME}, plan=plan)
    assert planned.explain().text == "Of 3 sales, none is left where amount is above 100."


def test_an_answer_that_found_something_has_nothing_to_explain(sales: Path) -> None:
    assert sandtable.ask("total amount by city", data=sales).explain().text == ""
    assert sandtable.ask("florble the wumpus?", data=sales).explain().fixes == ()
