"""Archives: unpacked within bounds, or refused by name."""

from __future__ import annotations

import gzip
import struct
import zipfile
from io import BytesIO

import pytest

from sandtable_runner import engine
from tests.runner.intake.desk import Desk
from tests.runner.intake.workbooks import Sheet, xlsx, zipped

_PLAIN = b"id,name\n1,a\n2,b\n"
_ROWS = [("1", "a"), ("2", "b")]


def _zst(desk: Desk, query: str) -> bytes:
    """Compressed by the engine, which is the only one here that can."""
    path = desk.folder / "made.csv.zst"
    desk.connection.execute(f"COPY ({query}) TO {engine.literal(str(path))} (FORMAT csv, COMPRESSION zstd)")
    return path.read_bytes()


def _stored(content: bytes) -> bytes:
    """A frame of one raw block, for bytes that the engine would not write."""
    header = (len(content) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content)) + header + content


def test_gz(desk: Desk) -> None:
    table = desk.table(gzip.compress(_PLAIN), "orders.csv.gz")
    assert desk.rows(table) == _ROWS
    assert table.reading["compression"] == "gz"
    assert table.reading["kind"] == "csv"


def test_zst(desk: Desk) -> None:
    content = _zst(desk, "SELECT x AS id, 'n' || x AS name FROM range(100000) AS r(x)")
    table = desk.table(content, "orders.csv.zst")
    rows = desk.rows(table)
    assert (len(rows), rows[0], rows[-1]) == (100_000, ("0", "n0"), ("99999", "n99999"))
    assert table.reading["compression"] == "zst"


@pytest.mark.parametrize("frames", [1, 3])
def test_zst_keeps_bytes_and_blank_lines(desk: Desk, frames: int) -> None:
    lines = 'id,name\n1,"Müller\n\nJäger"\n'.encode("cp1252")
    content = _stored(lines) + _stored(b"2,b\n") * (frames - 1)
    assert desk.rows(desk.table(content, "orders.csv.zst")) == [
        ("1", "Müller\n\nJäger"),
        *[("2", "b")] * (frames - 1),
    ]


@pytest.mark.parametrize("kept", [3, 8, 12, -1])
def test_a_zst_that_is_cut_short_is_refused(desk: Desk, kept: int) -> None:
    assert "Zstandard" in desk.refusal(_stored(_PLAIN)[:kept], "orders.csv.zst").message


def test_a_zst_with_line_ends_of_several_kinds_is_refused(desk: Desk) -> None:
    error = desk.refusal(_stored(b'id,name\r\n1,"a\nb"\r\n'), "orders.csv.zst")
    assert "line ends" in error.message
    assert "gzip" in error.suggestion


@pytest.mark.parametrize(
    "content",
    [b"abc", gzip.compress(_PLAIN)[:-9], gzip.compress(_PLAIN)[:20] + b"x" * 20],
    ids=["no gzip", "cut off", "damaged"],
)
def test_a_damaged_gz_is_refused(desk: Desk, content: bytes) -> None:
    assert "gzip" in desk.refusal(content, "orders.csv.gz").message


def test_a_bomb_is_refused(desk: Desk) -> None:
    content = gzip.compress(b"a,b\n" + b"0,1\n" * 28_000_000)
    assert "times its size" in desk.refusal(content, "orders.csv.gz").message
    assert sum(path.stat().st_size for path in desk.out.iterdir()) < 128 << 20


def test_no_more_is_unpacked_than_a_job_may_write(desk: Desk) -> None:
    content = gzip.compress(b"a,b\n" + b"0,1\n" * 1_000_000)
    assert "more than 2 MB" in desk.refusal(content, "orders.csv.gz", file_mb=2).message


def test_every_table_of_a_zip(desk: Desk) -> None:
    members = {
        "a.csv": _PLAIN,
        "folder/b.json": b'[{"x": 1}]',
        "__MACOSX/._a.csv": b"junk",
        ".DS_Store": b"junk",
        "readme.md": b"# Read me",
    }
    tables = desk.tables(zipped(members), "all.zip")
    assert [table.name for table in tables] == ["a", "b"]
    assert [table.reading["member"] for table in tables] == ["a.csv", "folder/b.json"]
    assert [desk.rows(table) for table in tables] == [_ROWS, [("1",)]]
    assert "readme.md" in tables[0].notes[0]


def test_given_members_only(desk: Desk) -> None:
    content = zipped({"a.csv": _PLAIN, "b.csv": b"x\n1\n"})
    readings = [table.reading for table in desk.tables(content, "all.zip")]
    again = desk.tables(content, "all.zip", given=readings[::-1])
    assert [table.reading for table in again] == readings[::-1]
    assert desk.table(content, "all.zip", given=[readings[1]]).headers == ("x",)
    assert "'b.csv'" in desk.refusal(zipped({"a.csv": _PLAIN}), "all.zip", given=readings).message


def test_workbooks_in_a_zip(desk: Desk) -> None:
    book = xlsx(Sheet("North", [["a"], ["x"]]), Sheet("South", [["a"], ["y"]]))
    tables = desk.tables(zipped({"sales.xlsx": book, "a.csv": _PLAIN}), "all.zip")
    assert [table.name for table in tables] == ["sales North", "sales South", "a"]
    assert [table.reading["sheet"] for table in tables] == ["North", "South", ""]


_REFUSED: dict[str, tuple[dict[str, bytes], str]] = {
    "a path that leads out": ({"../a.csv": b"a\n1\n"}, "../a.csv"),
    "an absolute path": ({"/etc/a.csv": b"a\n1\n"}, "/etc/a.csv"),
    "a zip inside": ({"a.csv": b"a\n1\n", "b.zip": b"PK"}, "b.zip"),
    "an archive named CSV": ({"a.csv": gzip.compress(b"a\n1\n")}, "gzip"),
    "no table": ({"readme.md": b"x"}, "no table"),
    "a bad member": ({"a.csv": b"a,b\n1\n"}, "a.csv in"),
}


@pytest.mark.parametrize(("members", "word"), _REFUSED.values(), ids=list(_REFUSED))
def test_a_zip_is_refused(desk: Desk, members: dict[str, bytes], word: str) -> None:
    assert word in desk.refusal(zipped(members), "all.zip").message


def test_a_member_with_a_password_is_named(desk: Desk) -> None:
    content = bytearray(zipped({"secret.csv": _PLAIN}))
    with zipfile.ZipFile(BytesIO(bytes(content))) as archive:
        directory = archive.start_dir
    content[6] |= 1
    content[directory + 8] |= 1
    message = desk.refusal(bytes(content), "all.zip").message
    assert "secret.csv" in message
    assert "password" in message


def test_a_damaged_zip_is_refused(desk: Desk) -> None:
    content = bytearray(zipped({"a.csv": _PLAIN * 50}))
    content[50] ^= 0xFF
    assert "zip" in desk.refusal(bytes(content), "all.zip").message


def test_an_archive_in_an_archive_is_refused(desk: Desk) -> None:
    assert (
        "archive in an archive" in desk.refusal(gzip.compress(zipped({"a.csv": _PLAIN})), "a.csv.gz").message
    )


def test_a_workbook_may_be_compressed_again(desk: Desk) -> None:
    table = desk.table(gzip.compress(xlsx(Sheet("One", [["a"], ["x"]]))), "book.xlsx.gz")
    assert desk.rows(table) == [("x",)]
