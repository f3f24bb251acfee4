"""Encodings: found from the bytes, proven over the whole file, recorded, and shown by an example."""

from __future__ import annotations

import pytest

from tests.runner.intake.desk import Desk

_WORDS = {
    "cp1252": ["Müller", "naïve façade", "“quoted” – it’s 5 €", "25 °C"],
    "mac-roman": ["Café Zürich", "Müller, élève"],
    "cp932": ["東京の日本語の文章です"],
    "euc_jp": ["東京の日本語の文章です、大阪"],
    "cp1251": ["Москва, Привет мир"],
    "gb18030": ["北京的中文数据"],
    "big5": ["台北高雄中文資料"],
    "cp949": ["서울 부산 한국어"],
    "cp1250": ["Łódź, Kraków, żółty"],
    "cp1253": ["Αθήνα Πάτρα"],
    "cp1254": ["İstanbul Şişli"],
    "cp850": ["Müller", "Hélène, René, Français à Paris", "Ñandú, España, señor"],
    "cp866": ["Москва, Привет мир", "Иванов Иван"],
}
_CASES = [(encoding, text) for encoding, texts in _WORDS.items() for text in texts]


@pytest.mark.parametrize(("encoding", "text"), _CASES, ids=[text for _, text in _CASES])
@pytest.mark.parametrize("times", [1, 200])
def test_text_of_another_encoding(desk: Desk, encoding: str, text: str, times: int) -> None:
    content = "id,name\n" + "1,plain\n" * 50 + f'2,"{text}"\n' * times
    table = desk.table(content.encode(encoding))
    assert desk.rows(table)[50:] == [("2", text)] * times
    assert table.reading["encoding"] == encoding
    assert "line 52" in table.notes[0]
    assert text[:5] in table.notes[0]


def test_latin_1_is_read_as_its_superset(desk: Desk) -> None:
    table = desk.table("id,name\n1,Müller\n".encode("latin-1"))
    assert table.reading["encoding"] == "cp1252"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_and_without_a_mark(desk: Desk, encoding: str) -> None:
    table = desk.table("id,name\r\n1,ä 漢\r\n".encode(encoding))
    assert desk.rows(table) == [("1", "ä 漢")]
    assert table.reading["encoding"] == encoding


def test_a_late_character_decides(desk: Desk) -> None:
    content = b"id,name\n" + b"1,plain\n" * 700_000 + "2,Müller\n".encode("cp1252")
    assert desk.rows(desk.table(content))[-1] == ("2", "Müller")


def test_a_few_lines_in_utf_8_are_named(desk: Desk) -> None:
    content = b"id,name\n" + "3,Köhler\n".encode("cp1252") * 50 + "1,Müller\n2,Jäger\n".encode()
    table = desk.table(content)
    assert table.reading["encoding"] == "cp1252"
    assert "2 lines" in table.notes[1] and "line 52" in table.notes[1] and "Müller" in table.notes[1]


def test_several_encodings_in_one_file_are_refused_with_the_line(desk: Desk) -> None:
    content = "id,name\n1,Müller\n2,Jäger\n".encode() + "3,Köhler\n".encode("latin-1")
    message = desk.refusal(content).message
    assert "mixes" in message
    assert "line 4" in message


def test_bytes_that_no_encoding_explains_are_refused_with_the_line(desk: Desk) -> None:
    message = desk.refusal(b"id,name\n1,a\n2,\xac x \xac x \xb6 x \xa4 x \xf7 x\n").message
    assert "line 3" in message


def test_a_file_cut_inside_a_character(desk: Desk) -> None:
    assert "UTF-8 character" in desk.refusal("id,name\n1,ä".encode()[:-1]).message


def test_a_given_encoding_is_proven(desk: Desk) -> None:
    given = desk.table("id,name\n1,東京の日本語\n".encode("cp932")).reading
    assert given["encoding"] == "cp932"
    message = desk.refusal(b"id,name\n1,a\n2,\x81\xff\n", given=[given]).message
    assert "Shift-JIS" in message
    assert "line 3" in message


def test_an_unknown_given_encoding_is_refused(desk: Desk) -> None:
    given = {**desk.table(b"a\n1\n").reading, "encoding": "klingon"}
    assert "klingon" in desk.refusal(b"a\n1\n", given=[given]).message
