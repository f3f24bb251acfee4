"""Calls that do what a text says: getattr, format strings, pandas expressions, methods called by name.

Invariant: such a text must be readable here, as a literal or as a variable that is only ever that literal;
what is put together while the code runs is refused, or may do nothing that needs an argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandtable.policy.python.attributes import forbidden_method
from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.expressions import expression_trouble, format_trouble
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.tree import Node, as_node, listed, under

BY_NAME: frozenset[str] = frozenset({"agg", "aggregate", "apply", "transform", "pivot_table"})
"""Methods that take the name of another method as a text, and arguments for it."""

_HARMLESS = frozenset(
    """
    axis raw result_type by_row engine numeric_only skipna include_groups ddof min_count return_dtype
    values index columns aggfunc fill_value margins dropna margins_name observed sort on maintain_order func
    skip_nulls returns_scalar
    """.split()
)
_DISPLAY = ("display.", "mode.", "future.", "styler.")
_OPTIONS = frozenset(
    {"pandas.set_option", "pandas.option_context", "pandas.reset_option", "pandas.get_option"}
)
_GETTERS = frozenset({"attrgetter", "methodcaller"})
_CHECKED = _OPTIONS | frozenset(f"operator.{name}" for name in _GETTERS)


def call_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind in ("Name", "Attribute"):
        return _handed_on(spot, code)
    if spot.kind != "Call":
        return None
    func = under(spot.node, "func")
    if func.get("_") == "Name":
        return _builtin_finding(spot, code, str(func.get("id"))) or _member_call(spot, code)
    return _member_call(spot, code) or _method_finding(spot, code, func)


def _handed_on(spot: Spot, code: Code) -> Finding | None:
    """What is looked at when it is called must be called where it stands."""
    word = spot.text_of("attr") or spot.text_of("id")
    if spot.node.get("ctx") != "Load" or spot.is_called:
        return None
    if spot.kind == "Attribute" and word in ("eval", "query") and word not in code.columns:
        return Finding(spot, word, f"`.{word}` may only be called in place.", "write df.query('a > 1')", word)
    if spot.kind == "Attribute" and word in ("format", "format_map"):
        return _format_finding(spot, code)
    is_checked = code.members(spot, spot.node) & _CHECKED or (spot.kind == "Attribute" and word in _GETTERS)
    if not is_checked:
        return None
    return Finding(spot, word, f"`{word}` may only be called in place.", "call it where you need it", word)


def _builtin_finding(spot: Spot, code: Code, name: str) -> Finding | None:
    positional, named, hidden = call_arguments(spot.node)
    if name == "type" and (hidden or named or len(positional) != 1):
        return Finding(spot, "type", "A class may not be made by type(…).", "write class Name: …")
    if name != "getattr":
        return None
    word = _text(spot, code, positional[1]) if len(positional) in (2, 3) and not hidden else None
    if word is None:
        hint = "write the attribute itself: x.name; for a column df[name]"
        return Finding(spot, "getattr", "getattr needs the attribute's name as a literal text.", hint)
    if reason := forbidden_method(word, code):
        return Finding(spot, word, f"getattr may not read `{word}`: {reason}", "use public attributes only")
    return None


def _member_call(spot: Spot, code: Code) -> Finding | None:
    func = under(spot.node, "func")
    full = code.members(spot, func)
    word = str(func.get("attr") or func.get("id"))
    positional, _named, hidden = call_arguments(spot.node)
    if full & _OPTIONS:
        options = positional[::2] if "pandas.option_context" in full else positional[:1]
        texts = [_text(spot, code, option) for option in options]
        if hidden or not texts or not all(t and t.startswith(_DISPLAY) for t in texts):
            hint = "write pd.set_option('display.max_rows', 20)"
            return Finding(spot, word, "Only options of display may be used.", hint)
    if word in _GETTERS and not code.meaning(Spot(func, spot, "func", spot.scope)).is_function:
        names = positional if word == "attrgetter" else positional[:1]
        texts = [_text(spot, code, name) for name in names]
        if hidden or any(t is None or _forbidden_path(t, code) for t in texts):
            return Finding(spot, word, f"`{word}` needs plain names.", "write a lambda: lambda x: x.name")
    return None


def _forbidden_path(text: str, code: Code) -> bool:
    return any(forbidden_method(word, code) for word in text.split("."))


def _method_finding(spot: Spot, code: Code, func: Node) -> Finding | None:
    attribute = str(func.get("attr"))
    if func.get("_") != "Attribute" or code.modules(spot, under(func, "value")):
        return None
    if attribute in ("eval", "query"):
        if attribute in code.attributes and code.is_own_object(spot, under(func, "value")):
            return None
        return _expression_finding(spot, code, attribute)
    if attribute in ("format", "format_map"):
        return _format_finding(Spot(func, spot, "func", spot.scope), code)
    return _by_name_finding(spot, code, attribute) if attribute in BY_NAME else None


def _expression_finding(spot: Spot, code: Code, method: str) -> Finding | None:
    positional, named, hidden = call_arguments(spot.node)
    given = positional[0] if positional else named.get("expr")
    text = _text(spot, code, given) if given is not None else None
    if hidden or text is None:
        hint = "write the condition as one literal text, with @name for a variable: df.query('a > @limit')"
        return Finding(spot, method, f"`.{method}` needs a literal text.", hint)
    word = expression_trouble(text, code, bare_names=method == "eval")
    if word is None:
        return None
    hint = "use plain columns and @variables, or write it in Python: df[df['a'] > limit]"
    return Finding(spot, word, f"The expression may not use `{word}`.", hint)


def _format_finding(spot: Spot, code: Code) -> Finding | None:
    """`spot` is the attribute `.format` itself, called or not."""
    value = under(spot.node, "value")
    if code.modules(spot, value) or ("format" in code.attributes and code.is_own_object(spot, value)):
        return None
    word = spot.text_of("attr")
    if _is_style(value):
        texts = [str(c.get("value")) for c in _constants(spot.parent.node if spot.parent else {})]
    else:
        text = _text(spot, code, value)
        if text is None:
            if not spot.is_called and "format" in code.columns:
                return None
            hint = 'write an f-string: f"{value:.2f}"'
            return Finding(spot, word, f"`.{word}` needs a literal text in front of it.", hint, word)
        texts = [text]
    for text in texts:
        if trouble := format_trouble(text, code):
            hint = "compute the value first, then put it into the text"
            return Finding(spot, trouble, f"The format text may not read `{trouble}`.", hint)
    return None


def _is_style(node: Node) -> bool:
    """Whether an expression hangs on `.style`, whose `format` takes format texts."""
    while node:
        if node.get("_") == "Attribute" and node.get("attr") == "style":
            return True
        node = under(node, "func") if node.get("_") == "Call" else under(node, "value")
    return False


def _by_name_finding(spot: Spot, code: Code, method: str) -> Finding | None:
    positional, named, hidden = call_arguments(spot.node)
    given = next((named[k] for k in ("func", "aggfunc") if k in named), None)
    if given is None and positional and method != "pivot_table":
        given = positional[0]
    for constant in _constants(spot.node):
        if reason := forbidden_method(str(constant.get("value")), code):
            word = str(constant.get("value"))
            return Finding(
                spot, word, f"`.{method}` may not call `{word}`: {reason}", "aggregate with sum, mean, …"
            )
    values = [*positional, *(value for key, value in named.items() if key not in _HARMLESS)]
    if given is not None and (_is_plain(spot, code, given) or all(_is_plain(spot, code, v) for v in values)):
        return None
    if given is None:
        if not hidden or _named_aggregations(spot, code):
            return None
        hint = "write the aggregations out: .agg(total=('amount', 'sum'))"
        return Finding(spot, method, f"What `.{method}` is given must be written in place.", hint)
    if hidden or set(named) - _HARMLESS or len(positional) > 2:
        hint = "give a function: .apply(lambda x: f(x, 1)), or name the method as a literal text"
        return Finding(spot, method, f"`.{method}` may not pass arguments to what is not known here.", hint)
    return None


def _is_plain(spot: Spot, code: Code, node: Node) -> bool:
    """Whether it is certain that a value names no method, or only such as are written here."""
    match node.get("_"):
        case "Lambda":
            return True
        case "Constant":
            return not forbidden_method(str(node.get("value")), code)
        case "Name":
            meaning = code.meaning(Spot(node, spot, "args", spot.scope))
            if (value := meaning.only_value) is not None:
                is_simple = value.get("_") in ("Constant", "Lambda")
                return _is_plain(spot, code, value) if is_simple else _is_polars(spot, code, value)
            is_builtin = meaning.ambient and not meaning.bindings and not code.is_given(str(node.get("id")))
            return meaning.is_function or is_builtin or bool(code.members(spot, node))
        case "Attribute":
            return bool(code.members(spot, node))
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


def _text(spot: Spot, code: Code, node: Node) -> str | None:
    """The text that an expression certainly is."""
    if node.get("_") == "Name":
        node = code.meaning(Spot(node, spot, "args", spot.scope)).only_value or node
    if node.get("_") != "Constant" or node.get("kind") != "str" or node.get("cut"):
        return None
    return str(node.get("value"))


def _constants(call: Node) -> Iterator[Node]:
    """The literal texts among the arguments of a call, not those of functions and calls inside them."""
    stack = [*listed(call, "args"), *listed(call, "keywords")]
    while stack:
        node = as_node(stack.pop())
        if node.get("_") == "Constant" and node.get("kind") == "str":
            yield node
        elif node.get("_") in ("List", "Tuple", "Set"):
            stack.extend(listed(node, "elts"))
        elif node.get("_") == "Dict":
            stack.extend(listed(node, "values"))
        elif node.get("_") in ("keyword", "Starred"):
            stack.append(under(node, "value"))
