"""The steps of the SQLite schema. Never edit a released step: add one.

The triggers enforce the invariants of `store.run_store` and `store.holdings` against bugs in our own code.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE runs (
            id TEXT PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            user TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            started_at TEXT,
            finished_at TEXT,
            status TEXT NOT NULL DEFAULT 'pending' CHECK (
                status IN ('pending', 'running', 'succeeded', 'failed', 'rejected', 'cancelled')),
            attempts INTEGER NOT NULL DEFAULT 0,
            cancel_requested INTEGER NOT NULL DEFAULT 0,
            search TEXT NOT NULL DEFAULT '',
            body TEXT NOT NULL,
            cache_key TEXT,
            result_of TEXT REFERENCES runs (id)
        )
        """,
        """
        CREATE TABLE results (
            run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
            result TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE capsules (
            run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
            created_at TEXT NOT NULL,
            envelope TEXT NOT NULL
        )
        """,
        """
        CREATE INDEX runs_unfinished ON runs (owner, status, user, id)
        WHERE status IN ('pending', 'running')
        """,
        "CREATE INDEX runs_by_status ON runs (status, id)",
        "CREATE INDEX runs_by_dataset ON runs (dataset_id, id)",
        "CREATE INDEX runs_by_user ON runs (user, id)",
        "CREATE INDEX runs_cache ON runs (cache_key, id) WHERE cache_key IS NOT NULL",
        """
        CREATE TRIGGER capsules_no_update BEFORE UPDATE ON capsules
        BEGIN SELECT RAISE(ABORT, 'capsules are append-only'); END
        """,
        """
        CREATE TRIGGER capsules_no_delete BEFORE DELETE ON capsules
        BEGIN SELECT RAISE(ABORT, 'capsules are append-only'); END
        """,
        """
        CREATE TRIGGER capsules_no_replace BEFORE INSERT ON capsules
        WHEN EXISTS (SELECT 1 FROM capsules WHERE run_id = NEW.run_id)
        BEGIN SELECT RAISE(ABORT, 'capsules are append-only'); END
        """,
        """
        CREATE TRIGGER runs_end_once BEFORE UPDATE ON runs
        WHEN OLD.status NOT IN ('pending', 'running')
        BEGIN SELECT RAISE(ABORT, 'a finished run does not change'); END
        """,
        """
        CREATE TRIGGER runs_end_with_capsule BEFORE UPDATE ON runs
        WHEN NEW.status NOT IN ('pending', 'running')
            AND NOT EXISTS (SELECT 1 FROM capsules WHERE run_id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'a run ends with its capsule'); END
        """,
        """
        CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs
        BEGIN SELECT RAISE(ABORT, 'runs are kept'); END
        """,
        """
        CREATE TRIGGER runs_no_replace BEFORE INSERT ON runs
        WHEN EXISTS (SELECT 1 FROM runs WHERE id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'runs are kept'); END
        """,
        """
        CREATE TRIGGER results_no_replace BEFORE INSERT ON results
        WHEN EXISTS (SELECT 1 FROM results WHERE run_id = NEW.run_id)
        BEGIN SELECT RAISE(ABORT, 'results do not change'); END
        """,
        """
        CREATE TRIGGER results_no_update BEFORE UPDATE ON results
        BEGIN SELECT RAISE(ABORT, 'results do not change'); END
        """,
    ),
    (
        "ALTER TABLE runs ADD COLUMN session TEXT",
        "CREATE INDEX runs_by_session ON runs (session, id) WHERE session IS NOT NULL",
    ),
    (
        "ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
        "DROP TRIGGER runs_end_once",
        """
        UPDATE runs SET bytes = length(body)
            + coalesce((SELECT length(envelope) FROM capsules WHERE run_id = runs.id), 0)
            + coalesce((SELECT length(result) FROM results WHERE run_id = runs.id), 0)
        WHERE status NOT IN ('pending', 'running')
        """,
        """
        CREATE TRIGGER runs_end_once BEFORE UPDATE ON runs
        WHEN OLD.status NOT IN ('pending', 'running')
        BEGIN SELECT RAISE(ABORT, 'a finished run does not change'); END
        """,
        "CREATE INDEX runs_bytes_of_user ON runs (user, bytes)",
        "CREATE INDEX runs_by_result ON runs (result_of) WHERE result_of IS NOT NULL",
        """
        CREATE TABLE removals (
            run_id TEXT PRIMARY KEY NOT NULL,
            removed_at TEXT NOT NULL,
            rule TEXT NOT NULL,
            user TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            capsule TEXT NOT NULL
        )
        """,
        """
        CREATE TRIGGER removals_of_ended_runs BEFORE INSERT ON removals
        WHEN NOT EXISTS (
            SELECT 1 FROM runs WHERE id = NEW.run_id AND status NOT IN ('pending', 'running'))
        BEGIN SELECT RAISE(ABORT, 'only a run that has ended is removed'); END
        """,
        """
        CREATE TRIGGER removals_no_update BEFORE UPDATE ON removals
        BEGIN SELECT RAISE(ABORT, 'what was removed is not rewritten'); END
        """,
        """
        CREATE TRIGGER removals_no_delete BEFORE DELETE ON removals
        BEGIN SELECT RAISE(ABORT, 'what was removed is not rewritten'); END
        """,
        """
        CREATE TRIGGER removals_no_replace BEFORE INSERT ON removals
        WHEN EXISTS (SELECT 1 FROM removals WHERE run_id = NEW.run_id)
        BEGIN SELECT RAISE(ABORT, 'what was removed is not rewritten'); END
        """,
        "DROP TRIGGER capsules_no_delete",
        """
        CREATE TRIGGER capsules_no_delete BEFORE DELETE ON capsules
        WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run_id = OLD.run_id)
        BEGIN SELECT RAISE(ABORT, 'capsules are append-only'); END
        """,
        """
        CREATE TRIGGER results_no_delete BEFORE DELETE ON results
        WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run_id = OLD.run_id)
        BEGIN SELECT RAISE(ABORT, 'results do not change'); END
        """,
        "DROP TRIGGER runs_no_delete",
        """
        CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs
        WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run_id = OLD.id)
        BEGIN SELECT RAISE(ABORT, 'runs are kept'); END
        """,
        """
        CREATE TRIGGER runs_no_return BEFORE INSERT ON runs
        WHEN EXISTS (SELECT 1 FROM removals WHERE run_id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'a removed run does not come back'); END
        """,
    ),
)
