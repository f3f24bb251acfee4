"""The tables of threads, step by step, in SQL that SQLite and Postgres both read.

A released step is never edited: add one. Table names start with the product's name, because a Postgres
database may also hold other tables.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_threads (
            id TEXT PRIMARY KEY NOT NULL,
            user_name TEXT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('idle', 'busy', 'interrupted', 'error')),
            dataset_id TEXT,
            metadata TEXT NOT NULL,
            opening TEXT,
            error TEXT
        )
        """,
        "CREATE INDEX sandtable_threads_by_update ON sandtable_threads (updated_at)",
        """
        CREATE TABLE sandtable_thread_tags (
            thread_id TEXT NOT NULL REFERENCES sandtable_threads (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (thread_id, name)
        )
        """,
        "CREATE INDEX sandtable_thread_tags_by_value ON sandtable_thread_tags (name, value)",
        """
        CREATE TABLE sandtable_turns (
            id TEXT PRIMARY KEY NOT NULL,
            thread_id TEXT NOT NULL REFERENCES sandtable_threads (id) ON DELETE CASCADE,
            owner TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            status TEXT NOT NULL CHECK (
                status IN ('pending', 'running', 'success', 'error', 'interrupted')),
            strategy TEXT NOT NULL,
            metadata TEXT NOT NULL,
            error TEXT,
            log_bytes BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX sandtable_turns_by_thread ON sandtable_turns (thread_id, created_at)",
        "CREATE INDEX sandtable_turns_under_way ON sandtable_turns (owner)"
        " WHERE status IN ('pending', 'running')",
        "CREATE INDEX sandtable_turns_logged ON sandtable_turns (updated_at) WHERE log_bytes > 0",
        """
        CREATE TABLE sandtable_turn_events (
            turn_id TEXT NOT NULL REFERENCES sandtable_turns (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            name TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (turn_id, number)
        )
        """,
    ),
    ("CREATE INDEX sandtable_threads_of_user ON sandtable_threads (user_name)",),
    (
        "ALTER TABLE sandtable_threads ADD COLUMN title TEXT",
        # Existing threads keep the title that their users know: the text of the first question.
        "UPDATE sandtable_threads SET title = '' WHERE opening IS NOT NULL",
    ),
)
