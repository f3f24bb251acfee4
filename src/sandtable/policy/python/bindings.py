"""Which names a text binds, and where: assignments, loops, imports, definitions, patterns, parameters."""

from __future__ import annotations

from sandtable.policy.python.members import MEMBERS
from sandtable.policy.python.scopes import Binding, Scope, is_of_module
from sandtable.policy.python.spots import Places, Spot
from sandtable.policy.tree import Node, as_node, listed, under

_DATA = Binding("data")
_FUNCTION = Binding("function")
_NO_VALUE: Node = {"_": "Constant", "kind": "none"}
"""What a name is that is annotated and given no value."""


def bind_names(spots: list[Spot], places: Places) -> None:
    """Fill the scopes of all spots."""
    for spot in spots:
        if spot.kind in ("Global", "Nonlocal"):
            _send_elsewhere(spot)
    for spot in spots:
        _bind(spot)
    for spot in spots:
        spot.scope.bind_deferred()
    if spots:
        _settle(spots, places)


def _send_elsewhere(spot: Spot) -> None:
    for name in listed(spot.node, "names"):
        if spot.kind == "Global":
            spot.scope.elsewhere[str(name)] = spot.scope.module
        else:
            spot.scope.outward.add(str(name))


def _bind(spot: Spot) -> None:
    match spot.kind:
        case "Name" if spot.node.get("ctx") in ("Store", "Del"):
            _bind_name(spot)
        case "arg":
            spot.scope.bind(spot.text_of("arg"), _DATA)
        case "FunctionDef" | "AsyncFunctionDef" | "ClassDef":
            spot.scope.bind(spot.text_of("name"), _FUNCTION)
        case "ExceptHandler" | "MatchAs" | "MatchStar":
            if name := spot.text_of("name"):
                spot.scope.bind(name, _DATA)
        case "MatchMapping":
            if name := spot.text_of("rest"):
                spot.scope.bind(name, _DATA)
        case "Import":
            _bind_import(spot)
        case "ImportFrom":
            _bind_from(spot)
        case _:
            pass


def _bind_name(spot: Spot) -> None:
    name, target = spot.text_of("id"), spot
    steps: list[int | None] = []
    while target.parent is not None and target.parent.kind in ("Tuple", "List"):
        items = [as_node(item) for item in listed(target.parent.node, "elts")]
        places = [place for place, item in enumerate(items) if item is target.node]
        if not places or any(item.get("_") == "Starred" for item in items):
            break
        steps.insert(0, places[0])
        target = target.parent
    statement = target.parent
    if statement is None:
        return
    match statement.kind:
        case "NamedExpr":
            spot.scope.of_names.bind(name, _shared(statement, spot.scope))
        case "Assign" if len(listed(statement.node, "targets")) > 1:
            spot.scope.bind(name, _DATA if steps else _shared(statement, spot.scope))
        case "Assign" | "AnnAssign":
            spot.scope.bind(name, _taken(statement, "value", tuple(steps), spot.scope))
        case "For" if target.field == "target":
            spot.scope.bind(name, _taken(statement, "iter", (None, *steps), spot.scope))
        case "comprehension" if target.field == "target":
            spot.scope.bind(name, _taken(statement, "iter", (None, *steps), _source_scope(statement, spot)))
        case _:
            spot.scope.bind(name, _DATA)


def _taken(statement: Spot, field: str, steps: tuple[int | None, ...], scope: Scope) -> Binding:
    return Binding("data", value=under(statement.node, field) or _NO_VALUE, steps=steps, scope=scope)


def _shared(statement: Spot, scope: Scope) -> Binding:
    """A value that other parts of the code hold, too: if it is mutable, its content is unknown."""
    shared = _taken(statement, "value", (), scope)
    return _DATA if as_node(shared.value).get("_") in ("List", "Set", "Dict") else shared


def _source_scope(comprehension: Spot, target: Spot) -> Scope:
    """Where the source of a loop is read: outside of the comprehension if it is the first one."""
    around = comprehension.parent
    is_first = around is not None and listed(around.node, "generators")[0] is comprehension.node
    return around.scope if around is not None and is_first else target.scope


def _bind_import(spot: Spot) -> None:
    for alias in map(as_node, listed(spot.node, "names")):
        name = str(alias.get("name"))
        root = name.partition(".")[0]
        bound, target = (str(alias["asname"]), name) if "asname" in alias else (root, root)
        spot.scope.bind(bound, Binding("module", target))


def _bind_from(spot: Spot) -> None:
    for alias in map(as_node, listed(spot.node, "names")):
        target = f"{spot.text_of('module')}.{alias.get('name')}"
        kind = "module" if target in MEMBERS else "member"
        spot.scope.bind(str(alias.get("asname") or alias.get("name")), Binding(kind, target))


_SETTLING = ("Assign", "AnnAssign", "FunctionDef", "ClassDef", "Import", "ImportFrom")


def _settle(spots: list[Spot], places: Places) -> None:
    """Find the names of the module scope that are bound for certain before any part of the text reads them."""
    module = spots[0].scope
    ends: dict[str, tuple[int, int]] = {}
    deleted: set[str] = set()
    for spot in spots:
        if spot.kind == "Name" and spot.node.get("ctx") == "Del":
            deleted.add(spot.text_of("id"))
        for name in _bound_for_certain(spot):
            span = places.span(spot.parent.node if spot.kind == "Name" and spot.parent else spot.node)
            if span and span[1] < ends.get(name, (span[1] + 1, 0))[0]:
                # A function may refer to itself; an assigned value is read before its name is bound.
                ends[name] = (span[1], span[0] if spot.kind != "Name" else span[1])
    late: set[str] = set()
    for spot in spots:
        if spot.kind == "Name" and spot.node.get("ctx") == "Load" and spot.text_of("id") in ends:
            span = places.span(spot.node)
            if span is None or (
                span[0] < ends[spot.text_of("id")][1] and is_of_module(spot.text_of("id"), spot.scope)
            ):
                late.add(spot.text_of("id"))
    module.settled |= set(ends) - late - deleted


def _bound_for_certain(spot: Spot) -> list[str]:
    """Names that a statement of the outermost level gives a value, unconditionally."""
    statement = spot.parent if spot.kind == "Name" else spot
    if statement is None or statement.kind not in _SETTLING or statement.parent is None:
        return []
    if statement.parent.kind != "Module" or (statement.kind == "AnnAssign" and "value" not in statement.node):
        return []
    if spot.kind == "Name":
        return [spot.text_of("id")] if spot.node.get("ctx") == "Store" else []
    if spot.kind in ("Import", "ImportFrom"):
        aliases = map(as_node, listed(spot.node, "names"))
        return [str(a.get("asname") or str(a.get("name")).partition(".")[0]) for a in aliases]
    return [spot.text_of("name")] if spot.kind in ("FunctionDef", "ClassDef") else []
