"""SQLite databases: which tables are read, what their columns are, what is left out, what is refused."""

from __future__ import annotations

import gzip

import pytest

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.text_table import Keys
from tests.runner.intake.databases import Row, sqlite
from tests.runner.intake.desk import Desk, ids
from tests.runner.intake.ingest_job import Job
from tests.runner.intake.workbooks import zipped

SHOP = sqlite(
    """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customers, total REAL);
    """,
    {"customers": [(1, "Ä"), (2, None)], "orders": [(1, 1, 2.5)]},
)


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
    script = 'CREATE TABLE a_b_3 (a); CREATE TABLE a_b (a); CREATE TABLE "a b" (a); CREATE TABLE "??" (a);'
    assert list(job(sqlite(script)).rows) == ["a_b_3", "a_b", "a_b_4", "shop_4"]
    name = "1" * 57 + "_" + "2" * 9
    assert list(job(sqlite(f'CREATE TABLE "{name}" (a)')).rows) == [f"t_{'1' * 57}"]


def test_names_with_quotes_and_in_other_scripts(job: Job) -> None:
    content = sqlite('CREATE TABLE "ta""ble ü" ("na\'me" TEXT, "q""uote" INT, "名前" TEXT)',
                     {'"ta""ble ü"': [("x", 1, "東京")]})  # fmt: skip
    found = job(content)
    assert found.rows == {"ta_ble_ü": [("x", 1, "東京")]}
    assert list(found.types["ta_ble_ü"]) == ["na'me", 'q"uote', "名前"]


def test_keys_are_those_that_the_database_declares(job: Job) -> None:
    script = """
    CREATE TABLE "the people" (id INTEGER PRIMARY KEY, boss INT REFERENCES "the people", photo BLOB);
    CREATE TABLE lines (item INT, place INT, buyer INT REFERENCES "The People", code TEXT REFERENCES gone (x),
                        PRIMARY KEY (place, item), FOREIGN KEY (item, place) REFERENCES lines (item, place));
    CREATE TABLE marks (line INT REFERENCES lines, Buyer INT REFERENCES "the people" (ID));
    """
    by_table = {table["table"]: table for table in job(sqlite(script)).answer["tables"]}
    found = {name: (table["key"], table["references"]) for name, table in by_table.items()}
    assert found == {
        "the_people": (["id"], [{"column": "boss", "table": "the_people", "referred": "id"}]),
        "lines": (["place", "item"], [{"column": "buyer", "table": "the_people", "referred": "id"}]),
        "marks": ([], [{"column": "Buyer", "table": "the_people", "referred": "id"}]),
    }


def test_files_without_types_declare_no_keys(desk: Desk) -> None:
    assert desk.table(b"id\n1\n").keys == Keys()


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
    archive = zipped({"shop.db": SHOP, "more.csv": b"a\n1\n"})
    several = desk.tables(archive, "x.zip")
    assert [(table.name, table.alone) for table in several] == [
        ("shop customers", False), ("shop orders", False), ("more", False),
    ]  # fmt: skip
    again = desk.tables(archive, "x.zip", given=[several[1].reading, several[0].reading])
    assert [table.reading["sheet"] for table in again] == ["orders", "customers"]
    assert [desk.rows(table) for table in again] == [[("1", "1", "2.5")], [("1", "Ä"), ("2", None)]]


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
    "names that cannot be decoded": (
        SHOP.replace(b"CREATE TABLE orders (", b"CREATE \xffABLE orders ("),
        ("cannot be read as a SQLite database", "its names are damaged"),
    ),
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
}


@pytest.mark.parametrize(("content", "words"), _BAD.values(), ids=list(_BAD))
def test_a_bad_database_is_refused(desk: Desk, content: bytes, words: tuple[str, ...]) -> None:
    message = desk.refusal(content, "shop.db").message
    for word in words:
        assert word in message


def test_a_database_with_another_ending_is_named(desk: Desk) -> None:
    for name in ("orders.csv", "orders.xlsx", "orders.json"):
        error = desk.refusal(SHOP, name)
        assert "is a SQLite database" in error.message
        assert error.suggestion == "Give it the ending .sqlite"


def test_a_column_with_a_very_long_name_is_refused(job: Job) -> None:
    with pytest.raises(BadFile, match="column 1 of t has a name of 300 characters"):
        job(sqlite(f'CREATE TABLE t ("{"x" * 300}" INT)'))
