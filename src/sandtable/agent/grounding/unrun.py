"""Text of a model that no run supports: small talk, a question back, suggested questions.

Whether such a text is true cannot be checked in any language: it is shown with `LABEL` before it. Invariant: it is one
plain paragraph without markup and addresses, it claims no proof, and it has no number that is not the person's or
the catalog's.
"""

from __future__ import annotations

import re
import unicodedata

from sandtable.quoting import inert, one_line

LABEL = "The model's own words, not from your data:"
LONGEST = 600
LONGEST_SUGGESTION = 200

_BLOCK = re.compile(r"^\s*(?:#|>|\||[-*+]\s|\d+[.)]\s|```|~~~|={3,}|-{3,})", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*{1,2})(?=\S)([^*\n]{1,80}?)(?<=\S)\1")
_PROOF = re.compile(
    r"\b(?:verif\w+|signed|signatures?|proof|prov(?:en|es|ed)|certif\w+|guarant\w+|audit\w*|capsules?|confirmed"
    r"|authentic\w*|I (?:have )?(?:checked|ran|queried|looked)|according to (?:the|your) data)\b",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"\d+(?:[.,:/-]\d+)*")


def own_words(text: str, known: str) -> str | None:
    """The text as it may be shown, with its label; None when it may not. `known`: the question and the catalog."""
    plain = _EMPHASIS.sub(r"\2", text.strip())
    line = one_line(plain, LONGEST)
    if not line or len(plain) > LONGEST or _BLOCK.search(plain) or _PROOF.search(plain):
        return None
    return f"{LABEL} {line}" if _is_plain(line) and _figures_known(line, known) else None


def suggestion_or_none(text: str, known: str) -> str | None:
    """A question that a model suggests, where it is one plain line."""
    line = text.strip()
    fits = 0 < len(line) <= LONGEST_SUGGESTION and one_line(line, LONGEST_SUGGESTION) == line
    return line if fits and _is_plain(line) and _figures_known(line, known) else None


def _is_plain(line: str) -> bool:
    """Word by word, because a long text is never inert as a whole."""
    return all(inert(word) == word or word in ("-", "–", "+", "=") for word in line.split())


def _figures_known(line: str, known: str) -> bool:
    """Digits of any script, and signs that stand for numbers, only where the person or the catalog wrote them."""
    odd = (char for char in line if not char.isascii() and unicodedata.numeric(char, None) is not None)
    if any(char not in known for char in odd):
        return False
    figures = set(_FIGURES.findall(known))
    return all(figure in figures for figure in _FIGURES.findall(line))
