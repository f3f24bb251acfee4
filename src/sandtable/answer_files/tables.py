"""The tables of answers as CSV files in one ZIP archive, each named by its question.

Invariant: names hold letters, digits and hyphens only, never a path; the same answers give the same bytes.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Sequence

from sandtable.answer_files.shown import Shown
from sandtable.errors import NotFound
from sandtable.runs.export import csv_of

_LONGEST_NAME = 60
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_TIME = (1980, 1, 1, 0, 0, 0)


def tables_of(shown: Sequence[Shown]) -> bytes:
    """Raises NotFound when no answer has a table."""
    tables = [one for one in shown if one.has_table]
    if not tables:
        raise NotFound(
            "none of the answers has a table",
            suggestion="Export the conversation as a page or as Markdown instead.",
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, one in enumerate(tables, 1):
            assert one.run is not None
            entry = zipfile.ZipInfo(f"{number:02d}-{file_name(one.answer.question, 'query')}.csv", _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, csv_of(one.run))
    return packed.getvalue()


def file_name(text: str, otherwise: str) -> str:
    """`Total by region?` as `total-by-region`."""
    words = _BETWEEN_WORDS.sub("-", unicodedata.normalize("NFC", text).lower()).strip("-")
    return words[:_LONGEST_NAME].rstrip("-") or otherwise
