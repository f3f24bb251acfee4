"""SQLite databases: which tables are read, what their columns are, what is left out, what is refused."""

from __future__ import annotations

import gzip
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.convert import convert
from tests.runner.intake.cells import Bench
from tests.runner.intake.databases import Row, sqlite
from tests.runner.intake.desk import Desk, ids
from tests.runner.intake.workbooks import zipped

SHOP = sqlite(
    """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customers, total REAL);
    """,
    {"customers": [(1, "Ä"), (2, None)], "orders": [(1, 1, 2.5)]},
)


@dataclass(frozen=True)
class Converted:
    answer: dict[str, Any]
    rows: dict[str, list[tuple[Any, ...]]]
    types: dict[str, dict[str, str]]

    def column(self, table: str, name: str) -> dict[str, Any]:
        recipe = next(each["recipe"] for each in self.answer["tables"] if each["table"] == table)
        return next(column for column in recipe["columns"] if column["name"] == name)

    @property
    def recipes(self) -> list[dict[str, Any]]:
        return [{"table": each["table"], "recipe": each["recipe"]} for each in self.answer["tables"]]


class Job:
    """The whole ingest job, in this process."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._desk = desk
        monkeypatch.chdir(desk.folder)
        desk.out.mkdir()

    def __call__(
        self,
        content: bytes,
        answers: dict[str, str] | None = None,
        recipes: list[dict[str, Any]] | None = None,
        repairs: tuple[str, ...] = (),
        name: str = "shop.sqlite",
    ) -> Converted:
        Path(name).write_bytes(content)
        options = {
            "source": name,
            "format": "sqlite",
            "table": "shop",
            "columns": None,
            "recipes": recipes,
            "answers": answers or {},
            "repairs": list(repairs),
            "file_mb": 1024,
        }
        job = {"options": options, "limits": {"memory_mb": 1024}, "threads": 1, "out": str(self._desk.out)}
        answer = convert(self._desk.connection, job)
        rows: dict[str, list[tuple[Any, ...]]] = {}
        for table in answer["tables"]:
            if table["output"] is not None:
                path = engine.literal(str(self._desk.out / table["output"]))
                rows[table["table"]] = self._desk.connection.execute(f"SELECT * FROM {path}").fetchall()
        types = {t["table"]: {c["name"]: c["sql_type"] for c in t["columns"]} for t in answer["tables"]}
        return Converted(answer, rows, types)


@pytest.fixture
def job(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(desk, monkeypatch)


def _notes(desk: Desk, content: bytes) -> str:
    return " ".join(note for table in desk.tables(content, "shop.db") for note in table.notes)


@pytest.mark.parametrize("name", ["shop.sqlite", "shop.sqlite3", "shop.db", "shop.db3", "download"])
def test_every_table_keeps_its_own_name(desk: Desk, name: str) -> None:
    tables = desk.tables(SHOP, name)
    assert [(table.name, table.reading["kind"], table.reading["sheet"]) for table in tables] == [
        ("customers", "sqlite", "customers"),
        ("orders", "sqlite", "orders"),
    ]
    assert desk.rows(tables[0]) == [("1", "Ä"), ("2", None)]


def test_names_of_tables_are_those_of_the_database(job: Job) -> None:
    script = 'CREATE TABLE "order items" (a); CREATE TABLE "2024 sales" (a); CREATE TABLE "order-items" (a);'
    assert list(job(sqlite(script)).rows) == ["order_items", "t_2024_sales", "order_items_3"]
    assert list(job(sqlite("CREATE TABLE orders (a)")).rows) == ["orders"]


def test_names_with_quotes_and_in_other_scripts(job: Job) -> None:
    content = sqlite('CREATE TABLE "ta""ble ü" ("na\'me" TEXT, "q""uote" INT, "名前" TEXT)',
                     {'"ta""ble ü"': [("x", 1, "東京")]})  # fmt: skip
    found = job(content)
    assert found.rows == {"ta_ble_ü": [("x", 1, "東京")]}
    assert list(found.types["ta_ble_ü"]) == ["na'me", 'q"uote', "名前"]


_DAY = 1_700_000_000
# The declared type, values, the type of the column, and its values.
_COLUMNS: dict[str, tuple[str, list[object], str, list[object]]] = {
    "whole numbers": ("INTEGER", [1, None, -(2**63), 2**63 - 1], "BIGINT", [1, None, -(2**63), 2**63 - 1]),
    "without a declared type": ("", [1, 2], "BIGINT", [1, 2]),
    "decimals": ("REAL", [1, 2.5, None], "DOUBLE", [1.0, 2.5, None]),
    "amounts, some whole": ("DECIMAL(10,2)", [10, 9.99], "DOUBLE", [10.0, 9.99]),
    "whole numbers too large for decimals": ("NUM", [2**53 + 1, 0.5], "VARCHAR", [str(2**53 + 1), "0.5"]),
    "infinity": ("REAL", [1.5, math.inf], "VARCHAR", ["1.5", "inf"]),
    "declared as boolean": ("BOOLEAN", [1, 0, None], "BOOLEAN", [True, False, None]),
    "declared as boolean, with a 2": ("BOOLEAN", [1, 2], "BIGINT", [1, 2]),
    "text": ("TEXT", ["a", "", None, "N/A", "NULL", "\\N"], "VARCHAR", ["a", "", None, "N/A", "NULL", "\\N"]),
    "text with line ends and marks": ("TEXT", ["a\r\nb", "\r", '"', ",", " x "], "VARCHAR",
                                      ["a\r\nb", "\r", '"', ",", " x "]),
    "numbers as text": ("TEXT", ["1", "", "12"], "BIGINT", [1, None, 12]),
    "leading zeros": ("TEXT", ["01067", "50667"], "VARCHAR", ["01067", "50667"]),
    "money": ("TEXT", ["€ 1.50", "€ 2.00"], "DECIMAL(18,2)", ["1.50", "2.00"]),
    "dates": ("DATE", ["2024-01-31", None], "DATE", ["2024-01-31", None]),
    "moments": ("DATETIME", ["2024-01-31 10:00:00"], "TIMESTAMP", ["2024-01-31 10:00:00"]),
    "a moment in decimals": ("DATETIME", [2460341.5], "DOUBLE", [2460341.5]),
    "numbers that no one declared as moments": ("INTEGER", [_DAY], "BIGINT", [_DAY]),
    "numbers and an empty text": ("INTEGER", [1, "", 3], "BIGINT", [1, None, 3]),
    "numbers and words": ("INTEGER", [1, "two"], "VARCHAR", ["1", "two"]),
    "short binary values": ("BLOB", [b"\x00\xff", None], "VARCHAR", ["00ff", None]),
    "nothing, declared as INTEGER": ("INTEGER", [None], "BIGINT", [None]),
    "nothing, declared as FLOAT": ("FLOAT", [None], "DOUBLE", [None]),
    "nothing, declared as DATE": ("DATE", [None], "DATE", [None]),
    "nothing, declared as TIMESTAMP": ("TIMESTAMP", [None], "TIMESTAMP", [None]),
    "nothing, declared as BOOL": ("BOOL", [None], "BOOLEAN", [None]),
    "nothing at all": ("", [None], "VARCHAR", [None]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "values", "sql_type", "expected"), _COLUMNS.values(), ids=list(_COLUMNS)
)
def test_a_column_is_what_its_values_are(
    job: Job, declared: str, values: list[object], sql_type: str, expected: list[object]
) -> None:
    found = job(sqlite(f"CREATE TABLE t (x {declared})", {"t": [(value,) for value in values]}))
    assert not found.answer["questions"]
    assert found.types == {"t": {"x": sql_type}}
    plain = [value if type(value).__module__ == "builtins" else str(value) for (value,) in found.rows["t"]]
    assert plain == expected


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
@example([5e-324, 1.7976931348623157e308, 1e22, 1e16, 0.1, -0.0, 123456789012345680.0])
def test_a_decimal_keeps_every_bit(values: list[float]) -> None:
    """Also where a column stays text, its cells say the same number."""
    bench = Bench()
    reading = {"read_as": "decimal", "format": "", "unit": "", "empty": [""], "misfits": "refuse"}
    usual = [value for value in values if math.isfinite(value) and (not value or abs(value) >= 1e-300)]
    if usual:
        column = {"header": "x", "name": "x", "true": [], "false": [], "reason": "", **reading}
        typed = bench.decide({"x": [repr(value) for value in usual]}, given=[column])
        assert [struct.pack("d", each) for each in typed.values["x"]] == [struct.pack("d", v) for v in usual]


def test_text_that_is_a_key_is_no_number(job: Job) -> None:
    script = """
    CREATE TABLE products (code TEXT PRIMARY KEY, pack TEXT);
    CREATE TABLE sales (product TEXT REFERENCES products(code), day TEXT PRIMARY KEY);
    """
    rows: dict[str, list[Row]] = {"products": [("1", "6"), ("A2", "12")], "sales": [("1", "2024-01-31")]}
    found = job(sqlite(script, rows))
    assert found.types["products"] == {"code": "VARCHAR", "pack": "BIGINT"}
    assert found.types["sales"] == {"product": "VARCHAR", "day": "DATE"}


_EVENTS = "CREATE TABLE events (created DATETIME, updated TIMESTAMP, n INT)"


def test_counted_moments_are_asked_about_once_for_a_table(job: Job) -> None:
    content = sqlite(_EVENTS, {"events": [(_DAY, _DAY + 60, 1), (0, None, 2)]})
    (question,) = job(content).answer["questions"]
    assert question["id"] == "events.created"
    assert "columns created and updated" in question["text"]
    assert [choice["answer"] for choice in question["choices"]] == [
        "unix-seconds", "unix-milliseconds", "integer",
    ]  # fmt: skip
    assert question["choices"][0]["label"] == "14 November 2023 22:13 (seconds since 1970)"
    seconds = job(content, {"events.created": "unix-seconds"})
    assert seconds.types["events"] == {"created": "TIMESTAMP", "updated": "TIMESTAMP", "n": "BIGINT"}
    assert [str(value) for value in seconds.rows["events"][0][:2]] == [
        "2023-11-14 22:13:20",
        "2023-11-14 22:14:20",
    ]
    assert seconds.column("events", "updated")["reason"] == "as in column created"
    numbers = job(content, {"events.created": "integer"})
    assert set(numbers.types["events"].values()) == {"BIGINT"}
    again = job(content, recipes=seconds.recipes)
    assert again.rows == seconds.rows


@pytest.mark.parametrize(
    ("value", "choices"),
    [
        (_DAY * 1000, ["unix-milliseconds", "unix-microseconds", "integer"]),
        (_DAY * 1_000_000, ["unix-microseconds", "integer"]),
    ],
)
def test_only_units_that_give_a_year_are_offered(job: Job, value: int, choices: list[str]) -> None:
    content = sqlite(_EVENTS, {"events": [(value, None, 1)]})
    (question,) = job(content).answer["questions"]
    assert [choice["answer"] for choice in question["choices"]] == choices
    found = job(content, {"events.created": choices[0]})
    assert str(found.rows["events"][0][0]) == "2023-11-14 22:13:20"


def test_a_number_that_is_no_moment_is_not_asked_about(job: Job) -> None:
    assert job(sqlite(_EVENTS, {"events": [(2**62, None, 1)]})).types["events"]["created"] == "BIGINT"


def test_any_column_can_be_read_in_another_way(job: Job) -> None:
    content = sqlite("CREATE TABLE t (at INT, flag BOOLEAN, code INT)", {"t": [(_DAY, 1, 7)]})
    found = job(content, {"t.at": "timestamp:unix-seconds", "t.flag": "integer", "t.code": "text"})
    assert found.types["t"] == {"at": "TIMESTAMP", "flag": "BIGINT", "code": "VARCHAR"}


def test_what_is_left_out_is_said(desk: Desk) -> None:
    script = """
    CREATE TABLE people (name TEXT, photo BLOB, mixed, up TEXT AS (upper(name)));
    CREATE VIEW adults AS SELECT * FROM people;
    CREATE VIRTUAL TABLE found USING fts5 (name);
    CREATE TABLE pictures (content BLOB);
    """
    empty = sqlite(script)
    rows: dict[str, list[Row]] = {
        "people (name, photo, mixed)": [("a", b"x" * 99, b"y"), ("b", None, "z")],
        "pictures": [(b"x" * 99,)],
    }
    notes = _notes(desk, sqlite("", rows, before=empty))
    for word in (
        "the view adults",
        "found is left out, with the tables of its index: it is a virtual table of the module fts5",
        "Column photo is left out: it holds binary data of up to 99 bytes",
        "Column mixed is left out: it mixes",
        "The table pictures is left out: no column of it can be read",
    ):
        assert word in notes
    tables = desk.tables(empty, "shop.db")
    assert [table.name for table in tables] == ["people", "pictures"]
    assert tables[0].headers == ("name", "photo", "mixed", "up")


def test_tables_without_rowid_and_computed_columns(job: Job) -> None:
    script = """
    CREATE TABLE lines (item INT, place INT, n INT, price REAL, total REAL AS (n * price), half AS (n / 2.0) STORED,
                        PRIMARY KEY (item, place)) WITHOUT ROWID;
    CREATE INDEX by_price ON lines (price, item, place, n);
    """
    found = job(sqlite(script, {"lines (item, place, n, price)": [(2, 1, 3, 1.5), (1, 1, 1, 2.0)]}))
    documents = sqlite(
        "CREATE TABLE documents (body TEXT, city TEXT AS (json_extract(body, '$.city')))",
        {"documents (body)": [('{"city": "Ulm"}',)]},
    )
    assert job(documents).rows["documents"] == [('{"city": "Ulm"}', "Ulm")]
    assert found.rows["lines"] == [(1, 1, 1, 2.0, 2.0, 0.5), (2, 1, 3, 1.5, 4.5, 1.5)]


def test_a_column_that_cannot_be_computed_is_left_out(desk: Desk) -> None:
    content = sqlite("CREATE TABLE t (a TEXT)", {"t": [("no json",)]})
    content = sqlite("ALTER TABLE t ADD COLUMN b AS (json_extract(a, '$.x'))", before=content)
    table = desk.table(content, "shop.db")
    assert table.headers == ("a",)
    assert "Column b is left out: it cannot be computed: malformed JSON" in table.notes[0]


def test_a_database_in_another_encoding(job: Job) -> None:
    found = job(sqlite("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (x TEXT)", {"t": [("Zoë 東京",)]}))
    assert found.rows == {"t": [("Zoë 東京",)]}


def test_text_in_another_encoding_than_the_database_says(job: Job) -> None:
    rows = [("Caf\xe9 M\xfcller Stra\xdfe".encode("cp1252"),), (b"plain",)]
    made = sqlite("CREATE TABLE s (x BLOB); CREATE TABLE t (x TEXT)", {"s": rows})
    made = sqlite("INSERT INTO t SELECT CAST(x AS TEXT) FROM s; DROP TABLE s;", before=made)
    found = job(made)
    assert found.rows == {"t": [("Café Müller Straße",), ("plain",)]}
    (table,) = found.answer["tables"]
    assert table["recipe"]["text"]["encoding"] == "cp1252"
    assert "Windows-1252" in table["notes"][0]
    assert job(made, recipes=found.recipes).rows == found.rows


def test_recipes_say_how_a_later_database_is_read(job: Job) -> None:
    before = job(SHOP)
    more = sqlite(
        "CREATE TABLE orders (id INT, customer_id INT, total REAL); CREATE TABLE customers (id INT, name TEXT)",
        {"customers": [("3", "1")], "orders": [(2**62, None, 1)]},
    )
    found = job(more, recipes=before.recipes)
    assert found.types == before.types
    assert found.rows == {"customers": [(3, "1")], "orders": [(2**62, None, 1.0)]}
    with pytest.raises(BadFile, match="has the table 'new', which the recipes do not name"):
        job(sqlite("CREATE TABLE new (a)", before=SHOP), recipes=before.recipes)
    with pytest.raises(BadFile, match="has no table 'orders'"):
        job(sqlite("DROP TABLE orders", before=SHOP), recipes=before.recipes)
    with pytest.raises(BadFile, match="row 1 of customers has 'x' in column id"):
        job(sqlite("DROP TABLE customers; CREATE TABLE customers (id, name); "
                       "INSERT INTO customers VALUES ('x', 'y')", before=SHOP), recipes=before.recipes)  # fmt: skip
    assert job(sqlite("CREATE TABLE new (a BLOB); INSERT INTO new VALUES (zeroblob(99))", before=SHOP),
               recipes=before.recipes).rows == before.rows  # fmt: skip


def test_wal_mode_is_said(desk: Desk) -> None:
    assert "WAL mode" in _notes(desk, sqlite("PRAGMA journal_mode = WAL", before=SHOP))
    assert "WAL mode" not in _notes(desk, SHOP)


def test_inside_archives(desk: Desk) -> None:
    assert [table.name for table in desk.tables(gzip.compress(SHOP), "shop.db.gz")] == ["customers", "orders"]
    assert [t.name for t in desk.tables(zipped({"a/shop.db": SHOP}), "x.zip")] == ["customers", "orders"]
    several = desk.tables(zipped({"shop.db": SHOP, "more.csv": b"a\n1\n"}), "x.zip")
    assert [(table.name, table.alone) for table in several] == [
        ("shop customers", False), ("shop orders", False), ("more", False),
    ]  # fmt: skip
    given = [table.reading for table in several]
    assert [
        table.name
        for table in desk.tables(zipped({"shop.db": SHOP, "more.csv": b"a\n1\n"}), "x.zip", given=given)
    ]


def test_a_column_twice_but_for_its_case_is_renamed_on_request(desk: Desk) -> None:
    content = sqlite("CREATE TABLE t ('Ä', 'ä')")
    assert ids(desk.refusal(content, "shop.db")) == ["rename-duplicates"]
    assert desk.table(content, "shop.db", repairs=["rename-duplicates"]).headers == ("Ä", "ä_2")


def _damaged(content: bytes) -> bytes:
    """With a page of the tables overwritten."""
    return content[:4096] + b"\xff" * 4096 + content[8192:]


_BAD: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "encrypted": (bytes(range(256)) * 32, ("is not a SQLite database, or is encrypted",)),
    "CSV": (b"a,b\n1,2\n", ("is not a SQLite database",)),
    "JSON": (b'[{"a": 1}]', ("is JSON, not a SQLite database",)),
    "Parquet": (b"PAR1" + b"\0" * 99, ("is a Parquet file",)),
    "Windows pictures": (b"\xd0\xcf\x11\xe0" + b"\0" * 999, ("old Office file",)),
    "no table": (sqlite("PRAGMA user_version = 1"), ("has no table",)),
    "only a view": (sqlite("CREATE VIEW v AS SELECT 1"), ("no table that can be read", "the view v")),
    "cut short": (SHOP[: len(SHOP) // 2], ("cannot be read as a SQLite database", "malformed")),
    "a page overwritten": (_damaged(SHOP), ("cannot be read as a SQLite database",)),
    "only the header": (SHOP[:100], ("cannot be read as a SQLite database",)),
    "too many tables": (sqlite("".join(f"CREATE TABLE t{n} (a);" for n in range(1001))), ("1,001 tables",)),
    "a NUL in a text": (
        sqlite("CREATE TABLE t (x)", {"t": [("a\0b",)]}),
        ("table t of shop.db has a NUL byte",),
    ),
    "a very long text": (
        sqlite("CREATE TABLE t (x)", {"t": [("x" * (5 << 20),)]}),
        ("row 1 of table t of shop.db",),
    ),
    "a very long name": (sqlite(f'CREATE TABLE "{"x" * 300}" (a)'), ("300 characters",)),
    "a column with a very long name": (sqlite(f'CREATE TABLE t ("{"x" * 300}" INT)'), ()),
}


@pytest.mark.parametrize(("content", "words"), _BAD.values(), ids=list(_BAD))
def test_a_bad_database_is_refused(desk: Desk, content: bytes, words: tuple[str, ...]) -> None:
    if not words:
        assert desk.tables(content, "shop.db")
        return
    message = desk.refusal(content, "shop.db").message
    for word in words:
        assert word in message


def test_a_database_with_another_ending_is_named(desk: Desk) -> None:
    for name in ("orders.csv", "orders.xlsx", "orders.json"):
        error = desk.refusal(SHOP, name)
        assert "is a SQLite database" in error.message
        assert error.suggestion == "Give it the ending .sqlite"
