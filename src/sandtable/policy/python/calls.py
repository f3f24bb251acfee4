"""Calls that interpret a text: getattr, pandas expressions, options, functions that take attribute names.

Invariant: such a text must be known statically, as a literal or as a variable that is only ever such a literal;
a text that is built at run time is refused.
"""

from __future__ import annotations

import re

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.expressions import expression_trouble
from sandtable.policy.python.formats import formatter_finding
from sandtable.policy.python.members import CHECKED
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.python.texts import texts_of
from sandtable.policy.python.words import forbidden_method
from sandtable.policy.tree import Node, under

_OPTION = re.compile(r"(?:display|mode|future|styler)\.[a-z_.]+")
"""A text that is not the name of an option is a pattern that may match any other."""
_FORMATS = frozenset({"styler.format.formatter", "display.float_format"})
_OPTIONS = frozenset(
    {"pandas.set_option", "pandas.option_context", "pandas.reset_option", "pandas.get_option"}
)
_PAIRS = frozenset({"pandas.set_option", "pandas.option_context"})
_GETTERS = frozenset({"attrgetter", "methodcaller"})
_COPIERS: dict[str, int] = {"functools.wraps": 1, "functools.update_wrapper": 2}
"""What copies attributes by name: any name, if it is given more arguments than these."""


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
    """A function whose arguments are checked at the call must be called directly, not passed on."""
    word = spot.text_of("attr") or spot.text_of("id")
    if spot.node.get("ctx") != "Load" or spot.is_called:
        return None
    if spot.kind == "Attribute" and word in ("eval", "query") and word not in code.columns:
        return Finding(spot, word, f"`.{word}` may only be called in place.", "write df.query('a > 1')", word)
    is_checked = code.members(spot, spot.node) & CHECKED or (spot.kind == "Attribute" and word in _GETTERS)
    if not is_checked:
        return None
    return Finding(spot, word, f"`{word}` may only be called in place.", "call it where you need it", word)


def _builtin_finding(spot: Spot, code: Code, name: str) -> Finding | None:
    positional, named, hidden = call_arguments(spot.node)
    if name == "type" and (hidden or named or len(positional) != 1):
        return Finding(spot, "type", "A class may not be made by type(…).", "write class Name: …")
    if name != "getattr":
        return None
    words = texts_of(spot, code, positional[1]) if len(positional) in (2, 3) and not hidden else None
    if words is None:
        hint = "Write the attribute itself: x.name; for a column df[name]"
        return Finding(spot, "getattr", "getattr needs the attribute's name as a literal text.", hint)
    for word in words:
        if reason := forbidden_method(word, code.columns):
            return Finding(
                spot, word, f"getattr may not read `{word}`: {reason}", "use public attributes only"
            )
    return None


def _member_call(spot: Spot, code: Code) -> Finding | None:
    func = under(spot.node, "func")
    full = code.called(spot)
    word = str(func.get("attr") or func.get("id"))
    positional, named, hidden = call_arguments(spot.node)
    if full & _OPTIONS:
        return _option_finding(spot, code, word)
    for member in full & _COPIERS.keys():
        if hidden or named or len(positional) > _COPIERS[member]:
            hint = "Leave the other arguments out: @functools.wraps(function)"
            return Finding(spot, word, f"`{word}` may not be given names of attributes.", hint)
    if any(m.startswith("scipy.") for m in full) and named.get("workers", {"value": 1}).get("value") != 1:
        return Finding(spot, "workers", "No other process can be started here.", "leave `workers` out")
    if word in _GETTERS and not code.meaning(Spot(func, spot, "func", spot.scope)).is_function:
        names = positional if word == "attrgetter" else positional[:1]
        texts = [texts_of(spot, code, name) for name in names]
        if hidden or any(t is None or any(_is_forbidden_path(w, code) for w in t) for t in texts):
            return Finding(spot, word, f"`{word}` needs plain names.", "write a lambda: lambda x: x.name")
    return None


def _option_finding(spot: Spot, code: Code, word: str) -> Finding | None:
    positional, _named, hidden = call_arguments(spot.node)
    takes_pairs = bool(code.called(spot) & _PAIRS)
    names = [texts_of(spot, code, option) for option in (positional[::2] if takes_pairs else positional)]
    if hidden or not names or not all(n and all(_OPTION.fullmatch(t) for t in n) for n in names):
        hint = "Write pd.set_option('display.max_rows', 20)"
        return Finding(spot, word, "Only options of display may be used.", hint)
    for texts, value in zip(names, positional[1::2] if takes_pairs else [], strict=False):
        if _FORMATS & set(texts or ()) and (found := formatter_finding(spot, code, value, word)):
            return found
    return None


def _is_forbidden_path(text: str, code: Code) -> bool:
    return any(forbidden_method(word, code.columns) for word in text.split("."))


def _method_finding(spot: Spot, code: Code, func: Node) -> Finding | None:
    attribute = str(func.get("attr"))
    if func.get("_") != "Attribute" or code.modules(spot, under(func, "value")):
        return None
    if attribute in ("hist", "boxplot") and "backend" in call_arguments(spot.node)[1]:
        hint = "Draw with Plotly: px.histogram(…), px.box(…)"
        return Finding(spot, "backend", "No other library can be loaded to draw with.", hint)
    if attribute not in ("eval", "query") or code.is_own_attribute(Spot(func, spot, "func", spot.scope)):
        return None
    return _expression_finding(spot, code, attribute)


def _expression_finding(spot: Spot, code: Code, method: str) -> Finding | None:
    positional, named, hidden = call_arguments(spot.node)
    given = positional[0] if positional else named.get("expr")
    texts = texts_of(spot, code, given) if given is not None else None
    if hidden or texts is None:
        hint = "Write the condition as one literal text, with @name for a variable: df.query('a > @limit')"
        return Finding(spot, method, f"`.{method}` needs a literal text.", hint)
    for text in texts:
        if word := expression_trouble(text, code, bare_names=method == "eval"):
            hint = "Use plain columns and @variables, or write it in Python: df[df['a'] > limit]"
            return Finding(spot, word, f"The expression may not use `{word}`.", hint)
    return None
