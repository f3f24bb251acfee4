"""YAML text → plain values, each with its line; and plain values → YAML text in block style.

Invariant: bounded work on any text. Only the pure Python parser of PyYAML reads it; anchors, aliases, tags, duplicate
keys, a second document, deep nesting and long texts are refused. A key is the text that is written: `no:` is `no`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from sandtable.errors import InvalidInput
from sandtable.quoting import quote

LONGEST = 1 << 20
DEEPEST = 40
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WIDTH = 110
# What some reader of YAML takes for a number, a boolean or a date.
_AMBIGUOUS = re.compile(r"[-+.]?[0-9][0-9_.:eExXoOa-fA-F+-]*|[-+]?\.(?:inf|nan)|[yn]|=|<<", re.IGNORECASE)
# Line breaks other than `\n` are read back as `\n` unless they are escaped.
_ESCAPED = re.compile("[^\n\x20-\x7e\xa1-\u1fff\u2030-\ud7ff\uf900-\ufefe\U00010000-\U0001ffff]")
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
Path = tuple[str | int, ...]


@dataclass(slots=True)
class Scalar:
    text: str
    plain: bool
    """Whether it was written without quotes, so that it may be a number, a word or empty."""

    @property
    def value(self) -> Any:
        """By the core schema of YAML 1.2: `yes` and `2024-01-01` are texts."""
        if not self.plain:
            return self.text
        if self.text in _NULLS:
            return None
        if self.text in _WORDS:
            return _WORDS[self.text]
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        if _NUMBER.fullmatch(self.text) and math.isfinite(number := float(self.text)):
            return number
        return self.text


@dataclass(slots=True)
class Tree:
    """`root` is made of dicts, lists and scalars."""

    root: Any = None
    lines: dict[Path, int] = field(default_factory=dict[Path, int])

    def line(self, path: Path) -> int:
        """Of the place, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def values(self) -> Any:
        return plain_values(self.root)


def plain_values(node: Any) -> Any:
    match node:
        case Scalar():
            return node.value
        case dict():
            return {key: plain_values(each) for key, each in cast(dict[str, Any], node).items()}
        case _:
            return [plain_values(each) for each in node]


def read_tree(text: str) -> Tree:
    """Raises InvalidInput with the line of what cannot be read."""
    if len(text) > LONGEST:
        raise refused(f"it has more than {LONGEST >> 20} MiB", None)
    try:
        return _Reading(_events(text)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise refused(error.problem or "it is not YAML", mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise refused(str(error), None) from error


def _events(text: str) -> Iterator[Any]:
    loader: Any = yaml.SafeLoader(text)
    while loader.check_event():
        yield loader.get_event()


def refused(problem: str, line: int | None) -> InvalidInput:
    place = f"line {line}: " if line is not None else ""
    return InvalidInput(
        f"the catalog file cannot be read: {place}{problem}",
        suggestion="Correct that place, or export the catalog again and repeat the change.",
        line=line,
    )


class _Reading:
    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._tree = Tree()

    def document(self) -> Tree:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            raise refused("it is empty", None)
        self._tree.root = self._node(self._next(), ())
        self._next()
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise refused("it has more than one document", None)
        return self._tree

    def _next(self) -> Any:
        return next(self._events)

    def _node(self, event: Any, path: Path) -> Any:
        line: int = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise refused("anchors (`&`) and aliases (`*`) are not read", line)
        if event.tag is not None and event.tag != "!":
            raise refused("tags (`!`) are not read", line)
        if len(path) > DEEPEST:
            raise refused(f"it is more than {DEEPEST} levels deep", line)
        self._tree.lines.setdefault(path, line)
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(path)
            case yaml.SequenceStartEvent():
                return self._sequence(path)
            case _:
                return Scalar(event.value, plain=event.implicit[0])

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line: int = event.start_mark.line + 1
            key = self._node(event, (*path, ""))
            self._tree.lines.pop((*path, ""), None)
            if not isinstance(key, Scalar):
                raise refused("a key is a name", line)
            if key.text in found:
                raise refused(f"{quote(key.text)} is there twice", line)
            self._tree.lines[(*path, key.text)] = line
            found[key.text] = self._node(self._next(), (*path, key.text))
        return found

    def _sequence(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._node(event, (*path, len(found))))
        return found


def write_values(values: Any) -> str:
    return yaml.dump(
        values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_WIDTH
    )


class _Dumper(yaml.SafeDumper):
    """Pure Python. Two equal lists are two lists."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: Any, text: str) -> yaml.ScalarNode:
    style = None
    if _ESCAPED.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    elif _AMBIGUOUS.fullmatch(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
