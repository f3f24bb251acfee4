"""JSON read piece by piece, in bounded memory. Numbers keep the digits that the file has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.csv_layout import open_text
from sandtable_runner.intake.scanning import MAX_LINE

_CHUNK = 1 << 20
_SPACE = " \t\r\n"


class Number(str):
    """The digits of a number, as in the file."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number)


def dump(value: Any) -> str:
    """JSON text of a decoded value, with the digits of its numbers."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump(key)}: {dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(dump(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class Stream:
    """A cursor over the text of a file: values are decoded one at a time."""

    def __init__(self, source: str, path: Path) -> None:
        self._source = source
        self._file = open_text(path)
        self._text = ""
        self._at = 0
        self._lines = 0
        """Line ends in the text that was dropped."""
        self._columns = 0
        self._ended = False

    def close(self) -> None:
        self._file.close()

    def _more(self, size: int = _CHUNK) -> bool:
        chunk = "" if self._ended else self._file.read(size)
        if not chunk:
            self._ended = True
            return False
        gone = self._text[: self._at]
        self._lines += gone.count("\n")
        self._columns = len(gone) - gone.rfind("\n") - 1 if "\n" in gone else self._columns + len(gone)
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return True

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, mark: str) -> None:
        if self.peek() != mark:
            raise self.fault(f"{mark!r} is missing")
        self._at += 1

    def take_any(self, marks: str) -> str:
        found = self.peek()
        if not found or found not in marks:
            raise self.fault(f"{' or '.join(repr(mark) for mark in marks)} is missing")
        self._at += 1
        return found

    def value(self) -> Any:
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # What is cut at the end of the chunk fails there, or at the start of the word that is cut.
                if self._more(size):
                    size = self._grown(size)
                    continue
                self._at = min(error.pos, len(self._text))
                raise self.fault(error.msg) from error
            except RecursionError as error:
                raise self.fault("values are nested too deep") from error
            if end == len(self._text) and self._more(size):
                size = self._grown(size)
                continue
            self._at = end
            return value

    def _grown(self, size: int) -> int:
        if len(self._text) > 4 * MAX_LINE:
            raise self.fault(f"a value is longer than {4 * MAX_LINE >> 20} MB, or is not closed")
        return 2 * size

    def fault(self, reason: str) -> BadFile:
        before = self._text[: self._at]
        line = self._lines + before.count("\n") + 1
        column = len(before) - before.rfind("\n") if "\n" in before else self._columns + len(before) + 1
        if self._ended and self._at >= len(self._text):
            reason = f"the file ends here, {reason}"
        return BadFile(
            f"{self._source} is not valid JSON in line {line}, position {column}: {reason}",
            "Mend that place, or export the file again",
        )

    def elements(self) -> Iterator[Any]:
        """The elements of the array that begins here."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self.take_any(",]") == "]":
                return

    def names(self) -> Iterator[str]:
        """The names of the object that begins here; the caller takes the value of each before the next."""
        self.take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self.fault("a name in quotes is missing")
            yield str(self.value())
            if self.take_any(",}") == "}":
                return

    def at_end(self) -> None:
        if self.peek():
            raise self.fault("more text follows the end")
