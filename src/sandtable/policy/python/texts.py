"""Which texts an expression can be, where all of them are known statically.

Followed are variables, loops over literals, conditions, and items of literal collections that the code only
reads. Invariant: a text is reported only if nothing in the code can have changed it; an uncertain
value stays an expression and is no text.
"""

from __future__ import annotations

from sandtable.policy.python.code import Code
from sandtable.policy.python.scopes import Binding
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.tree import Node, as_node, listed, under

_DEEPEST = 8
_MOST = 200
_CHANGEABLE = ("List", "Set", "Dict")
_COLLECTIONS = ("Tuple", *_CHANGEABLE)
_ONLY_READING = frozenset(
    "len sorted list tuple set enumerate zip reversed print sum min max any all".split()
)
"""Builtins that leave a collection as it is."""
_SAME_ITEMS = frozenset({"list", "tuple", "set", "sorted", "reversed"})
_VIEWS = frozenset({"items", "keys", "values"})
_READING_METHODS = frozenset({*_VIEWS, "get", "index", "count"})
_METHODS_OF_FRAMES = frozenset(
    """
    agg aggregate astype drop dropna fillna filter format format_index groupby isin melt merge pivot_table reindex
    rename replace set_index sort_values
    """.split()
)
"""Methods of libraries that leave their arguments as they are."""
_COMPARING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})


def texts_of(spot: Spot, code: Code, node: Node) -> list[str] | None:
    """The texts that an expression inside a spot can be; None if it can be something else."""
    found: list[str] = []
    for source in sources_of(Spot(node, spot, "", spot.scope), code):
        if source.kind != "Constant" or source.node.get("kind") != "str" or source.node.get("cut"):
            return None
        found.append(str(source.node.get("value")))
    return found


def sources_of(spot: Spot, code: Code, depth: int = 0) -> list[Spot]:
    """The expressions that a value comes from, as far back as the code shows them."""
    found: list[Spot] | None = None
    if depth < _DEEPEST and code.may_follow():
        match spot.kind:
            case "Name":
                found = _of_name(spot, code, depth)
            case "IfExp":
                found = _all(spot, code, depth, [under(spot.node, "body"), under(spot.node, "orelse")])
            case "NamedExpr":
                found = _all(spot, code, depth, [under(spot.node, "value")])
            case "Subscript":
                found = _of_item(spot, code, depth)
            case _:
                pass
    return found if found is not None and len(found) <= _MOST else [spot]


def _all(spot: Spot, code: Code, depth: int, nodes: list[Node]) -> list[Spot]:
    return [s for node in nodes for s in sources_of(Spot(node, spot, "", spot.scope), code, depth + 1)]


def _of_name(spot: Spot, code: Code, depth: int) -> list[Spot] | None:
    meaning = code.meaning(spot)
    if meaning.ambient or not meaning.bindings:
        return None
    found: list[Spot] = []
    for binding in meaning.bindings:
        places = _taken(spot, code, binding, depth)
        if places is None or len(found) > _MOST:
            return None
        found += [s for place in places for s in sources_of(place, code, depth + 1)]
    name = spot.text_of("id")
    if any(s.kind in _CHANGEABLE for s in found) and not _is_only_read(name, code):
        return None
    return found


def _taken(spot: Spot, code: Code, binding: Binding, depth: int) -> list[Spot] | None:
    """What a binding gives its name, step by step from the value that stands in the code."""
    if binding.kind != "data" or binding.value is None or binding.scope is None:
        return None
    places: list[Spot] = [Spot(binding.value, spot, "", binding.scope)]
    for step in binding.steps:
        following: list[Spot] = []
        for place in places:
            items = _items(place, code, depth + 1)
            if items is None or (step is not None and step >= len(items)):
                return None
            following += items if step is None else [items[step]]
        places = following
        if len(places) > _MOST:
            return None
    return places


def _of_item(spot: Spot, code: Code, depth: int) -> list[Spot] | None:
    """`formats[name]` is one of the values that the literal has."""
    found: list[Spot] = []
    for source in sources_of(Spot(under(spot.node, "value"), spot, "", spot.scope), code, depth + 1):
        if source.kind not in _COLLECTIONS or not _is_flat(source):
            return None
        items = listed(source.node, "values" if source.kind == "Dict" else "elts")
        found += _all(source, code, depth, [as_node(item) for item in items])
    return found


