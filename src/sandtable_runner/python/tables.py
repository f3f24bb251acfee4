"""The dataset's tables as DataFrames: read when code first names them, and only the columns it can access.

Invariant: rows come in the order of the file, and with types that pandas code expects: dates and times as datetime64,
decimals as float64, integers with missing values as float64 unless that would change a digit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sandtable_runner.engine import Connection, quote
from sandtable_runner.python.needs import Need, family, is_reflective, names_in, needs

_METHODS = frozenset(dir(pd.DataFrame))
_EXACT = 1 << 53
_AS_DOUBLE = ("DECIMAL", "HUGEINT", "UHUGEINT")
_AS_TEXT = ("UUID", "ENUM", "BIT", "JSON", "VARIANT", "TIME WITH TIME ZONE", "BIGNUM")


def fetch(connection: Connection, query: str) -> pd.DataFrame:
    relation = connection.sql(query)
    if relation is None:
        return pd.DataFrame()
    names = [f"c{index}" for index in range(len(relation.columns))]
    kinds = [str(kind) for kind in relation.types]
    labels = list(relation.columns)
    casts = [_cast(name, kind) for name, kind in zip(names, kinds, strict=True)]
    if casts != names:
        aliases = ", ".join(names)
        items = ", ".join(f"{cast} AS {name}" for cast, name in zip(casts, names, strict=True))
        relation = connection.sql(f"SELECT {items} FROM ({query.rstrip().rstrip(';')}\n) AS t({aliases})")
    return _framed(relation.to_arrow_table(), labels, kinds)


def _read(connection: Connection, table: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """Columns of a table, with their types."""
    casts = [_cast(quote(name), kind) for name, kind in columns.items()]
    items = ", ".join(f"{cast} AS c{index}" for index, cast in enumerate(casts))
    found = connection.sql(f"SELECT {items} FROM {quote(table)}")
    return _framed(found.to_arrow_table(), list(columns), list(columns.values()))


def _framed(table: pa.Table, labels: list[str], kinds: list[str]) -> pd.DataFrame:
    frame = _to_pandas(table)
    frame.columns = pd.Index(labels, dtype="str" if labels else object)
    for index, kind in enumerate(kinds):
        if kind == "INTERVAL":
            frame.isetitem(index, pd.to_timedelta(frame.iloc[:, index], unit="us"))
    return frame


def _cast(name: str, kind: str) -> str:
    if kind == "DATE":
        return f"CAST({name} AS TIMESTAMP)"
    if kind == "INTERVAL":
        return f"epoch_us({name})"
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
        return name
    if kind.startswith(_AS_DOUBLE):
        return f"CAST({name} AS DOUBLE)"
    return f"CAST({name} AS VARCHAR)" if kind.startswith(_AS_TEXT) else name


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    table = table.rename_columns([str(index) for index in range(table.num_columns)])
    frame = table.to_pandas(use_threads=False)
    for index, column in enumerate(table.columns):
        if column.null_count and pa.types.is_integer(column.type) and column.type.bit_width == 64:
            ends = pc.call_function("min_max", [column]).as_py()
            if any(end is not None and abs(end) > _EXACT for end in ends.values()):
                kind = pd.UInt64Dtype() if pa.types.is_unsigned_integer(column.type) else pd.Int64Dtype()
                frame.isetitem(index, kind.__from_arrow__(column))
    return frame


class Tables(Mapping[str, pd.DataFrame]):
    """`tables` in the code: a read-only mapping; the same frames are put into the namespace when code needs them."""

    def __init__(self, connection: Connection, tables: list[str]) -> None:
        self._connection = connection
        self._names = tables
        self._columns: dict[str, dict[str, str]] = {}
        """Columns of each table that was named, with their types."""
        self._frames: dict[str, pd.DataFrame] = {}
        self._loaded: dict[str, Need] = {}
        self.touched: set[str] = set()
        """Tables that the current cell reads."""

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise KeyError(f"no table {name!r}; there are {', '.join(map(repr, self._names)) or 'none'}")
        self.touched.add(name)
        return self._read(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"tables: {', '.join(self._names) or 'none'}"

    def serve(self, tree: ast.Module, namespace: dict[str, Any], aliases: Mapping[str, str]) -> None:
        """Before a cell runs, put the tables it needs into the namespace, except where the code has rebound a name."""
        called = {**{name: name for name in self._names}, **aliases}
        nodes = family(tree)
        named = names_in(nodes)
        reached = called if is_reflective(named) else called.keys() & named
        columns = {called[name]: self._columns_of(called[name]) for name in reached}
        wanted = needs(nodes, {n: t for n, t in called.items() if t in columns}, columns, _METHODS)
        for table, need in wanted.items():
            names = [name for name, of in called.items() if of == table]
            before = self._frames.get(table)
            free = [name for name in names if namespace.get(name, before) is before]
            if not free:
                continue
            self.touched.add(table)
            frame = self._read(table, need)
            namespace.update(dict.fromkeys(free, frame))

    def loaded(self) -> dict[str, list[str] | str]:
        """The columns of each table that the current cell had."""
        found: dict[str, list[str] | str] = {}
        for table in sorted(self.touched):
            need = self._loaded.get(table, frozenset())
            found[table] = "all" if need is None else [c for c in self._columns_of(table) if c in need]
        return found

    def _columns_of(self, table: str) -> dict[str, str]:
        if table not in self._columns:
            whole = self._connection.sql(f"SELECT * FROM {quote(table)}")
            self._columns[table] = dict(zip(whole.columns, map(str, whole.types), strict=True))
        return self._columns[table]

    def _read(self, table: str, need: Need) -> pd.DataFrame:
        """The cached frame if it has the needed columns; otherwise read again, with all columns needed so far."""
        columns = self._columns_of(table)
        if table in self._frames:
            had = self._loaded[table]
            if had is None or (need is not None and need <= had):
                return self._frames[table]
            need = None if need is None else need | had
        kept = {name: kind for name, kind in columns.items() if need is None or name in need}
        self._frames[table] = _read(self._connection, table, kept)
        self._loaded[table] = None if len(kept) == len(columns) else frozenset(kept)
        return self._frames[table]
