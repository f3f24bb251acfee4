"""Attributes: an allow list for members of modules, and a deny list of names for all other objects.

The type of an object is not known from the text. So a name that is dangerous on some object is refused
on all, except where it is certainly the text's own class, or where the call leaves out the path.
"""

from __future__ import annotations

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.members import MEMBERS, advice
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.python.words import (
    INNER_MODULES,
    METHODS,
    ONLY_ON_OWN,
    PATH_OPTIONAL,
    READERS,
    TEMPLATES,
    WRITERS,
    forbidden_word,
    is_private,
)
from sandtable.policy.tree import under

_RECKONING = ("Attribute", "Subscript", "BinOp", "UnaryOp", "Compare")
_OF_MODULES = frozenset({"__version__", "__name__", "__doc__"})
"""Special attributes of modules that are texts."""
_NEVER_COLUMNS = frozenset({"plot", "sql"})
"""Frames have an attribute of this name, whatever their columns are called."""
_NO_FILES = "give results out with show_table(frame), show(fig) or print(text); there are no files here"
_TABLES = "the dataset's tables are variables already: {table}, tables['{table}']"
_PATHS = frozenset(
    {"path_or_buf", "path", "buf", "file", "path_or_buffer", "file_name", "filename", "fname", "output_file"}
)


def attribute_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind != "Attribute":
        return None
    if modules := code.modules(spot, under(spot.node, "value")):
        return _member_finding(spot, modules)
    return _object_finding(spot, code)


def _member_finding(spot: Spot, modules: frozenset[str]) -> Finding | None:
    attribute = spot.text_of("attr")
    for module in sorted(modules):
        full = f"{module}.{attribute}"
        if spot.node.get("ctx") != "Load":
            hint = "Keep the value in a variable of your own"
            return Finding(spot, full, f"The module {module} cannot be changed.", hint, attribute)
        if attribute in _OF_MODULES:
            continue
        if full in MEMBERS:
            if spot.parent is None or spot.parent.kind != "Attribute" or spot.field != "value":
                return bare_module(spot, full, attribute)
        elif attribute not in MEMBERS[module]:
            message = f"`{full}` may not be used."
            return Finding(spot, full, message, advice(module, attribute), attribute)
    return None


def bare_module(spot: Spot, module: str, word: str) -> Finding:
    return Finding(
        spot,
        word,
        f"`{word}` ({module}) may only be used with a dot after it, not handed on.",
        f"write what you need of it in place: {word}.…; give a variable of your own another name",
        word,
    )


def _object_finding(spot: Spot, code: Code) -> Finding | None:
    attribute = spot.text_of("attr")
    if attribute.startswith("_"):
        return _private_finding(spot, code)
    if attribute in PATH_OPTIONAL:
        return None if _without_path(spot) else _path_finding(spot, attribute)
    if code.is_own_attribute(spot):
        return None
    if attribute in ONLY_ON_OWN:
        if _is_column(spot, code) or spot.node.get("ctx") == "Store":
            return None
        return Finding(
            spot, attribute, f"`.{attribute}` may not be used here.", ONLY_ON_OWN[attribute], attribute
        )
    reason = forbidden_word(attribute, code.columns)
    if reason is None:
        return None
    return Finding(spot, attribute, f"`.{attribute}` may not be used: {reason}", _hint(attribute), attribute)


def _is_column(spot: Spot, code: Code) -> bool:
    """An attribute that is an operand, and is not called, is a column; so is the name of a column of the dataset."""
    attribute = spot.text_of("attr")
    if attribute in _NEVER_COLUMNS or spot.is_called:
        return False
    is_reckoned = spot.field in ("value", "left", "right", "operand", "comparators") and (
        spot.parent is not None and spot.parent.kind in _RECKONING
    )
    return is_reckoned or attribute in code.columns


def _private_finding(spot: Spot, code: Code) -> Finding | None:
    attribute, value = spot.text_of("attr"), under(spot.node, "value")
    is_special = attribute.startswith("__") and attribute.endswith("__")
    if not is_private(attribute) and spot.node.get("ctx") == "Load":
        return None
    if attribute in METHODS and under(value, "func").get("id") == "super":
        return None
    if attribute == "__class__" and _is_for_its_name(spot):
        return None
    if not is_special and code.is_own_attribute(spot):
        return None
    what = "of the interpreter" if is_special else "private to another class"
    return Finding(
        spot, attribute, f"`.{attribute}` is {what} and may not be used.", _hint(attribute), attribute
    )


def _is_for_its_name(spot: Spot) -> bool:
    """`x.__class__.__name__` is a text."""
    return spot.field == "value" and spot.parent is not None and spot.parent.text_of("attr") == "__name__"


def _without_path(spot: Spot) -> bool:
    if not spot.is_called or spot.parent is None:
        return False
    positional, named, hidden = call_arguments(spot.parent.node)
    paths = [*positional, *(value for name, value in named.items() if name in _PATHS)]
    return not hidden and all(path.get("kind") == "none" for path in paths) and len(positional) <= 1


def _path_finding(spot: Spot, attribute: str) -> Finding:
    return Finding(
        spot,
        attribute,
        f"`.{attribute}` may only be called without a path: there are no files here.",
        f"write text = df.{attribute}() and print(text), or show_table(df)",
        attribute,
    )


def _hint(attribute: str) -> str:
    if attribute in WRITERS:
        return "end with show(fig)" if "image" in attribute or "html" in attribute else _NO_FILES
    if attribute in READERS:
        return _TABLES
    if attribute in TEMPLATES:
        return "style the frame itself: df.style.format('{:.2f}').hide()"
    if attribute == "__class__":
        return "write type(x).__name__ for the name of a type"
    if attribute in INNER_MODULES:
        return f"write df['{attribute}'] if it is a column; the libraries are here as pd, np, pl, px, go, alt"
    return "use public methods and attributes only"
