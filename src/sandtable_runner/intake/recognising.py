"""What a file is, by its first bytes: for files whose ending says something else, or nothing."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from sandtable_runner.intake.bad_file import BadFile

_HEAD = 4096
SQLITE = b"SQLite format 3\0"
_ARCHIVES = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_FOREIGN = {
    b"%PDF-": ("a PDF document", "Export the table from its source as CSV or Excel"),
    b"\xd0\xcf\x11\xe0": (
        "an old Office file (such as .xls), or one with a password",
        "Remove the password, or save it as an Excel workbook (.xlsx)",
    ),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "Unpack it, and give the file inside"),
    b"Rar!": ("a RAR archive", "Unpack it, and give the file inside"),
    b"BZh": ("a bzip2 archive", "Unpack it, or compress it with gzip"),
    b"\xfd7zXZ": ("an xz archive", "Unpack it, or compress it with gzip"),
    SQLITE: ("a SQLite database", "Give it the ending .sqlite"),
    b"\x89PNG": ("a picture", "Give the table as CSV or Excel"),
    b"\xff\xd8\xff": ("a picture", "Give the table as CSV or Excel"),
}
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
    rb"<(?:!doctype html|(?:html|head|body|table|div|p|span|script|style|meta|title|link)[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"\s*<\?xml")
_JSON = re.compile(rb"\s*(\{\s*(\"[^\"]*\"\s*:|\})|\[\s*(\{|\[|\]))")
_WORDS = {
    "parquet": ("a Parquet file", ".parquet"),
    "xlsx": ("an Excel workbook", ".xlsx"),
    "xlsb": ("a binary Excel workbook", ".xlsx"),
    "ods": ("an OpenDocument spreadsheet", ".ods"),
    "zip": ("a zip archive", ".zip"),
    "gz": ("a gzip archive", ".gz"),
    "zst": ("a Zstandard archive", ".zst"),
    "json": ("JSON", ".json"),
    "sqlite": ("a SQLite database", ".sqlite"),
}


def head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def recognise(path: Path) -> str:
    """A kind, or empty where the bytes are no known format: then it may be a table of text."""
    head = head_of(path).removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(SQLITE):
        return "sqlite"
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_zip(path)
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            return kind
    return "json" if _JSON.match(head) else ""


def _kind_of_zip(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "xl/workbook.bin" in names:
                return "xlsb"
            if "xl/workbook.xml" in names:
                return "xlsx"
            if "mimetype" in names and "content.xml" in names:
                return "ods"
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return "zip"
    return "zip"


def refuse_foreign(source: str, path: Path, wanted: str) -> None:
    """Raises BadFile if the bytes are of a format that is not read, or of another one than `wanted`."""
    head = head_of(path).removeprefix(b"\xef\xbb\xbf")
    for magic, (what, advice) in _FOREIGN.items():
        if head.startswith(magic):
            raise BadFile(f"{source} is {what}, not {wanted}", advice)
    if _HTML.match(head):
        raise BadFile(
            f"{source} is a web page (HTML), not {wanted}",
            "Download the file itself; a sign-in or error page may have been saved in its place",
        )
    if _XML.match(head):
        raise BadFile(f"{source} is XML, not {wanted}", "Export the table as CSV, Excel or JSON")


def refuse_other_kind(source: str, path: Path, wanted: str) -> None:
    """For a file that should be text in rows and columns."""
    refuse_foreign(source, path, wanted)
    kind = recognise(path)
    if kind == "xlsb":
        raise refuse_xlsb(source)
    if kind:
        what, ending = _WORDS[kind]
        raise BadFile(
            f"{source} is {what}, not {wanted}",
            f"Give it the ending {ending}"
            if kind != "json"
            else f"Give it the ending {ending} if it holds a table",
        )


def refuse_xlsb(source: str) -> BadFile:
    return BadFile(
        f"{source} is a binary Excel workbook (.xlsb), which is not read",
        "Save it as an Excel workbook (.xlsx)",
    )
