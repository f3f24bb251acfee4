"""Checks whether a download looks like a CSV file. Only its beginning is examined."""

from __future__ import annotations

from sbirtools.errors import NotCsv

ENOUGH = 64 << 10
"""Bytes from the beginning that are enough to decide."""

_ARCHIVES = {b"PK\x03\x04": "a ZIP archive", b"\x1f\x8b": "a gzip file", b"%PDF": "a PDF file"}


def require_csv(head: bytes, where: str, *, content_type: str = "", whole: bool = True) -> None:
    """Raises NotCsv for a web page, an archive, or anything else without a header line of several columns.

    Unless `whole`, more bytes may follow, and an incomplete first line is not judged.
    """
    what = _other_than_csv(head, content_type, whole)
    if what is not None:
        raise NotCsv(
            f"{where} is not a CSV file but {what}",
            suggestion="Open the address in a browser: it should offer the file itself, not a page about it.",
        )


def _other_than_csv(head: bytes, content_type: str, whole: bool) -> str | None:
    for magic, name in _ARCHIVES.items():
        if head.startswith(magic):
            return name
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") or text[:1] == b"<":
        return "a web page"
    if kind == "application/json" or text[:1] == b"{":
        return "JSON"
    if b"\0" in head:
        return "a binary file"
    if not whole and b"\n" not in text and len(head) < ENOUGH:
        return None
    if not text:
        return "empty"
    return None if b"," in text.splitlines()[0] else "text whose first line names no columns"
