"""Which kinds of syntax are allowed, and the rules for classes, functions and patterns."""

from __future__ import annotations

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.spots import Spot
from sandtable.policy.python.words import METHODS, forbidden_method, forbidden_word
from sandtable.policy.tree import as_node, listed, under

ALLOWED: frozenset[str] = frozenset(
    """
    Module Expr Assign AugAssign AnnAssign Delete Pass Break Continue Return Raise Assert Global Nonlocal
    If For While With withitem Try TryStar ExceptHandler FunctionDef ClassDef Lambda arguments arg keyword
    Import ImportFrom alias Match match_case MatchValue MatchSingleton MatchSequence MatchMapping MatchClass
    MatchStar MatchAs MatchOr
    BoolOp NamedExpr BinOp UnaryOp IfExp Dict Set ListComp SetComp DictComp GeneratorExp comprehension Yield
    YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple Slice
    """.split()
)

_NO_WAITING = ("Asynchronous code is not allowed.", "nothing here waits: write a plain def, for and with")
_NO_PARAMETERS = (
    "Type parameters are not allowed.",
    "leave the square brackets out: def name(x): …, class Name: …",
)
_NO_TEMPLATE = ("Template strings are not allowed.", 'write an f-string: f"{value:.2f}"')

REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("AsyncFunctionDef", "AsyncFor", "AsyncWith", "Await"), _NO_WAITING),
    "TypeAlias": ("The statement `type` is not allowed.", "write Name = list[int], or leave it out"),
    **dict.fromkeys(("TypeVar", "TypeVarTuple", "ParamSpec"), _NO_PARAMETERS),
    **dict.fromkeys(("TemplateStr", "Interpolation"), _NO_TEMPLATE),
}
"""Syntax that is refused on purpose, with message and advice. Syntax that is in neither list is refused as well."""


def syntax_finding(spot: Spot, code: Code) -> Finding | None:
    kind = spot.kind
    if kind.startswith("Async") or kind == "Await" or (kind == "comprehension" and spot.node.get("is_async")):
        place = spot if "at" in spot.node else spot.parent or spot
        return Finding(place, "async", *_NO_WAITING)
    if kind not in ALLOWED:
        unknown = (f"This kind of syntax ({kind}) is not allowed.", "write it in a plainer way")
        return Finding(spot, kind, *REFUSED.get(kind, unknown))
    match kind:
        case "ClassDef":
            return _class_finding(spot)
        case "FunctionDef":
            return _function_finding(spot)
        case "MatchClass":
            return _pattern_finding(spot, code)
        case "arg" | "keyword":
            return _dunder_argument(spot)
        case "ExceptHandler" | "MatchAs" | "MatchStar":
            return _dunder(spot, spot.text_of("name"))
        case "MatchMapping":
            return _dunder(spot, spot.text_of("rest"))
        case _:
            return None


def _class_finding(spot: Spot) -> Finding | None:
    for keyword in (str(as_node(k).get("arg", "**")) for k in listed(spot.node, "keywords")):
        # Of a TypedDict; any other class refuses it by itself.
        if keyword != "total":
            hint = "Write a plain class, or a function that makes one"
            return Finding(spot, keyword, f"A class may not take `{keyword}=`.", hint)
    for base in map(as_node, listed(spot.node, "bases")):
        if base.get("_") == "Name" and base.get("id") == "type":
            return Finding(spot, "type", "A class of classes is not allowed.", "write a plain class")
    return _dunder(spot, spot.text_of("name"))


def _function_finding(spot: Spot) -> Finding | None:
    name = spot.text_of("name")
    in_class = spot.parent is not None and spot.parent.kind == "ClassDef"
    if not name.startswith("__") or (in_class and (name in METHODS or not name.endswith("__"))):
        return None
    return Finding(
        spot,
        name,
        f"The special method `{name}` may not be defined.",
        "give the method a plain name; __init__, __repr__, __eq__, __lt__, __len__, __iter__ and operators are fine",
    )


def _pattern_finding(spot: Spot, code: Code) -> Finding | None:
    is_own = code.is_own_class(Spot(under(spot.node, "cls"), spot, "cls", spot.scope))
    forbidden = forbidden_word if is_own else forbidden_method
    for attribute in map(str, listed(spot.node, "kwd_attrs")):
        if reason := forbidden(attribute, code.columns):
            return Finding(
                spot, attribute, f"A pattern may not read `{attribute}`: {reason}", "match on plain values"
            )
    return None


def _dunder_argument(spot: Spot) -> Finding | None:
    return _dunder(spot, spot.text_of("arg")) if spot.kind == "arg" else None


def _dunder(spot: Spot, name: str) -> Finding | None:
    if not (name.startswith("__") and name.endswith("__") and len(name) > 4):
        return None
    return Finding(
        spot, name, f"`{name}` is a name of the interpreter.", "choose a name without double underscores"
    )
