"""The tables of accounts, step by step, in SQL that SQLite and Postgres both read.

A released step is never edited: add one. The row of a removed person stays, without password, keys and sessions: what
the person made is kept under the name, and must not pass to another person of the same name.
"""

from __future__ import annotations

VERSIONS = "sandtable_accounts_schema"
FILE = "accounts.db"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_people (
            name TEXT PRIMARY KEY NOT NULL,
            password TEXT,
            is_admin INTEGER NOT NULL DEFAULT 0,
            disabled INTEGER NOT NULL DEFAULT 0,
            issuer TEXT,
            subject TEXT,
            created_at BIGINT NOT NULL,
            signed_in_at BIGINT,
            removed_at BIGINT
        )
        """,
        "CREATE UNIQUE INDEX sandtable_people_by_subject ON sandtable_people (issuer, subject)",
        """
        CREATE TABLE sandtable_teams (
            name TEXT PRIMARY KEY NOT NULL,
            created_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sandtable_members (
            team TEXT NOT NULL REFERENCES sandtable_teams (name) ON DELETE CASCADE,
            person TEXT NOT NULL REFERENCES sandtable_people (name) ON DELETE CASCADE,
            by_provider INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (team, person)
        )
        """,
        "CREATE INDEX sandtable_members_by_person ON sandtable_members (person)",
        """
        CREATE TABLE sandtable_api_keys (
            id TEXT PRIMARY KEY NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            person TEXT NOT NULL REFERENCES sandtable_people (name) ON DELETE CASCADE,
            name TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT,
            used_at BIGINT
        )
        """,
        "CREATE INDEX sandtable_api_keys_by_person ON sandtable_api_keys (person)",
        """
        CREATE TABLE sandtable_sessions (
            id TEXT PRIMARY KEY NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            person TEXT NOT NULL REFERENCES sandtable_people (name) ON DELETE CASCADE,
            created_at BIGINT NOT NULL,
            seen_at BIGINT NOT NULL,
            address TEXT NOT NULL,
            client TEXT NOT NULL
        )
        """,
        "CREATE INDEX sandtable_sessions_by_person ON sandtable_sessions (person)",
        "CREATE INDEX sandtable_sessions_by_seen ON sandtable_sessions (seen_at)",
    ),
    (
        "ALTER TABLE sandtable_people ADD COLUMN must_change INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sandtable_sessions ADD COLUMN by_provider INTEGER NOT NULL DEFAULT 0",
    ),
)
