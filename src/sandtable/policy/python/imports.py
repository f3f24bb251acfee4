"""Imports: only modules that the namespace already provides, under any name."""

from __future__ import annotations

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.members import ADVICE, CHECKED, MEMBERS, advice
from sandtable.policy.python.names import ABSENT, IMPORTABLE, MODULES
from sandtable.policy.python.spots import Spot

_HERE = {module: name for name, module in reversed(MODULES.items())}
_OTHERWISE = "only these can be imported: " + ", ".join(sorted({m.partition(".")[0] for m in IMPORTABLE}))


def import_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind != "alias" or spot.parent is None:
        return None
    name, asname = spot.text_of("name"), spot.text_of("asname")
    if (asname or name).startswith("__"):
        hint = "Choose a name without double underscores"
        return Finding(spot, asname or name, f"`{asname or name}` is a name of the interpreter.", hint)
    if spot.parent.kind == "Import":
        return None if name in IMPORTABLE else _not_here(spot, name)
    module = spot.parent.text_of("module")
    if spot.parent.node.get("level"):
        hint = "Define what you need in this code: there are no files beside it"
        return Finding(spot.parent, "relative import", "There is nothing here to import from.", hint)
    if module not in IMPORTABLE:
        return _not_here(spot.parent, module)
    return _member_finding(spot, module, name, asname)


def _member_finding(spot: Spot, module: str, name: str, asname: str) -> Finding | None:
    full = f"{module}.{name}"
    if name == "*":
        hint = f"Write import {module}, or name what you need: from {module} import …"
        return Finding(spot, "*", f"Not everything of {module} can be imported at once.", hint)
    if full in CHECKED and asname and asname != name:
        return Finding(spot, full, f"`{name}` must keep its name.", f"write from {module} import {name}")
    if full in MEMBERS or name in MEMBERS[module]:
        return None
    return Finding(spot, full, f"`{full}` may not be imported.", advice(module, name))


def _not_here(spot: Spot, module: str) -> Finding:
    root = module.partition(".")[0]
    known = next((_HERE[m] for m in (module, root) if m in _HERE), None)
    if module in ADVICE:
        hint = ADVICE[module]
    elif known:
        hint = f"{root} is already here as `{known}`: write {known}.… without an import"
    else:
        hint = ABSENT.get(module) or ABSENT.get(root) or _OTHERWISE
    return Finding(spot, module, f"`{module}` cannot be imported here.", hint)
