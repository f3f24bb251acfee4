"""The SQL of the Postgres store. Postgres delivers a notification when its transaction is committed."""

from __future__ import annotations

RECORD = """
    SELECT id, owner, pinned, user_name, dataset_id, created_at, started_at, status, attempts, cancel_requested,
        search, body, session, NULL AS result
    FROM sandtable_runs
"""
RECORD_WITH_RESULT = """
    SELECT id, owner, pinned, user_name, dataset_id, created_at, started_at, status, attempts, cancel_requested,
        search, body, session, result
    FROM sandtable_runs LEFT JOIN sandtable_results ON run_id = coalesce(result_of, id)
"""
COUNTS = "SELECT status, count(*) AS n FROM sandtable_runs GROUP BY status"
WAITING = """
    SELECT count(*), count(*) FILTER (WHERE user_name = %s) FROM sandtable_runs WHERE status = 'pending'
"""
CAPSULE = "SELECT envelope FROM sandtable_capsules WHERE run_id = %s"
OWNERS = "SELECT DISTINCT owner FROM sandtable_runs WHERE status IN ('pending', 'running')"
CANCEL_REQUESTS = """
    SELECT id FROM sandtable_runs
    WHERE owner = %s AND status IN ('pending', 'running') AND cancel_requested ORDER BY id
"""

# One server at a time counts and inserts. Without the lock, several could count at once and exceed the limit.
IN_LINE = "SELECT pg_advisory_xact_lock(23167, 0)"
ACCEPT = """
    WITH made AS (
        INSERT INTO sandtable_runs (id, owner, pinned, user_name, dataset_id, created_at, search, body, session)
        SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s
        WHERE (SELECT count(*) FROM sandtable_runs WHERE status = 'pending') < %s
            AND (SELECT count(*) FROM sandtable_runs WHERE status = 'pending' AND user_name = %s) < %s
        RETURNING owner
    )
    SELECT pg_notify('sandtable', 'run work ' || owner) FROM made
"""
# Users take turns across all servers; the limit for each user holds for each server.
CLAIM = """
    UPDATE sandtable_runs SET status = 'running', attempts = attempts + 1, started_at = %s, owner = %s
    WHERE id = (
        SELECT waiting.id FROM sandtable_runs AS waiting
        LEFT JOIN (
            SELECT user_name, count(*) AS running, count(*) FILTER (WHERE owner = %s) AS here
            FROM sandtable_runs WHERE status = 'running' GROUP BY user_name
        ) AS busy ON busy.user_name = waiting.user_name
        WHERE waiting.status = 'pending' AND (waiting.owner = %s OR (%s AND NOT waiting.pinned))
            AND (waiting.session IS NULL OR NOT EXISTS (
                SELECT 1 FROM sandtable_runs AS cell
                WHERE cell.owner = %s AND cell.status = 'running' AND cell.session = waiting.session
            ))
            AND (%s OR waiting.session IS NULL)
            AND coalesce(busy.here, 0) < %s
        ORDER BY coalesce(busy.running, 0), coalesce(array_position(%s::text[], waiting.user_name), 0), waiting.id
        LIMIT 1 FOR UPDATE OF waiting SKIP LOCKED
    )
    RETURNING id, owner, pinned, user_name, dataset_id, created_at, started_at, status, attempts,
        cancel_requested, search, body, session, NULL AS result
"""
FINISH = """
    WITH ended AS (
        UPDATE sandtable_runs
        SET status = %s, finished_at = %s, body = %s, cache_key = %s, result_of = %s, session = %s, bytes = %s
        WHERE id = %s AND owner = %s AND status = %s RETURNING id
    ), sealed AS (
        INSERT INTO sandtable_capsules (run_id, created_at, envelope)
        SELECT id, %s, %s FROM ended
    ), kept AS (
        INSERT INTO sandtable_results (run_id, result)
        SELECT id, given.result FROM ended, (SELECT CAST(%s AS TEXT) AS result) AS given
        WHERE given.result IS NOT NULL
    )
    SELECT pg_notify('sandtable', 'run ended ' || id) FROM ended
"""
RELEASE = """
    WITH released AS (
        UPDATE sandtable_runs SET status = 'pending', started_at = NULL
        WHERE owner = %s AND status = 'running' RETURNING 1
    )
    SELECT count(*) AS n, CASE WHEN count(*) > 0 THEN pg_notify('sandtable', 'run work') END FROM released
"""
ADOPT = """
    WITH adopted AS (
        UPDATE sandtable_runs SET owner = %s, status = 'pending', started_at = NULL
        WHERE owner = %s AND status IN ('pending', 'running') AND id = coalesce(%s, id) RETURNING 1
    )
    SELECT count(*) AS n, CASE WHEN count(*) > 0 THEN pg_notify('sandtable', 'run work') END FROM adopted
"""
REQUEST_CANCEL = """
    WITH asked AS (
        UPDATE sandtable_runs SET cancel_requested = true
        WHERE id = %s AND status IN ('pending', 'running') RETURNING id
    )
    SELECT pg_notify('sandtable', 'run cancel ' || id) FROM asked
"""
