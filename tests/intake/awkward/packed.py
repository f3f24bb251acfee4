"""Broken, packed and foreign files."""

from __future__ import annotations

import gzip
import io
import zipfile

from tests.intake.awkward.case import Case, table, text


def broken() -> list[Case]:
    semicolons_in_text = table(("id", "note"), [("1", "a; b; c"), ("2", "d; e")])
    no_quote_end = 'id,note\n1,"open\n2,x\n'
    nul = "id,n\n1,\0\n"
    return [
        Case("semicolons.csv", text(semicolons_in_text), {"id": "integer", "note": "text"}, 2),
        Case("open_quote.csv", text(no_quote_end), refused="quote"),
        Case("nul.csv", text(nul), refused="NUL"),
        Case("mixed_encodings.csv", text("name,n\nJosé,1\n") + text("Zoë,2\n", "latin-1"), refused="line 3"),
        Case(
            "too_many_columns.csv", text(table([f"c{n}" for n in range(20_000)], [])), refused="20000 columns"
        ),
        Case(
            "leap.csv",
            text(table(("d", "n"), [("2024-02-29", "1"), ("2023-02-29", "2")])),
            {"d": "text", "n": "integer"},
            2,
        ),
    ]


def packed() -> list[Case]:
    plain = text(table(("day", "n"), [("2024-01-31", "1"), ("2024-02-01", "2")]))
    columns = {"day": "date", "n": "integer"}
    other = text(table(("city", "n"), [("Bonn", "1")]))
    return [
        Case("log.csv.gz", gzip.compress(plain, mtime=0), columns, 2),
        Case("one.zip", _zip({"data/log.csv": plain}), columns, 2),
        Case(
            "two.zip",
            _zip({"log.csv": plain, "__MACOSX/._log.csv": b"x", "cities.csv": other}),
            tables={"log": 2, "cities": 1},
        ),
        Case(
            "bomb.csv.gz",
            gzip.compress(b"a,b\n" + b"1,2\n" * 30_000_000, 6, mtime=0),
            refused="times its size",
        ),
        Case("nested.zip", _zip({"inner.zip": _zip({"log.csv": plain})}), refused="inner.zip"),
        Case("escape.zip", _zip({"../log.csv": plain}), refused="../log.csv"),
        Case("cut.csv.gz", gzip.compress(plain * 100, mtime=0)[:-40], refused="cut"),
    ]


def foreign() -> list[Case]:
    page = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return [
        Case("export.csv", page, refused="HTML"),
        Case("error.csv", b'{"error": "token expired"}', refused="JSON"),
        Case("report.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", refused="PDF"),
        Case("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, refused="xls"),
        Case("empty.csv", b"", refused="empty"),
        Case("blank.csv", b"\n\n\n", refused="blank"),
        Case("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), refused="picture"),
    ]


def _zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), content)
    return out.getvalue()
