"""Which condition of a query leaves no rows: for each SELECT that its rows come from, a statement that counts the rows
before and after each of its conditions.

The statements are cut from the canonical text, which the engine wrote: there every condition is in parentheses, and a
name that is a word of the language in quotes. Where the text and its tree do not agree, nothing is counted.
Invariant: pure, and nothing is approved here: the gate judges these statements like any other text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.policy.names import fold
from sandtable.policy.place import char_offset, extent_of
from sandtable.policy.tokens import Token, closing, depths, tokens_of
from sandtable.policy.tree import Node, as_node, listed, records, under

MOST_CONDITIONS = 30
MOST_SELECTS = 5

_CLAUSES = ("from", "where", "group", "having", "qualify", "window", "order", "limit", "offset", "using")


@dataclass(frozen=True, slots=True)
class CountedSelect:
    sql: str
    """One row: all rows that the SELECT reads, then those that each prefix of its conditions leaves."""
    conditions: tuple[str, ...]
    """As the author wrote them."""
    table: str
    """What it reads, where that is one table of the dataset."""
    passed: str
    """What groups and windows must pass afterwards (HAVING, QUALIFY); empty where there is nothing."""


@dataclass(frozen=True, slots=True)
class _Select:
    node: Node
    """In the tree of the canonical text."""
    written: Node
    """The same in the tree of the author's text, with positions."""
    tokens: Sequence[Token]
    """Of the canonical text."""
    before: tuple[tuple[str, str], ...] = ()
    """The CTEs that it sees: their folded names and their definitions."""


def counted_selects(text: str, written: Node, canonical: str, tree: Node) -> tuple[CountedSelect, ...]:
    """Outermost first: each next one is all that the one before it reads. `written` is the tree of `text`."""
    return tuple(_Cutting(text, canonical).chain(under(tree, "node"), under(written, "node")))


