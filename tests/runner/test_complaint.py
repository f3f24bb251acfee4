"""Real complaints of the real engine, as a person reads them."""

from __future__ import annotations

import duckdb
import pytest

from sandtable_runner.complaint import explain

CONNECTION = duckdb.connect()
CONNECTION.execute("CREATE TABLE items (category VARCHAR, quantity INTEGER)")


@pytest.mark.parametrize(
    ("sql", "message", "suggestion"),
    [
        ("SELECT categry FROM items", 'there is no column "categry"', 'did you mean "category"?'),
        ("SELECT i.categry FROM items i", 'Table "i" does not have a column named', 'did you mean "category"?'),
        ("SELECT it.category FROM items i", 'there is no table "it" in this query', 'did you mean "i"?'),
        ("SELECT summ(quantity) FROM items", "Scalar Function with name summ does not exist!", 'did you mean "sum"?'),
        ("SELECT 'x'::INTEGER FROM items UNION ALL SELECT 'x'::INTEGER", "Could not convert string 'x'", "check names"),
        ("SELECT sum(category) FROM items", "No function matches the given name", "check names"),
        ("SELECT quantity, count(*) FROM items", 'column "quantity" must appear in the GROUP BY clause', "check names"),
    ],
    ids=["column", "qualified", "table", "function", "conversion", "types", "group by"],
)  # fmt: skip
def test_what_was_wrong_and_what_to_do(sql: str, message: str, suggestion: str) -> None:
    with pytest.raises(duckdb.Error) as caught:
        CONNECTION.execute(f"SELECT * FROM ({sql}) LIMIT 5").fetchall()
    said, advised = explain(str(caught.value))
    assert said.startswith(message)
    assert advised.startswith(suggestion)
    assert "LINE 1" not in said and "SELECT * FROM (" not in said


def test_advice_that_nobody_here_can_follow_is_left_out() -> None:
    text = "Out of Memory Error: failed to pin block\n\nPossible solutions:\n* SET memory_limit\n\nSee also somewhere"
    assert explain(text)[0] == "failed to pin block"
