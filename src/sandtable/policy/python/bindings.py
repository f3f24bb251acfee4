"""Which names a text binds, and where: assignments, loops, imports, definitions, patterns, parameters."""

from __future__ import annotations

from sandtable.policy.python.members import MEMBERS
from sandtable.policy.python.scopes import Binding, is_of_module
from sandtable.policy.python.spots import Places, Spot
from sandtable.policy.tree import as_node, listed, under

_DATA = Binding("data")
_FUNCTION = Binding("function")


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
    parent, name = spot.parent, spot.text_of("id")
    if parent is not None and parent.kind == "NamedExpr":
        spot.scope.of_names.bind(name, Binding("data", value=under(parent.node, "value")))
    elif parent is not None and parent.kind in ("Assign", "AnnAssign"):
        spot.scope.bind(name, Binding("data", value=under(parent.node, "value") or None))
    else:
        spot.scope.bind(name, _DATA)


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
                # A function may speak of itself; an assigned value is read before its name is bound.
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
