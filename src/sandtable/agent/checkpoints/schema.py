"""The tables of checkpoints, step by step, and the statements on them, in SQL that SQLite and Postgres both read.

A released step is never edited: add one. `?` stands for a value.
"""

from __future__ import annotations

VERSIONS = "sandtable_checkpoints_schema"
"""The table in which a Postgres database records the steps taken."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_checkpoint_threads (
            thread_id TEXT PRIMARY KEY NOT NULL,
            user_name TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            bytes BIGINT NOT NULL
        )
        """,
        "CREATE INDEX sandtable_checkpoint_threads_of_user ON sandtable_checkpoint_threads (user_name, bytes)",
        """
        CREATE TABLE sandtable_checkpoints (
            thread_id TEXT NOT NULL REFERENCES sandtable_checkpoint_threads ON DELETE CASCADE,
            ns TEXT NOT NULL,
            id TEXT NOT NULL,
            parent_id TEXT,
            kind TEXT NOT NULL,
            body BYTEA NOT NULL,
            lists BYTEA NOT NULL,
            metadata TEXT NOT NULL,
            PRIMARY KEY (thread_id, ns, id)
        )
        """,
        """
        CREATE TABLE sandtable_checkpoint_items (
            thread_id TEXT NOT NULL REFERENCES sandtable_checkpoint_threads ON DELETE CASCADE,
            digest BYTEA NOT NULL,
            kind TEXT NOT NULL,
            value BYTEA NOT NULL,
            PRIMARY KEY (thread_id, digest)
        )
        """,
        """
        CREATE TABLE sandtable_checkpoint_writes (
            thread_id TEXT NOT NULL REFERENCES sandtable_checkpoint_threads ON DELETE CASCADE,
            ns TEXT NOT NULL,
            checkpoint_id TEXT NOT NULL,
            task_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            task_path TEXT NOT NULL,
            channel TEXT NOT NULL,
            kind TEXT NOT NULL,
            value BYTEA NOT NULL,
            PRIMARY KEY (thread_id, ns, checkpoint_id, task_id, number)
        )
        """,
        # Which runs a thread's answers name: retention keeps these as long as the thread.
        """
        CREATE TABLE sandtable_checkpoint_runs (
            thread_id TEXT NOT NULL REFERENCES sandtable_checkpoint_threads ON DELETE CASCADE,
            run_id TEXT NOT NULL,
            PRIMARY KEY (thread_id, run_id)
        )
        """,
    ),
)

_ROW = """
    SELECT c.thread_id, c.ns, c.id, c.parent_id, c.kind, c.body, c.lists, c.metadata,
        w.task_id, w.number, w.task_path, w.channel, w.kind AS write_kind, w.value
    FROM sandtable_checkpoints AS c LEFT JOIN sandtable_checkpoint_writes AS w
        ON w.thread_id = c.thread_id AND w.ns = c.ns AND w.checkpoint_id = c.id
"""
ONE = f"{_ROW} WHERE c.thread_id = ? AND c.ns = ? AND c.id = ?"
_NEWEST_ID = "SELECT max(id) FROM sandtable_checkpoints WHERE thread_id = ? AND ns = ?"
NEWEST = f"{_ROW} WHERE c.thread_id = ? AND c.ns = ? AND c.id = ({_NEWEST_ID})"
MANY = f"{_ROW} WHERE {{}} ORDER BY c.id DESC"
"""With conditions in place of the braces."""
LISTS = "SELECT id, parent_id, kind, lists FROM sandtable_checkpoints WHERE thread_id = ? AND ns = ?"
ITEMS = "SELECT digest, kind, value FROM sandtable_checkpoint_items WHERE thread_id = ?"

GROW = """
    INSERT INTO sandtable_checkpoint_threads (thread_id, user_name, updated_at, bytes) VALUES (?, ?, ?, ?)
    ON CONFLICT (thread_id) DO UPDATE SET updated_at = excluded.updated_at,
        bytes = sandtable_checkpoint_threads.bytes + excluded.bytes,
        user_name = coalesce(nullif(sandtable_checkpoint_threads.user_name, ''), excluded.user_name)
"""
"""A thread belongs to the user of its first message; states may exist before that message."""
ADOPT = """
    INSERT INTO sandtable_checkpoint_threads (thread_id, user_name, updated_at, bytes) VALUES (?, ?, ?, ?)
    ON CONFLICT (thread_id) DO NOTHING
"""
PUT_ITEM = """
    INSERT INTO sandtable_checkpoint_items (thread_id, digest, kind, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (thread_id, digest) DO NOTHING
"""
PUT = """
    INSERT INTO sandtable_checkpoints (thread_id, ns, id, parent_id, kind, body, lists, metadata)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (thread_id, ns, id) DO UPDATE SET parent_id = excluded.parent_id, kind = excluded.kind,
        body = excluded.body, lists = excluded.lists, metadata = excluded.metadata
"""
_WRITE = """
    INSERT INTO sandtable_checkpoint_writes
        (thread_id, ns, checkpoint_id, task_id, number, task_path, channel, kind, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (thread_id, ns, checkpoint_id, task_id, number) DO
"""
WRITE_ONCE = f"{_WRITE} NOTHING"
WRITE_OVER = f"""{_WRITE} UPDATE SET task_path = excluded.task_path, channel = excluded.channel,
    kind = excluded.kind, value = excluded.value"""
NAME_RUN = """
    INSERT INTO sandtable_checkpoint_runs (thread_id, run_id) VALUES (?, ?)
    ON CONFLICT (thread_id, run_id) DO NOTHING
"""
DELETE = "DELETE FROM sandtable_checkpoint_threads WHERE thread_id = ?"
DELETE_UNUSED = "DELETE FROM sandtable_checkpoint_threads WHERE thread_id = ? AND updated_at <= ?"
THREADS = "SELECT thread_id, updated_at, bytes FROM sandtable_checkpoint_threads"
NAMED_RUNS = "SELECT thread_id, run_id FROM sandtable_checkpoint_runs"
BYTES_OF = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS n FROM sandtable_checkpoint_threads WHERE user_name = ?"
