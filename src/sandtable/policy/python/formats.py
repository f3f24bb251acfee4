"""Format texts: `"{0.name}".format(x)` reads attributes, and so does every method that formats with such a text.

Invariant: a format text is known statically; one that is built at run time is refused.
"""

from __future__ import annotations

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.expressions import format_trouble
from sandtable.policy.python.names import BUILTINS
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.python.texts import sources_of, texts_of
from sandtable.policy.tree import Node, as_node, listed, under

_ON_STYLE: dict[str, str] = {
    "format": "formatter",
    "format_index": "formatter",
    "format_index_names": "formatter",
    "relabel_index": "labels",
}
"""Methods of `df.style` that take format texts: as their first argument, or as this keyword."""

_KEYWORDS = frozenset({"float_format", "formatters"})
_HINT = 'write an f-string: f"{value:.2f}"; with a format that varies: format(value, spec)'
_LITERAL = "write the format as a literal text, as a dictionary of such texts, or give a function"


def format_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind == "Attribute" and spot.text_of("attr") in ("format", "format_map"):
        return _method_finding(spot, code)
    if spot.kind != "Call":
        return None
    return _style_finding(spot, code) or _keyword_finding(spot, code)


def _method_finding(spot: Spot, code: Code) -> Finding | None:
    """`spot` is the attribute `.format` itself, called or not."""
    value, word = under(spot.node, "value"), spot.text_of("attr")
    if spot.node.get("ctx") != "Load" or code.modules(spot, value) or code.is_own_attribute(spot):
        return None
    texts = texts_of(spot, code, value)
    if texts is None:
        is_column = not spot.is_called and "format" in code.columns
        if is_column or (spot.is_called and _is_style(Spot(value, spot, "value", spot.scope), code)):
            return None
        return Finding(spot, word, f"`.{word}` needs a literal text in front of it.", _HINT, word)
    return next((found for text in texts if (found := _trouble(spot, code, text))), None)


def _trouble(spot: Spot, code: Code, text: str) -> Finding | None:
    word = format_trouble(text, code)
    hint = "Compute the value first, then put it into the text"
    return Finding(spot, word, f"The format text may not read `{word}`.", hint) if word else None


def _style_finding(spot: Spot, code: Code) -> Finding | None:
    func = under(spot.node, "func")
    word = str(func.get("attr"))
    if func.get("_") != "Attribute" or word not in _ON_STYLE:
        return None
    place = Spot(func, spot, "func", spot.scope)
    if code.modules(spot, under(func, "value")) or code.is_own_attribute(place):
        return None
    if word == "format" and not _is_style(Spot(under(func, "value"), spot, "value", spot.scope), code):
        return None
    positional, named, hidden = call_arguments(spot.node)
    if hidden:
        return Finding(spot, word, f"What `.{word}` is given must be written in place.", _LITERAL)
    given = positional[0] if positional else named.get(_ON_STYLE[word])
    return formatter_finding(spot, code, given, word) if given is not None else None


def _keyword_finding(spot: Spot, code: Code) -> Finding | None:
    """`df.to_string(float_format="{:.2f}")` and its kin."""
    _positional, named, _hidden = call_arguments(spot.node)
    for keyword in _KEYWORDS & named.keys():
        if found := formatter_finding(spot, code, named[keyword], keyword):
            return found
    return None


def formatter_finding(spot: Spot, code: Code, given: Node, word: str) -> Finding | None:
    """What is wrong with a formatter: a text, a function, or a collection of them."""
    pending = [Spot(given, spot, "", spot.scope)]
    while pending:
        for source in sources_of(pending.pop(), code):
            if source.kind == "Constant" and not source.node.get("cut"):
                if found := _trouble(spot, code, str(source.node.get("value"))):
                    return found
            elif (inner := _inside(source, code)) is not None:
                pending += [Spot(node, source, "", source.scope) for node in inner]
            elif not _is_function(source, code):
                return _unknown(spot, word)
    return None


def _unknown(spot: Spot, word: str) -> Finding:
    return Finding(spot, word, f"`{word}` needs a format that can be read here.", _LITERAL)


def _inside(spot: Spot, code: Code) -> list[Node] | None:
    """The formats in a collection of formats."""
    match spot.kind:
        case "Dict":
            nodes = listed(spot.node, "values")
        case "List" | "Tuple":
            nodes = listed(spot.node, "elts")
        case "DictComp":
            nodes = [spot.node.get("value")]
        case "ListComp":
            nodes = [spot.node.get("elt")]
        case "Call":
            return _made_dictionary(spot, code)
        case _:
            return None
    return [as_node(node) for node in nodes]


def _made_dictionary(spot: Spot, code: Code) -> list[Node] | None:
    """`dict(a="{:.1f}")` and `dict.fromkeys(names, "{:.1f}")`."""
    func = under(spot.node, "func")
    positional, named, hidden = call_arguments(spot.node)
    name = under(func, "value") if func.get("attr") == "fromkeys" else func
    is_dict = name.get("id") == "dict" and not code.meaning(Spot(name, spot, "func", spot.scope)).bindings
    if not is_dict or hidden:
        return None
    if func.get("attr") == "fromkeys":
        return positional[1:] if len(positional) == 2 else None
    return list(named.values()) if not positional else None


def _is_function(spot: Spot, code: Code) -> bool:
    if spot.kind == "Lambda" or code.members(spot, spot.node):
        return True
    if spot.kind == "Attribute":
        # That of a text is judged where it stands; `str.upper` and its kin format nothing.
        owner = Spot(under(spot.node, "value"), spot, "value", spot.scope)
        is_of_str = owner.text_of("id") == "str" and not code.meaning(owner).bindings
        return spot.text_of("attr") == "format" or is_of_str
    if spot.kind != "Name":
        return False
    meaning = code.meaning(spot)
    is_builtin = meaning.ambient and not meaning.bindings and spot.text_of("id") in BUILTINS
    return meaning.is_function or is_builtin


def _is_style(spot: Spot, code: Code, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression hangs on `.style`, in place or through variables."""
    return all(_hangs_on_style(source, code, seen) for source in sources_of(spot, code))


def _hangs_on_style(spot: Spot, code: Code, seen: frozenset[str]) -> bool:
    node = spot.node
    while node.get("_") in ("Attribute", "Call"):
        if node.get("attr") == "style":
            return True
        node = under(node, "func") or under(node, "value")
    name = str(node.get("id"))
    if node is spot.node or node.get("_") != "Name":
        return False
    # `look = look.format(…)` hangs on what `look` was before.
    return name in seen or _is_style(Spot(node, spot, "", spot.scope), code, seen | {name})
