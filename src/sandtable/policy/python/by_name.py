"""Methods that call another method by its name: `df.agg("sum")`, `df.apply("to_csv", path_or_buf=…)`.

Invariant: such a name is known statically and is not a forbidden one; or, where it is not known, the
method is called without an argument that could say where to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.names import BUILTINS
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.python.texts import sources_of
from sandtable.policy.python.words import BY_NAME, forbidden_method
from sandtable.policy.tree import Node, as_node, listed, under

MEMBERS_BY_NAME: dict[str, tuple[int, str]] = {
    "pandas.pivot_table": (4, "aggfunc"),
    "pandas.crosstab": (5, "aggfunc"),
    "pandas.NamedAgg": (1, "aggfunc"),
    "pandas.NamedFunc": (1, "aggfunc"),
}
"""Members of modules that do the same; at which place, and as which keyword."""

_HARMLESS = frozenset(
    """
    axis raw result_type by_row engine numeric_only skipna include_groups ddof min_count return_dtype
    values index columns aggfunc fill_value margins dropna margins_name observed sort on maintain_order func
    skip_nulls returns_scalar items like regex column data rownames colnames normalize
    """.split()
)
_AXES = ("index", "columns", "rows")
_METHODS_HINT = "give a function: .apply(lambda x: f(x, 1)), or name the method as a literal text"


@dataclass(frozen=True, slots=True)
class _Called:
    """A call of such a method, taken apart."""

    spot: Spot
    method: str
    place: int
    keyword: str
    positional: list[Node]
    named: dict[str, Node]
    hidden: bool

    @property
    def given(self) -> Node | None:
        """What names the method, or is the function itself."""
        if self.keyword in self.named:
            return self.named[self.keyword]
        return self.positional[self.place] if len(self.positional) > self.place else None

    @property
    def following(self) -> list[Node]:
        """Positional arguments that may be passed on to the method."""
        if self.method.endswith((".pivot_table", ".crosstab")):
            return []
        return self.positional[self.place + (self.keyword not in self.named) :]


def by_name_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind in ("Name", "Attribute"):
        return _handed_on(spot, code)
    if spot.kind != "Call":
        return None
    called = _called(spot, code)
    if called is None:
        return None
    for word in _method_names(called, code):
        if (called.method != ".filter" or _passes_arguments(called, code)) and (
            reason := forbidden_method(word, code.columns)
        ):
            message = f"`{called.method}` may not call `{word}`: {reason}"
            return Finding(spot, word, message, "aggregate with sum, mean, …")
    return _unknown_finding(called, code)


def _called(spot: Spot, code: Code) -> _Called | None:
    func = under(spot.node, "func")
    for member in sorted(code.called(spot) & MEMBERS_BY_NAME.keys()):
        return _Called(spot, member, *MEMBERS_BY_NAME[member], *call_arguments(spot.node))
    attribute = str(func.get("attr"))
    if func.get("_") != "Attribute" or attribute not in BY_NAME or code.modules(spot, under(func, "value")):
        return None
    if code.is_own_attribute(Spot(func, spot, "func", spot.scope)):
        return None
    return _Called(spot, f".{attribute}", *BY_NAME[attribute], *call_arguments(spot.node))


def _handed_on(spot: Spot, code: Code) -> Finding | None:
    """A method whose arguments are checked at the call must be called directly, not passed on."""
    if spot.node.get("ctx") != "Load" or spot.is_called:
        return None
    word = spot.text_of("attr") or spot.text_of("id")
    is_method = spot.kind == "Attribute" and word in BY_NAME and word not in code.columns
    if not is_method or code.modules(spot, under(spot.node, "value")) or code.is_own_attribute(spot):
        return None
    return Finding(spot, word, f"`{word}` may only be called in place.", "call it where you need it", word)


def _method_names(called: _Called, code: Code) -> Iterator[str]:
    """The names of methods that a call is given, as far as they can be read."""
    pending: list[Node] = [called.given] if called.given is not None else []
    for name, value in called.named.items():
        if name != called.keyword and name not in _HARMLESS:
            pending += _method_of_pair(value)
    for keyword in map(as_node, listed(called.spot.node, "keywords")):
        if "arg" not in keyword:
            pending += [
                n for v in listed(under(keyword, "value"), "values") for n in _method_of_pair(as_node(v))
            ]
    pending += [under(n, "value") for n in called.positional if n.get("_") == "Starred"]
    while pending:
        for source in sources_of(Spot(pending.pop(), called.spot, "", called.spot.scope), code):
            match source.kind:
                case "Constant" if source.node.get("kind") == "str":
                    yield str(source.node.get("value"))
                case "List" | "Tuple" | "Set" if called.method != ".filter":
                    pending += map(as_node, listed(source.node, "elts"))
                case "Dict" if called.method != ".filter":
                    pending += map(as_node, listed(source.node, "values"))
                case _:
                    pass


def _method_of_pair(value: Node) -> list[Node]:
    """`total=("amount", "sum")` names a column first."""
    return list(map(as_node, listed(value, "elts")))[1:] if value.get("_") == "Tuple" else [value]


def _passes_arguments(called: _Called, code: Code) -> bool:
    """Whether something is passed that the method named would be called with."""
    is_axis = [node.get("kind") == "int" or node.get("value") in _AXES for node in called.following]
    if is_axis and not is_axis[0] and all(_is_polars(called.spot, code, node) for node in called.following):
        is_axis = []
    return called.hidden or bool(set(called.named) - _HARMLESS) or len(is_axis) > 1 or not all(is_axis)


def _unknown_finding(called: _Called, code: Code) -> Finding | None:
    spot, method, given = called.spot, called.method, called.given
    word = method.rpartition(".")[2]
    if given is None:
        if not called.hidden or _named_aggregations(spot, code):
            return None
        hint = "Write the aggregations out: .agg(total=('amount', 'sum'))"
        return Finding(spot, word, f"What `{method}` is given must be written in place.", hint)
    if _passes_arguments(called, code) and not _is_plain(spot, code, given):
        message = f"`{method}` may not pass arguments to what is not known here."
        return Finding(spot, word, message, _METHODS_HINT)
    return None


def _is_plain(spot: Spot, code: Code, node: Node) -> bool:
    """Whether it is certain that a value names no method, or only such as are written here."""
    return all(
        _is_plain_source(source, code) for source in sources_of(Spot(node, spot, "", spot.scope), code)
    )


def _is_plain_source(spot: Spot, code: Code) -> bool:
    node = spot.node
    match spot.kind:
        case "Lambda":
            return True
        case "Constant":
            return not forbidden_method(str(node.get("value")), code.columns)
        case "Name":
            meaning = code.meaning(spot)
            is_builtin = meaning.ambient and not meaning.bindings and spot.text_of("id") in BUILTINS
            return meaning.is_function or is_builtin or bool(code.members(spot, node))
        case "Attribute":
            return bool(code.members(spot, node)) or code.is_own_attribute(spot)
        case "Starred":
            return _is_plain(spot, code, under(node, "value"))
        case "ListComp" | "GeneratorExp":
            return _is_polars(spot, code, under(node, "elt"))
        case "List" | "Tuple":
            return all(_is_plain(spot, code, as_node(n)) for n in listed(node, "elts"))
        case "Dict":
            return all(_is_plain(spot, code, as_node(n)) for n in listed(node, "values"))
        case _:
            return _is_polars(spot, code, node)


def _is_polars(spot: Spot, code: Code, node: Node) -> bool:
    """Whether an expression begins with `pl.`: never a text."""
    while node.get("_") in ("Call", "Attribute", "BinOp", "UnaryOp", "Compare", "Subscript"):
        if code.members(spot, node) or code.modules(spot, node):
            return any(name.startswith("polars.") for name in code.members(spot, node))
        node = under(node, "func") or under(node, "value") or under(node, "left") or under(node, "operand")
    return False


def _named_aggregations(spot: Spot, code: Code) -> bool:
    """Whether each `**` of a call unpacks pairs of column and method only."""
    for keyword in map(as_node, listed(spot.node, "keywords")):
        if "arg" in keyword:
            continue
        node = under(keyword, "value")
        if node.get("_") == "Name":
            node = code.meaning(Spot(node, spot, "keywords", spot.scope)).only_value or node
        values = listed(node, "values") if node.get("_") == "Dict" else [under(node, "value")]
        is_pairs = node.get("_") in ("Dict", "DictComp") and all(
            v.get("_") == "Tuple" or _is_polars(spot, code, v) or _is_named(spot, code, v)
            for v in map(as_node, values)
        )
        if not is_pairs:
            return False
    return not any(as_node(a).get("_") == "Starred" for a in listed(spot.node, "args"))


def _is_named(spot: Spot, code: Code, node: Node) -> bool:
    return "pandas.NamedAgg" in code.members(spot, under(node, "func"))
