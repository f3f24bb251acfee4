"""The SQL of the thread store. `?` stands for a value; Postgres needs the casts."""

from __future__ import annotations

CREATE_THREAD = """
    INSERT INTO sandtable_threads
        (id, user_name, created_at, updated_at, status, dataset_id, metadata, opening)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
"""
THREADS = "SELECT * FROM sandtable_threads"
COUNT_THREADS = "SELECT count(*) AS n FROM sandtable_threads"
THREAD = "SELECT * FROM sandtable_threads WHERE id = ?"
SET_METADATA = "UPDATE sandtable_threads SET metadata = ? WHERE id = ?"
DELETE_THREAD = "DELETE FROM sandtable_threads WHERE id = ?"
DELETE_UNUSED = """
    DELETE FROM sandtable_threads WHERE id = ? AND updated_at <= ? AND status <> 'busy' AND NOT EXISTS (
        SELECT 1 FROM sandtable_turns WHERE thread_id = ? AND status IN ('pending', 'running'))
"""
COUNT_OF_USER = "SELECT count(*) AS n FROM sandtable_threads WHERE user_name = ?"
LAST_USED = "SELECT id, updated_at, status FROM sandtable_threads"
UNDER_WAY_SINCE = "SELECT min(created_at) AS at FROM sandtable_turns WHERE status IN ('pending', 'running')"

# The metadata again as rows, which both databases search in the same way. Only where the row holds the metadata
# that was just written: a thread that existed already keeps its tags.
CLEAR_TAGS = """
    DELETE FROM sandtable_thread_tags WHERE thread_id = ? AND EXISTS
        (SELECT 1 FROM sandtable_threads WHERE id = ? AND metadata = ?)
"""
TAG = """
    INSERT INTO sandtable_thread_tags (thread_id, name, value)
    SELECT id, CAST(? AS TEXT), CAST(? AS TEXT) FROM sandtable_threads WHERE id = ? AND metadata = ?
"""
TAGGED = "id IN (SELECT thread_id FROM sandtable_thread_tags WHERE name = ? AND value = ?)"

LOCK_THREAD = "UPDATE sandtable_threads SET status = status WHERE id = ?"
ACCEPT = """
    INSERT INTO sandtable_turns
        (id, thread_id, owner, dataset_id, created_at, updated_at, status, strategy, metadata)
    SELECT CAST(? AS TEXT), id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT),
        'pending', CAST(? AS TEXT), CAST(? AS TEXT)
    FROM sandtable_threads WHERE id = ? AND NOT EXISTS (
        SELECT 1 FROM sandtable_turns
        WHERE thread_id = ? AND owner <> ? AND status IN ('pending', 'running'))
"""
SET_BUSY = """
    UPDATE sandtable_threads SET status = 'busy', updated_at = ?, error = NULL,
        dataset_id = coalesce(dataset_id, ?), opening = coalesce(opening, ?)
    WHERE id = ? AND EXISTS (SELECT 1 FROM sandtable_turns WHERE id = ?)
"""
BEGIN = """
    UPDATE sandtable_turns SET status = 'running', updated_at = ?
    WHERE id = ? AND owner = ? AND status = 'pending'
"""
# Before END: once the turn is closed, a second ending cannot be distinguished from the first.
SET_FREE = """
    UPDATE sandtable_threads SET error = ?, updated_at = ?, title = coalesce(title, CAST(? AS TEXT)), status = CASE
        WHEN EXISTS (
            SELECT 1 FROM sandtable_turns
            WHERE thread_id = ? AND id <> ? AND status IN ('pending', 'running'))
        THEN 'busy' ELSE CAST(? AS TEXT) END
    WHERE id = ? AND EXISTS (
        SELECT 1 FROM sandtable_turns WHERE id = ? AND owner = ? AND status IN ('pending', 'running'))
"""
END = """
    UPDATE sandtable_turns SET status = ?, error = ?, updated_at = ?
    WHERE id = ? AND owner = ? AND status IN ('pending', 'running')
"""
TURN = "SELECT * FROM sandtable_turns WHERE thread_id = ? AND id = ?"
TURNS = "SELECT * FROM sandtable_turns WHERE thread_id = ?"
TURN_NAMED = "SELECT * FROM sandtable_turns WHERE id = ?"
MARKED = """
    SELECT turns.* FROM sandtable_turns turns JOIN sandtable_threads threads ON threads.id = turns.thread_id
    WHERE turns.metadata LIKE ?"""
MARKED_ORDER = " ORDER BY turns.updated_at DESC, turns.id DESC LIMIT ?"
MARKED_IN_THREAD = """
    SELECT * FROM sandtable_turns WHERE thread_id = ? AND metadata LIKE ? ORDER BY created_at, id LIMIT ?
"""
MARK_ENDED = """
    UPDATE sandtable_turns SET metadata = ?, updated_at = ?
    WHERE id = ? AND status NOT IN ('pending', 'running')
"""
COUNT_TURNS = "SELECT count(*) AS n FROM sandtable_turns WHERE thread_id = ?"
LEFT_BY = """
    SELECT * FROM sandtable_turns WHERE owner = ? AND status IN ('pending', 'running') ORDER BY created_at, id
"""
LEFT_ORDER = "SELECT data FROM sandtable_turn_events WHERE turn_id = ? AND number = 0"
# `metadata` is the kind of journals that held LangGraph's chunks.
LEFT_LOG = """
    SELECT coalesce(max(number), 0) AS last,
        coalesce(sum(CASE WHEN name IN ('begun', 'metadata') THEN 1 ELSE 0 END), 0) AS begun
    FROM sandtable_turn_events WHERE turn_id = ?
"""
INHERIT = """
    UPDATE sandtable_turns SET owner = ? WHERE id = ? AND owner = ? AND status IN ('pending', 'running')
"""
OWNERS = "SELECT DISTINCT owner FROM sandtable_turns WHERE status IN ('pending', 'running')"

LOG_GROWS = "UPDATE sandtable_turns SET log_bytes = log_bytes + ? WHERE id = ?"
# Only while the turn exists: its thread may have been deleted in the meantime.
LOG = """
    INSERT INTO sandtable_turn_events (turn_id, number, name, data)
    SELECT id, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT) FROM sandtable_turns WHERE id = ?
"""
LOGGED = """
    SELECT number, name AS kind, data FROM sandtable_turn_events
    WHERE turn_id = ? AND number > ? ORDER BY number LIMIT ?
"""
LOGS = """
    SELECT id, updated_at, log_bytes FROM sandtable_turns
    WHERE log_bytes > 0 AND status NOT IN ('pending', 'running') ORDER BY updated_at DESC
"""
DROP_LOG = "DELETE FROM sandtable_turn_events WHERE turn_id = ?"
LOG_IS_GONE = "UPDATE sandtable_turns SET log_bytes = 0 WHERE id = ?"
