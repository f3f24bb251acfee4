"""The Postgres tables of runs, step by step. A step that was released is never edited: add one.

The triggers are the invariants of `capsule.store`, held by the database against our own bugs. The names carry the
product's, because a Postgres database may hold other people's tables too. Ids sort as bytes, whatever the database's
language.
"""

from __future__ import annotations

VERSIONS = "sandtable_runs_schema"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_runs (
            id TEXT COLLATE "C" PRIMARY KEY,
            owner TEXT NOT NULL,
            pinned BOOLEAN NOT NULL DEFAULT false,
            user_name TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            started_at TEXT,
            finished_at TEXT,
            status TEXT NOT NULL DEFAULT 'pending' CHECK (
                status IN ('pending', 'running', 'succeeded', 'failed', 'rejected', 'cancelled')),
            attempts INTEGER NOT NULL DEFAULT 0,
            cancel_requested BOOLEAN NOT NULL DEFAULT false,
            search TEXT NOT NULL DEFAULT '',
            body TEXT NOT NULL,
            cache_key TEXT,
            result_of TEXT COLLATE "C" REFERENCES sandtable_runs (id),
            session TEXT
        )
        """,
        """
        CREATE TABLE sandtable_results (
            run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES sandtable_runs (id),
            result TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE sandtable_capsules (
            run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES sandtable_runs (id),
            created_at TEXT NOT NULL,
            envelope TEXT NOT NULL
        )
        """,
        """
        CREATE INDEX sandtable_runs_unfinished ON sandtable_runs (status, user_name, id)
        WHERE status IN ('pending', 'running')
        """,
        """
        CREATE INDEX sandtable_runs_owned ON sandtable_runs (owner)
        WHERE status IN ('pending', 'running')
        """,
        "CREATE INDEX sandtable_runs_by_status ON sandtable_runs (status, id)",
        "CREATE INDEX sandtable_runs_by_dataset ON sandtable_runs (dataset_id, id)",
        "CREATE INDEX sandtable_runs_by_user ON sandtable_runs (user_name, id)",
        "CREATE INDEX sandtable_runs_cache ON sandtable_runs (cache_key, id) WHERE cache_key IS NOT NULL",
        "CREATE INDEX sandtable_runs_by_session ON sandtable_runs (session, id) WHERE session IS NOT NULL",
        """
        CREATE FUNCTION sandtable_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
        END $$
        """,
        """
        CREATE FUNCTION sandtable_require_capsule() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        BEGIN
            IF NOT EXISTS (SELECT 1 FROM sandtable_capsules WHERE run_id = NEW.id) THEN
                RAISE EXCEPTION 'a run ends with its capsule' USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NULL;
        END $$
        """,
        """
        CREATE TRIGGER sandtable_capsules_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sandtable_capsules
        EXECUTE FUNCTION sandtable_refuse('capsules are append-only')
        """,
        """
        CREATE TRIGGER sandtable_results_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sandtable_results
        EXECUTE FUNCTION sandtable_refuse('results do not change')
        """,
        """
        CREATE TRIGGER sandtable_runs_stay BEFORE DELETE OR TRUNCATE ON sandtable_runs
        EXECUTE FUNCTION sandtable_refuse('runs are kept')
        """,
        """
        CREATE TRIGGER sandtable_runs_end_once BEFORE UPDATE ON sandtable_runs
        FOR EACH ROW WHEN (OLD.status NOT IN ('pending', 'running'))
        EXECUTE FUNCTION sandtable_refuse('a finished run does not change')
        """,
        """
        CREATE CONSTRAINT TRIGGER sandtable_runs_end_with_capsule AFTER INSERT OR UPDATE ON sandtable_runs
        DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.status NOT IN ('pending', 'running'))
        EXECUTE FUNCTION sandtable_require_capsule()
        """,
    ),
)
