"""Files written by pandas, R and web interfaces."""

from __future__ import annotations

import json

from tests.intake.awkward.case import Case, table, text


def notebooks() -> list[Case]:
    pandas = table(
        ("", "city", "score"), [("0", "Bonn", "1.5"), ("1", "Köln", "2.5"), ("2", "Ulm", "")], end="\n"
    )
    array = json.dumps(
        [{"id": 1, "name": "a", "tags": ["x"], "at": {"city": "Bonn"}}, {"id": 2, "name": None, "tags": []}]
    )
    lines = '{"id": 1, "ok": true, "price": 1.5}\n{"id": 2, "ok": false, "price": 2.25}\n'
    wrapped = json.dumps(
        {"count": 2, "results": [{"id": 1, "v": "2024-01-31"}, {"id": 2, "v": "2024-02-01"}]}
    )
    nan = table(("a", "b"), [("1.0", "nan"), ("2.5", "NaN"), ("nan", "3.5")])
    r_style = table(("", "x"), [("1", "NA"), ("2", "3"), ("3", "4")])
    return [
        Case("frame.csv", text(pandas), {"row_number": "integer", "city": "text", "score": "decimal"}, 3),
        Case(
            "records.json",
            text(array),
            {"id": "integer", "name": "text", "tags": "text", "at.city": "text"},
            2,
        ),
        Case("events.ndjson", text(lines), {"id": "integer", "ok": "boolean", "price": "decimal"}, 2),
        Case("api.json", text(wrapped), {"id": "integer", "v": "date"}, 2),
        Case("nans.csv", text(nan), {"a": "decimal", "b": "decimal"}, 3, cells={"b": [None, None, 3.5]}),
        Case(
            "r_frame.csv",
            text(r_style),
            {"row_number": "integer", "x": "integer"},
            3,
            cells={"x": [None, 3, 4]},
        ),
    ]
