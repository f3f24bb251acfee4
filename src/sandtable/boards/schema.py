"""The tables of kept questions and boards, step by step, in SQL that SQLite and Postgres both read.

A released step is never edited: add one.
"""

from __future__ import annotations

FILE = "boards.db"
VERSIONS = "sandtable_boards_schema"
"""The table in which a Postgres database records the steps taken."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_questions (
            id TEXT PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            name TEXT NOT NULL,
            body TEXT NOT NULL,
            kept_run TEXT NOT NULL,
            latest_run TEXT NOT NULL,
            edition BIGINT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        )
        """,
        "CREATE INDEX sandtable_questions_of_owner ON sandtable_questions (owner, updated_at)",
        """
        CREATE TABLE sandtable_boards (
            id TEXT PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            body TEXT NOT NULL,
            edition BIGINT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        )
        """,
        "CREATE INDEX sandtable_boards_of_owner ON sandtable_boards (owner, updated_at)",
        """
        CREATE TABLE sandtable_board_questions (
            board_id TEXT NOT NULL REFERENCES sandtable_boards (id) ON DELETE CASCADE,
            question_id TEXT NOT NULL,
            PRIMARY KEY (board_id, question_id)
        )
        """,
        """
        CREATE TABLE sandtable_tile_runs (
            board_id TEXT NOT NULL REFERENCES sandtable_boards (id) ON DELETE CASCADE,
            tile_id TEXT NOT NULL,
            question_id TEXT NOT NULL,
            filters TEXT NOT NULL,
            run_id TEXT NOT NULL,
            PRIMARY KEY (board_id, tile_id)
        )
        """,
    ),
)