class _Cutting:
    def __init__(self, text: str, canonical: str) -> None:
        self._text = text
        self._canonical = canonical
        self._bodies: dict[str, _Select] = {}

    def chain(self, node: Node, written: Node) -> list[CountedSelect]:
        tokens = tokens_of(self._canonical)
        while tokens and tokens[-1].says(";"):
            tokens = tokens[:-1]
        made: list[CountedSelect] = []
        select: _Select | None = _Select(node, written, tokens)
        while select is not None and len(made) < MOST_SELECTS:
            select = self._without_ctes(select)
            if select is None or select.node.get("type") != "SELECT_NODE":
                break
            clauses = self._clauses(select)
            if "from" not in clauses or _is_sampled(select.node):
                break
            counted = self._counted(select, clauses)
            if counted is not None:
                made.append(counted)
            select = self._read(select, clauses["from"])
        return made

    def _without_ctes(self, select: _Select) -> _Select | None:
        """After its WITH; the bodies of the CTEs are kept by their names. None for what is not expected there."""
        tokens, before = list(select.tokens), list(select.before)
        entries = [as_node(entry) for entry in listed(under(select.node, "cte_map"), "map")]
        others = [as_node(entry) for entry in listed(under(select.written, "cte_map"), "map")]
        if not entries:
            return select
        if len(others) != len(entries) or not tokens or not tokens[0].says("with"):
            return None
        at = 1
        for entry, other in zip(entries, others, strict=True):
            name = fold(str(entry.get("key")))
            opening = _body(tokens, at)
            end = closing(tokens, opening) if opening is not None else None
            if opening is None or end is None or tokens[at].name != name or name in dict(before):
                return None
            body = under(under(entry, "value"), "query_node")
            self._bodies[name] = _Select(
                body, under(under(other, "value"), "query_node"), tokens[opening + 1 : end], tuple(before)
            )
            before.append((name, self._cut(tokens[at : end + 1])))
            at = end + 1
            if at < len(tokens) and tokens[at].says(","):
                at += 1
        return _Select(select.node, select.written, tokens[at:], tuple(before))

    def _clauses(self, select: _Select) -> dict[str, Sequence[Token]]:
        """What follows each word of the SELECT; empty where it does not begin as one."""
        tokens = select.tokens
        if not tokens or not tokens[0].says("select"):
            return {}
        starts = [
            index
            for index, depth in enumerate(depths(tokens))
            if depth == 0 and tokens[index].says(*_CLAUSES)
        ]
        ends = [*starts[1:], len(tokens)]
        made: dict[str, Sequence[Token]] = {}
        for start, end in zip(starts, ends, strict=True):
            made.setdefault(fold(tokens[start].text), tokens[start + 1 : end])
        return made

    def _counted(self, select: _Select, clauses: dict[str, Sequence[Token]]) -> CountedSelect | None:
        where = clauses.get("where", ())
        parts = _conjuncts(under(select.node, "where_clause"), where) if where else None
        if not parts or len(parts) > MOST_CONDITIONS:
            return None
        cut = [self._cut(part) for part in parts]
        inner = ", ".join(f"{condition} AS condition_{n}" for n, condition in enumerate(cut, start=1))
        kept = [f"condition_{n}" for n in range(1, len(cut) + 1)]
        counts = ", ".join(
            f"count(*) FILTER (WHERE {' AND '.join(kept[:n])}) AS left_{n}" for n in range(1, len(cut) + 1)
        )
        defined = ", ".join(text for _, text in select.before)
        source = self._cut(clauses["from"])
        made = f"SELECT count(*) AS all_rows, {counts} FROM (SELECT {inner} FROM {source}) AS conditions_met"  # noqa: S608 - cut from a canonical text; the gate judges it before it runs
        return CountedSelect(
            sql=f"WITH {defined} {made}" if defined else made,
            conditions=self._shown(under(select.written, "where_clause"), cut),
            table=self._table(select),
            passed=" AND ".join(
                self._own_words(under(select.written, word)) or _bare(self._cut(clauses[word]))
                for word in ("having", "qualify")
                if word in clauses
            ),
        )

    def _read(self, select: _Select, source: Sequence[Token]) -> _Select | None:
        """The one query that a SELECT reads: a CTE, or a subquery in its FROM."""
        ref, other = under(select.node, "from_table"), under(select.written, "from_table")
        if ref.get("type") == "BASE_TABLE" and not ref.get("schema_name"):
            name = fold(str(ref.get("table_name")))
            return self._bodies.get(name) if name in dict(select.before) else None
        if ref.get("type") != "SUBQUERY" or not source or not source[0].says("("):
            return None
        end = closing(source, 0)
        if end is None:
            return None
        inner, author = (under(under(each, "subquery"), "node") for each in (ref, other))
        return _Select(inner, author, source[1:end], select.before)

    def _table(self, select: _Select) -> str:
        ref = under(select.node, "from_table")
        name = str(ref.get("table_name") or "")
        of_the_data = ref.get("type") == "BASE_TABLE" and fold(name) not in dict(select.before)
        return name if of_the_data else ""

    def _cut(self, tokens: Sequence[Token]) -> str:
        return self._canonical[tokens[0].start : tokens[-1].end]

    def _shown(self, where: Node, cut: Sequence[str]) -> tuple[str, ...]:
        """The conditions in the author's words; in those of the canonical text where their places are not certain."""
        children = listed(where, "children") if where.get("type") == "CONJUNCTION_AND" else [where]
        if len(children) != len(cut):
            return tuple(map(_bare, cut))
        return tuple(
            self._own_words(as_node(child)) or _bare(text) for child, text in zip(children, cut, strict=True)
        )

    def _own_words(self, condition: Node) -> str:
        places = [place for record in records(condition) if (place := extent_of(record)) is not None]
        if not places:
            return ""
        first, last = min(start for start, _ in places), max(end for _, end in places)
        text = self._text[char_offset(self._text, first) : char_offset(self._text, last)]
        tokens = tokens_of(text)
        levels = depths(tokens)
        balanced = min(levels, default=0) >= 0 and sum(
            token.says("(", "[", "{") - token.says(")", "]", "}") for token in tokens
        ) == 0  # fmt: skip
        return text if balanced else ""


def _body(tokens: Sequence[Token], at: int) -> int | None:
    """Where the query of a CTE opens: after `name AS`, `name (columns) AS MATERIALIZED`, …"""
    at += 1
    if at < len(tokens) and tokens[at].says("("):
        end = closing(tokens, at)
        at = len(tokens) if end is None else end + 1
    if at >= len(tokens) or not tokens[at].says("as"):
        return None
    at += 1
    while at < len(tokens) and tokens[at].says("not", "materialized"):
        at += 1
    return at if at < len(tokens) and tokens[at].says("(") else None


def _conjuncts(where: Node, tokens: Sequence[Token]) -> list[Sequence[Token]] | None:
    if where.get("type") != "CONJUNCTION_AND":
        return [tokens]
    if not tokens[0].says("(") or closing(tokens, 0) != len(tokens) - 1:
        return None
    inner = tokens[1:-1]
    made: list[Sequence[Token]] = []
    start = 0
    for index, depth in enumerate(depths(inner)):
        if depth == 0 and inner[index].says("and"):
            made.append(inner[start:index])
            start = index + 1
    made.append(inner[start:])
    return made if len(made) == len(listed(where, "children")) and all(made) else None


def _is_sampled(node: Node) -> bool:
    return bool(node.get("sample")) or any(record.get("sample") for record in records(node.get("from_table")))


def _bare(condition: str) -> str:
    """Without the parentheses around the whole."""
    tokens = tokens_of(condition)
    whole = tokens[0].says("(") and closing(tokens, 0) == len(tokens) - 1
    return condition[tokens[0].end : tokens[-1].start].strip() if whole else condition