def _items(spot: Spot, code: Code, depth: int) -> list[Spot] | None:
    """What a loop over an expression goes through."""
    if depth > _DEEPEST:
        return None
    found: list[Spot] = []
    for source in sources_of(spot, code, depth):
        if source.kind == "Call":
            # What a variable holds could have been changed since the call.
            items = _items_of_call(source, code, depth) if source.node is spot.node else None
        elif source.kind in _COLLECTIONS and _is_flat(source):
            nodes = listed(source.node, "keys" if source.kind == "Dict" else "elts")
            items = [Spot(as_node(n), source, "", source.scope) for n in nodes]
        else:
            items = None
        if items is None:
            return None
        found += items
    return found


def _items_of_call(spot: Spot, code: Code, depth: int) -> list[Spot] | None:
    func = under(spot.node, "func")
    positional, named, hidden = call_arguments(spot.node)
    if hidden:
        return None
    if func.get("_") == "Attribute" and func.get("attr") in _VIEWS and not positional:
        return _view(Spot(under(func, "value"), spot, "", spot.scope), code, str(func.get("attr")), depth)
    name = str(func.get("id"))
    if (
        func.get("_") != "Name"
        or code.meaning(Spot(func, spot, "func", spot.scope)).bindings
        or code.is_given(name)
    ):
        return None
    if name in _SAME_ITEMS and len(positional) == 1:
        return _items(Spot(positional[0], spot, "", spot.scope), code, depth + 1)
    if name not in ("enumerate", "zip") or set(named) - {"start"} or not positional:
        return None
    columns = [_items(Spot(a, spot, "", spot.scope), code, depth + 1) for a in positional]
    if name == "enumerate":
        items = columns[0]
        return None if items is None else [_pair(spot, [{"_": "number"}, item.node], item) for item in items]
    return _zipped(spot, columns)


def _zipped(spot: Spot, columns: list[list[Spot] | None]) -> list[Spot] | None:
    """Rows of which at least one column is known; the others are what they are."""
    known = [column for column in columns if column]
    if not known or any(item.scope is not known[0][0].scope for column in known for item in column):
        return None
    return [
        _pair(spot, [c[row].node if c else {"_": "unknown"} for c in columns], known[0][0])
        for row in range(min(map(len, known)))
    ]


def _pair(spot: Spot, items: list[Node], like: Spot) -> Spot:
    return Spot({"_": "Tuple", "elts": items}, spot, "", like.scope)


def _view(spot: Spot, code: Code, which: str, depth: int) -> list[Spot] | None:
    """The keys, the values or the pairs of a literal dictionary."""
    found: list[Spot] = []
    for source in sources_of(spot, code, depth + 1):
        if source.kind != "Dict" or not _is_flat(source):
            return None
        keys, values = (list(map(as_node, listed(source.node, field))) for field in ("keys", "values"))
        if which == "items":
            found += [_pair(source, [k, v], source) for k, v in zip(keys, values, strict=False)]
        else:
            nodes = keys if which == "keys" else values
            found += [Spot(n, source, "", source.scope) for n in nodes]
    return found


def _is_flat(spot: Spot) -> bool:
    """Whether all items stand here, and none of them is a collection that could be changed by itself."""
    fields = ("keys", "values") if spot.kind == "Dict" else ("elts",)
    kinds = [as_node(item).get("_") for field in fields for item in listed(spot.node, field)]
    return not any(kind in (None, "Starred", *_CHANGEABLE) for kind in kinds)


def _is_only_read(name: str, code: Code) -> bool:
    """Whether nothing in the code can change the list or dictionary that a name stands for."""
    loads = code.loads_of(name)
    return name not in code.names and all(code.may_follow() and _leaves_it(spot, code) for spot in loads)


def _leaves_it(spot: Spot, code: Code) -> bool:
    parent = spot.parent
    if parent is None:
        return False
    match parent.kind:
        case "For" | "comprehension":
            return spot.field == "iter"
        case "FormattedValue":
            return True
        case "Compare":
            # A class of the text may change what it is compared with, or keep what it is asked for.
            return not _COMPARING & code.attributes
        case "Subscript":
            return parent.node.get("ctx") == "Load" and (
                spot.field == "value" or "__getitem__" not in code.attributes
            )
        case "Attribute":
            return parent.is_called and parent.text_of("attr") in _READING_METHODS
        case "Call":
            return spot.field == "args" and _only_reads(parent, code)
        case "keyword":
            return parent.parent is not None and _only_reads(parent.parent, code)
        case _:
            return False


def _only_reads(call: Spot, code: Code) -> bool:
    """Whether a call leaves its arguments as they are."""
    func = Spot(under(call.node, "func"), call, "func", call.scope)
    if func.kind == "Attribute":
        return func.text_of("attr") in _METHODS_OF_FRAMES - code.attributes
    name = func.text_of("id")
    return name in _ONLY_READING and not code.is_given(name) and not code.meaning(func).bindings
