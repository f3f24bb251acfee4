"""The steps of the Postgres tables of runs. Never edit a released step: add one.

The triggers enforce the invariants of `store.run_store` and `store.holdings` against bugs in our own code. Names begin
with `sandtable_`, because the database may hold tables of other programs. Ids sort as bytes in every locale.
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
    (
        "ALTER TABLE sandtable_runs ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE sandtable_runs DISABLE TRIGGER USER",
        """
        UPDATE sandtable_runs SET bytes = octet_length(body)
            + coalesce((SELECT octet_length(envelope) FROM sandtable_capsules WHERE run_id = id), 0)
            + coalesce((SELECT octet_length(result) FROM sandtable_results WHERE run_id = id), 0)
        WHERE status NOT IN ('pending', 'running')
        """,
        "ALTER TABLE sandtable_runs ENABLE TRIGGER USER",
        "CREATE INDEX sandtable_runs_bytes_of_user ON sandtable_runs (user_name, bytes)",
        "CREATE INDEX sandtable_runs_by_result ON sandtable_runs (result_of) WHERE result_of IS NOT NULL",
        """
        CREATE TABLE sandtable_removals (
            run_id TEXT COLLATE "C" PRIMARY KEY,
            removed_at TEXT NOT NULL,
            rule TEXT NOT NULL,
            user_name TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            capsule TEXT NOT NULL
        )
        """,
        """
        CREATE FUNCTION sandtable_require_ended() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        BEGIN
            IF NOT EXISTS (
                SELECT 1 FROM sandtable_runs WHERE id = NEW.run_id AND status NOT IN ('pending', 'running'))
            THEN
                RAISE EXCEPTION 'only a run that has ended is removed'
                    USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NEW;
        END $$
        """,
        """
        CREATE FUNCTION sandtable_require_removal() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        DECLARE
            leaving TEXT;
        BEGIN
            IF TG_TABLE_NAME = 'sandtable_runs' THEN leaving := OLD.id; ELSE leaving := OLD.run_id; END IF;
            IF NOT EXISTS (SELECT 1 FROM sandtable_removals WHERE run_id = leaving) THEN
                RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN OLD;
        END $$
        """,
        """
        CREATE FUNCTION sandtable_refuse_return() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        BEGIN
            IF EXISTS (SELECT 1 FROM sandtable_removals WHERE run_id = NEW.id) THEN
                RAISE EXCEPTION 'a removed run does not come back'
                    USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NEW;
        END $$
        """,
        """
        CREATE TRIGGER sandtable_removals_of_ended_runs BEFORE INSERT ON sandtable_removals
        FOR EACH ROW EXECUTE FUNCTION sandtable_require_ended()
        """,
        """
        CREATE TRIGGER sandtable_removals_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON sandtable_removals
        EXECUTE FUNCTION sandtable_refuse('what was removed is not rewritten')
        """,
        "DROP TRIGGER sandtable_capsules_stay ON sandtable_capsules",
        """
        CREATE TRIGGER sandtable_capsules_stay BEFORE UPDATE OR TRUNCATE ON sandtable_capsules
        EXECUTE FUNCTION sandtable_refuse('capsules are append-only')
        """,
        """
        CREATE TRIGGER sandtable_capsules_leave BEFORE DELETE ON sandtable_capsules
        FOR EACH ROW EXECUTE FUNCTION sandtable_require_removal('capsules are append-only')
        """,
        "DROP TRIGGER sandtable_results_stay ON sandtable_results",
        """
        CREATE TRIGGER sandtable_results_stay BEFORE UPDATE OR TRUNCATE ON sandtable_results
        EXECUTE FUNCTION sandtable_refuse('results do not change')
        """,
        """
        CREATE TRIGGER sandtable_results_leave BEFORE DELETE ON sandtable_results
        FOR EACH ROW EXECUTE FUNCTION sandtable_require_removal('results do not change')
        """,
        "DROP TRIGGER sandtable_runs_stay ON sandtable_runs",
        """
        CREATE TRIGGER sandtable_runs_stay BEFORE TRUNCATE ON sandtable_runs
        EXECUTE FUNCTION sandtable_refuse('runs are kept')
        """,
        """
        CREATE TRIGGER sandtable_runs_leave BEFORE DELETE ON sandtable_runs
        FOR EACH ROW EXECUTE FUNCTION sandtable_require_removal('runs are kept')
        """,
        """
        CREATE TRIGGER sandtable_runs_no_return BEFORE INSERT ON sandtable_runs
        FOR EACH ROW EXECUTE FUNCTION sandtable_refuse_return()
        """,
    ),
)
