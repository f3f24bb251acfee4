"""Corrections of statements that return too much, of several statements, and of statements other than SELECT."""

from __future__ import annotations

from collections.abc import Sequence

from sandtable.policy import dialect_fixes
from sandtable.policy.fix_case import Case
from sandtable.policy.names import fold
from sandtable.policy.tokens import (
    Edit,
    Token,
    closing,
    depths,
    edited,
    literal,
    spelled,
    statements,
    without_end,
)
from sandtable.policy.verdict import Fix
from sandtable.quoting import quote

FEW_ROWS = 50
_READS = frozenset("select with from values describe desc summarize show table pivot unpivot (".split())
_IDLE = frozenset("set use begin start commit rollback end pragma reset go explain".split())
"""Statements that say nothing about data: a SELECT beside them means the same without them."""
_FORBIDDEN = frozenset(
    """
    alter analyze attach call checkpoint comment copy create deallocate delete detach drop execute export grant
    import insert install load merge prepare replace revoke truncate update upsert vacuum
    """.split()
)


def dump(case: Case) -> list[Fix]:
    if not case.refused.message.startswith("This would put out whole rows"):
        return []
    body = without_end(case.tokens)
    if not body:
        return []
    query = case.text[body[0].start : body[-1].end]
    counted = f"SELECT count(*) AS row_count FROM ({query})"  # noqa: S608 - the gate judges it before it is shown
    return [*_limited(case.text, body), Fix("Count the rows", counted)]


def _limited(text: str, body: Sequence[Token]) -> list[Fix]:
    for index, depth in reversed(list(enumerate(depths(body)))):
        if depth == 0 and body[index].says("limit"):
            return _lowered(text, body[index + 1 : index + 3])
    end = body[-1].end
    return [Fix(f"Add LIMIT {FEW_ROWS}", edited(text, [Edit(end, end, f" LIMIT {FEW_ROWS}")]))]


def _lowered(text: str, after: Sequence[Token]) -> list[Fix]:
    """What stands after LIMIT: a number, perhaps of percent."""
    if not after or after[0].kind != "number":
        return []
    end = after[1].end if len(after) > 1 and after[1].says("%", "percent") else after[0].end
    lower = Edit(after[0].start, end, str(FEW_ROWS))
    return [Fix(f"Lower the LIMIT to {FEW_ROWS}", edited(text, [lower]))]


def collected(case: Case) -> list[Fix]:
    ends = case.refused.message.endswith("would collect a whole table into one cell.")
    if not ends or fold(case.refused.construct) not in ("list", "array_agg") or case.at is None:
        return []
    if case.at + 1 >= len(case.tokens) or not case.tokens[case.at + 1].says("("):
        return []
    end = closing(case.tokens, case.at + 1)
    if end is None or (
        end + 1 < len(case.tokens) and case.tokens[end + 1].says("filter", "over", "within", "[")
    ):
        return []
    place = case.tokens[end].end
    return [Fix(f"Keep {FEW_ROWS} values", case.replaced([Edit(place, place, f"[1:{FEW_ROWS}]")]))]


def several(case: Case) -> list[Fix]:
    """The first or last SELECT of several statements, if the others contain nothing that is refused on purpose."""
    parts = statements(case.tokens)
    if len(parts) < 2:
        return []
    reads = [part for part in parts if part[0].says(*_READS)]
    junk = [part for part in parts if not part[0].says(*_READS, *_IDLE)]
    unread = case.refused.message.startswith("This is not valid SQL")
    if not reads or (junk and not (unread and junk == parts[len(parts) - len(junk) :])):
        return []
    if any(part[0].says(*_FORBIDDEN) for part in junk):
        return []
    first, last = (case.text[part[0].start : part[-1].end] for part in (reads[0], reads[-1]))
    if len(reads) == 1:
        return [Fix("Keep only the SELECT", first)]
    return [Fix("Keep the first SELECT", first), Fix("Keep the last SELECT", last)]


def described(case: Case) -> list[Fix]:
    """SHOW, PRAGMA and the like, as what may be asked instead."""
    if len(statements(case.tokens)) != 1:
        return []
    tokens = [t for t in without_end(case.tokens) if not t.says("\\")]
    words = [fold(t.text) for t in tokens]
    verb = words[0] if words else ""
    if verb == "explain":
        rest = tokens[2:] if words[1:2] == ["analyze"] else tokens[1:]
        reads = bool(rest) and rest[0].says(*(_READS - {"("}))
        return [Fix("Run the SELECT itself", case.text[rest[0].start : tokens[-1].end])] if reads else []
    if verb not in ("show", "describe", "desc", "pragma", "d", "dt"):
        return []
    target = next((t for t in reversed(tokens[1:]) if t.is_name or t.kind == "string"), None)
    name = fold(target.value) if target and target.kind == "string" else target.name if target else ""
    table = case.tables.get(name)
    if table is not None:
        return [Fix(f"Describe {quote(table)}", f"DESCRIBE {spelled(table)}")]
    asks_for_tables = {"tables", "show_tables", "show_tables_expanded"} & set(words) or words in (
        ["dt"], ["d"], ["describe"], ["show"],
    )  # fmt: skip
    return listing(case) if asks_for_tables else []


def listing(case: Case) -> list[Fix]:
    rows = ", ".join(
        f"({literal(t.name)}, {'NULL' if t.rows is None else t.rows})" for t in case.dataset.tables
    )
    listed = f"SELECT * FROM (VALUES {rows}) AS t(table_name, row_count)"  # noqa: S608 - names are literals here
    return [Fix("List the tables", listed)]


def pivot(case: Case) -> list[Fix]:
    if not case.refused.message.startswith("PIVOT needs the list") or len(statements(case.tokens)) != 1:
        return []
    grouped = dialect_fixes.grouped_for_pivot(case.text, without_end(case.tokens))
    return [Fix("Group instead of pivoting", grouped)] if grouped else []
