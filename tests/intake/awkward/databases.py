"""SQLite databases of programs: of an app, of a shop with a web framework, of an import on the command line."""

from __future__ import annotations

from tests.intake.awkward.case import Case
from tests.runner.intake.databases import sqlite


def databases() -> list[Case]:
    imported = sqlite(
        "CREATE TABLE sales (day TEXT, region TEXT, amount TEXT, zip TEXT)",
        {"sales": [("2024-01-31", "Nord", "1.50", "01067"), ("2024-02-01", "", "", "50667")]},
    )
    app = sqlite(
        "CREATE TABLE data (id INTEGER PRIMARY KEY, body TEXT, done BOOLEAN, made_at DATETIME, thumb BLOB)",
        {
            "data": [
                (1, "a\r\nb", 1, 1_700_000_000_000, b"\x89PNG" * 99),
                (2, None, 0, 1_700_000_060_000, None),
            ]
        },
    )
    django = sqlite(
        "CREATE TABLE shop_customer (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, email varchar(254));"
        "CREATE TABLE shop_order (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, total decimal, created datetime,"
        " customer_id bigint REFERENCES shop_customer (id) DEFERRABLE INITIALLY DEFERRED);"
        "CREATE TABLE django_migrations (id integer PRIMARY KEY, app varchar(255));"
        "CREATE VIEW totals AS SELECT sum(total) FROM shop_order;"
        "CREATE VIRTUAL TABLE search USING fts5 (body);",
        {
            "shop_customer": [(1, "a@example.org")],
            "shop_order": [(1, 10, "2024-01-31 10:00:00.123456", 1), (2, 9.99, "2024-02-01 08:30:00", None)],
        },
    )
    return [
        Case(
            "imported.db",
            imported,
            {"day": "date", "region": "text", "amount": "decimal", "zip": "text"},
            2,
            cells={"region": ["Nord", ""], "amount": [1.5, None], "zip": ["01067", "50667"]},
        ),
        Case(
            "notes.sqlite",
            app,
            {"id": "integer", "body": "text", "done": "boolean", "made_at": "timestamp"},
            2,
            asked=("made_at",),
            answers={"made_at": "unix-milliseconds"},
            cells={
                "body": ["a\r\nb", None],
                "done": [True, False],
                "made_at": ["2023-11-14 22:13:20", "2023-11-14 22:14:20"],
            },
        ),
        Case("shop.sqlite3", django, tables={"shop_customer": 1, "shop_order": 2, "django_migrations": 0}),
        Case("cut.sqlite", django[:-8192], refused="malformed"),
        Case("cipher.db", bytes(range(255, -1, -1)) * 64, refused="encrypted"),
        Case("list.db", b"a,b\n1,2\n", refused="not a SQLite database"),
        Case("new.db", sqlite("PRAGMA user_version = 1"), refused="no table"),
    ]
