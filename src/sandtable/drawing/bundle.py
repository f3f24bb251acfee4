"""Modules as one script, for a page that loads nothing.

Invariant: pure text work on files of this package. The modules use the few forms of `import` and `export` that are
read here; anything else is an error when the script is made, which a test does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./([a-z]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (\w+))", re.MULTILINE)


def script_of(modules: Iterable[Path]) -> str:
    """`modules`: each after those that it imports."""
    return "\n".join(_wrapped(path.stem, path.read_text(encoding="utf-8")) for path in modules)


def _wrapped(name: str, text: str) -> str:
    """A module as a function that returns its exports: names of one do not meet those of another."""
    exports = [found[1] for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_taken, text))
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE) or "</script" in body:
        raise ValueError(f"{name}.js has a form that the page's script cannot hold")
    return f"const _{name} = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();"


def _taken(found: re.Match[str]) -> str:
    names = found[1].replace(" as ", ": ")
    return f"const {{ {names} }} = _{found[2]};\n"
