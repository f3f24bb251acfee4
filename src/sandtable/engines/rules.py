"""The rules by which the gate judges queries of an engine, as a value.

Invariant: allow lists. A node, type, key or function that is not in them is refused, so a field or function
that a later version of the engine adds cannot carry anything past the gate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

# How the value under a key is visited.
DATA: Final = "data"  # text, numbers, booleans, or lists of them: no node may hide in it
EXPR: Final = "expr"  # one expression
EXPRS: Final = "exprs"  # a list of expressions
ROWS: Final = "rows"  # a list of lists of expressions
PAIRS: Final = "pairs"  # [{key: names, value: expression or data}], as in * REPLACE and * RENAME
ARGUMENTS: Final = "arguments"  # [{name, expression}]
CASES: Final = "cases"  # [{when_expr, then_expr}]
ORDERS: Final = "orders"  # [{type, null_order, expression}]
MODIFIER: Final = "modifier"  # one ORDER BY, LIMIT or DISTINCT
MODIFIERS: Final = "modifiers"
NODE: Final = "node"  # one query node
NODES: Final = "nodes"
SELECT: Final = "select"  # {node, named_param_map}
TABLE: Final = "table"  # one table reference
CTES: Final = "ctes"  # {map: [{key, value}]}
PATH: Final = "path"  # {path: [names]}
RECORDS: Final = "records"  # lists of flat records of plain data
SAMPLE: Final = "sample"
LITERAL: Final = "literal"
PIVOTS: Final = "pivots"
ENTRIES: Final = "entries"  # of one pivot
NEVER: Final = "never"  # known, and refused when present

# One element of a list above.
ARGUMENT: Final = "argument"
WHEN: Final = "when"
ORDER: Final = "order"
PIVOT: Final = "pivot"
ENTRY: Final = "entry"

Shape = Mapping[str, str]
"""The keys of a record, and how the value under each is visited."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The shapes of the engine's parse tree that the gate knows."""

    expressions: Mapping[str, Shape]
    expression_types: Mapping[str, frozenset[str]]
    """By class of expression."""
    query_nodes: Mapping[str, Shape]
    table_refs: Mapping[str, Shape]
    modifiers: Mapping[str, Shape]
    records: Mapping[str, Shape]
    """Records without a type of their own, by how they are visited."""
    cte: Shape
    sample_keys: frozenset[str]
    show_types: frozenset[str]
    spelling: Mapping[str, str]
    """What a refused part of the tree is called in SQL, for refusal messages."""


class Refusal(NamedTuple):
    reason: str
    suggestion: str


@dataclass(frozen=True)
class Functions:
    """Every function the gate knows: what may be called, and what is refused on purpose. Names are in lower case."""

    aggregates: frozenset[str]
    """They may be called plainly, with FILTER, and OVER a window."""
    window_only: frozenset[str]
    scalars: frozenset[str]
    table_functions: frozenset[str]
    """What may stand in FROM."""
    refused: Mapping[str, Refusal]
    """With `refused_prefixes` and `refused_pattern`: the wording of a refusal. A function that is in no list is refused
    all the same."""
    refused_prefixes: Mapping[str, Refusal]
    refused_pattern: tuple[re.Pattern[str], Refusal]
    of_other_dialects: Mapping[str, str]
    """Functions of other dialects, and how the engine writes them."""
    renamed: Mapping[str, str]
    """Functions of other dialects that take the same arguments in the same order here, under another name."""
    collectors: frozenset[str]
    """Aggregates that put many values into one cell."""
    row_collectors: frozenset[str]
    """Aggregates that put many rows into one cell, when they are called with whole rows."""
    collectors_of_n: Mapping[str, int]
    """Aggregates that collect values when they have this many arguments; the last one says how many values."""
    elements: frozenset[str]
    """Functions that take one element out of a list."""
    slices: frozenset[str]
    """Functions that take a part of a list: the list, the first and the last place."""
    keep_argument: frozenset[str]
    """Aggregates that give a constant for a constant, however many rows there are."""

    @cached_property
    def allowed(self) -> frozenset[str]:
        return self.aggregates | self.scalars

    @cached_property
    def over_a_window(self) -> frozenset[str]:
        return self.aggregates | self.window_only

    def refusal_of(self, name: str) -> Refusal | None:
        """Why a known function is refused; None for a name that is not known."""
        if found := self.refused.get(name):
            return found
        for prefix, refusal in self.refused_prefixes.items():
            if name.startswith(prefix):
                return refusal
        pattern, refusal = self.refused_pattern
        return refusal if pattern.search(name) else None


@dataclass(frozen=True, slots=True)
class SystemNames:
    """Names that lead out of the dataset."""

    schemas: frozenset[str]
    """Schemas of the engine itself: no function is called through them."""
    tables: re.Pattern[str]
    """How the names of the engine's own tables begin."""
    session_words: frozenset[str]
    """Words without brackets that the engine treats as session functions, where no column has that name."""


@dataclass(frozen=True, slots=True)
class Rules:
    grammar: Grammar
    functions: Functions
    system: SystemNames
    spellings: tuple[tuple[re.Pattern[str], str], ...]
    """Texts of other dialects that the engine's parser rejects, and how the engine writes that."""
