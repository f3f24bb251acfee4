"""A page that proves itself, opened from disk in a browser without a network."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Browser, Page

from sandtable.capsule.canonical import digest
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.result_digest import encode_rows, result_digest, snap
from sandtable.engines.duckdb.types import TABLE
from sandtable.proof_page.make import Answer, make_page
from tests.capsule.samples import (
    CODE,
    KEY,
    PLOT_SHOWN,
    TABLE_SHOWN,
    capsule,
    chart_answer,
    charted,
    rejected,
    shown,
)
from tests.proof_page.samples import answer_with, golden, page, replaced, with_content

pytestmark = [pytest.mark.needs("chromium")]

Show = Callable[[str], dict[str, Any]]

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@dataclass
class Watch:
    """What the page complains about, and what it asks for."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="module")
def offline(browser: Browser, watch: Watch) -> Iterator[Page]:
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 800})
    opened = context.new_page()
    opened.on("console", lambda message: watch.complaints.append(message.text))
    opened.on("pageerror", lambda error: watch.complaints.append(str(error)))
    opened.on("request", lambda request: watch.requests.append(request.url))
    yield opened
    context.close()


@pytest.fixture
def show(offline: Page, watch: Watch, tmp_path: Path) -> Show:
    """Opens a page from disk; what it says: its state, and the links that are broken by the part they are of."""

    def opened(text: str) -> dict[str, Any]:
        file = tmp_path / "page.html"
        file.write_text(text, "utf-8")
        watch.complaints.clear()
        watch.requests.clear()
        offline.goto(file.as_uri())
        offline.wait_for_selector("html[data-ready]", state="attached")
        found = offline.evaluate(
            """() => ({
              state: document.querySelector(".verdict").dataset.state,
              words: document.querySelector(".verdict").innerText,
              title: document.title,
              text: document.body.innerText,
              broken: [...document.querySelectorAll('li[data-state="broken"]')].map((one) => one.dataset.link),
            })"""
        )
        assert (watch.requests, watch.complaints) == ([file.as_uri()], [])
        return found

    return opened


def test_it_verifies_from_disk_without_a_network(show: Show, offline: Page) -> None:
    found = show(page())
    assert (found["state"], found["broken"], found["title"]) == ("ok", [], "Totals")
    assert "North has the most: 12.5." in found["text"] and "1,234.56789" in found["text"]
    assert offline.locator('[data-part="chart"] svg rect').count() == 3
    assert offline.locator('li[data-link="signature"][data-state="ok"]').count() == 2
    assert "Whose key it is" in found["text"]


def test_rows_that_stayed_in_a_database_are_not_called_pinned(show: Show, offline: Page) -> None:
    pin = {"kind": "live", "engine": "postgresql", "source": "shop"}
    found = show(page(answer_with(charted(pin=pin))))
    assert (found["state"], found["broken"]) == ("ok", [])
    assert offline.locator('li[data-link="data"][data-state="not_pinned"]').count() == 1
    text = offline.locator('li[data-link="data"]').text_content() or ""
    assert "what the database gave at that moment" in text


def _capsule(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: replaced(content["capsules"][0], old, new)


def _words(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: replaced(content["statement"], old, new)


def _signature(content: dict[str, Any]) -> None:
    sig = content["capsules"][0]["signatures"][0]
    sig["sig"] = ("B" if sig["sig"][0] != "B" else "C") + sig["sig"][1:]


def _payload_letter(content: dict[str, Any]) -> None:
    """A whole group of base64 becomes another, somewhere in the middle: the text is no JSON in canonical form."""
    payload = content["capsules"][0]["payload"]
    at = payload.index(payload[400:404])
    content["capsules"][0]["payload"] = payload[:at] + "AAAA" + payload[at + 4 :]


def _other_key(content: dict[str, Any]) -> None:
    content["capsules"][0]["signatures"][0]["keyid"] = "00" * 32


def _digest_too(content: dict[str, Any]) -> None:
    """The changed question with the digest that fits it: only the signature can say so."""
    replaced(content["capsules"][0], '"question":"total by region"', '"question":"total by town"')
    replaced(content["capsules"][0], digest("total by region"), digest("total by town"))


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], set[str]]] = {
    "a cell": (_capsule('"South",1234.5678901]', '"South",1234.6678901]'), {"result", "signature"}),
    "the last digit of a cell": (
        _capsule('"South",1234.5678901]', '"South",1234.5678902]'),
        {"signature"},
    ),
    "a cell of text": (_capsule('["South"', '["Mouth"'), {"result", "signature"}),
    "the type of a column": (_capsule('"type":"DOUBLE"', '"type":"DOUBLF"'), {"result", "signature"}),
    "a bar of the chart": (_capsule('"y":[12.5', '"y":[13.5'), {"chart", "signature"}),
    "the question": (_capsule('"question":"total by region"', '"question":"total by regiom"'), {"question"}),
    "the question and its digest": (_digest_too, {"signature"}),
    "the SQL that ran": (_capsule("LIMIT 200;", "LIMIT 300;"), {"executed_sql"}),
    "who proposed it": (_capsule("openai:gpt-5", "openai:gpt-6"), {"origin"}),
    "the data version": (_capsule('"dataset_version":"sha256:ab', '"dataset_version":"sha256:bb'), {"data"}),
    "the run that the seal names": (_capsule('"name":"dataset/shop"', '"name":"dataset/shoq"'), {"seal"}),
    "the status, which has no digest": (
        _capsule('"status":"succeeded"', '"status":"cancelled"'),
        {"signature"},
    ),
    "the signature": (_signature, {"signature"}),
    "the key": (_other_key, {"signature"}),
    "bytes of the payload": (_payload_letter, {"form", "signature"}),
    "the sentence": (_words("12.5", "13.5"), {"signature"}),
    "a unit": (_words('"unit":""', '"unit":"$"'), {"signature"}),
    "no statement": (lambda content: content["statement"].update(payload="e30="), {"words"}),
    "another format": (_capsule('"schema_version":"6"', '"schema_version":"0"'), {"form"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_byte_breaks_the_link_that_holds_it(name: str, show: Show) -> None:
    change, links = CHANGES[name]
    found = show(with_content(page(), change))
    assert found["state"] == "broken" and links <= set(found["broken"]), found["broken"]
    assert "Do not rely on this page" in found["words"]
    if links == {"signature"}:
        assert set(found["broken"]) == {"signature"} | ({"words"} & set(found["broken"]))


def test_the_plan_is_held_by_its_link(show: Show) -> None:
    text = page(answer_with(capsule(), columns=()))
    assert show(text)["state"] == "ok"
    found = show(with_content(text, _capsule('"agg":"sum"', '"agg":"max"')))
    assert {"plan", "signature"} <= set(found["broken"])


def test_another_record_in_its_place_is_noticed(show: Show) -> None:
    other = page(answer_with(capsule(), columns=()))
    taken = json.loads(other.split('id="content">')[1].split("</script>")[0])["capsules"]
    found = show(with_content(page(), lambda content: content.update(capsules=taken)))
    assert found["broken"] == ["words"]


def test_what_cannot_be_read_says_so(show: Show) -> None:
    found = show(page().replace('"format":"sandtable.page/1"', '"format":"sandtable.page/1', 1))
    assert found["state"] == "broken" and "Nothing on this page was checked" in found["words"]


def test_a_changed_program_does_not_run(offline: Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page().replace('"use strict";', '"use strict" ;', 1), "utf-8")
    offline.goto(file.as_uri())
    said = offline.locator("main").inner_text()
    assert said.startswith("Nothing on this page was checked: its program did not run.")


def test_hostile_values_are_shown_as_text(show: Show, offline: Page) -> None:
    rows = ((HOSTILE, 1.0), ("javascript:alert(1)", 2.0))
    made = chart_answer(rows)
    hostile = charted(made, question=HOSTILE, stdout=HOSTILE)
    found = show(
        page(answer_with(hostile, sentence=HOSTILE, question=HOSTILE, reading=HOSTILE), title=HOSTILE)
    )
    assert found["state"] == "ok" and found["title"] == HOSTILE
    assert offline.locator("img, iframe, a, article script").count() == 0
    assert found["text"].count("onerror") >= 4


def test_code_and_refusals_are_shown(show: Show) -> None:
    code = capsule(
        plan=None,
        sql=None,
        executed_sql=None,
        mode="python",
        python=CODE,
        names={"o": "orders"},
        before=[{"python": "x = 1", "interrupted": False}],
        artifacts=shown(TABLE_SHOWN, PLOT_SHOWN),
        stdout="hi\n",
    )
    found = show(
        page(answer_with(code, columns=()), answer_with(rejected(), columns=()), answer_with(columns=()))
    )
    assert found["state"] == "ok"
    assert "The run is rejected." in found["text"] and "`read_csv` reads files" in found["text"]
    assert "Nach Kategorie" in found["text"] and "there is nothing to prove" in found["text"]
    changed = show(
        with_content(page(answer_with(code, columns=())), _capsule('"title":"Nach', '"title":"nach'))
    )
    assert "artifacts" in changed["broken"]


def test_every_kept_capsule_verifies(show: Show) -> None:
    """The golden capsules of every format, each with the key that signed it."""
    envelopes, keys = golden()
    answers = [Answer(question=name, sentence="", capsules=(envelope,)) for name, envelope in envelopes]
    found = show(make_page(answers, "Golden", KEY, keys))
    assert (found["broken"], found["state"]) == ([], "ok"), found["words"]
    assert f"({len(envelopes)} records" in found["words"]


def test_words_and_records_of_different_keys_are_pointed_out(show: Show) -> None:
    other = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    found = show(make_page([answer_with(charted())], "Totals", other, {KEY.keyid: KEY.private.public_key()}))
    assert (found["broken"], found["state"]) == ([], "keys")
    assert KEY.keyid in found["words"] and other.keyid in found["words"]


def _floats() -> list[float]:
    chosen = random.Random(7)
    bits = [struct.unpack(">d", chosen.randbytes(8))[0] for _ in range(6000)]
    cents = [chosen.randrange(10**9) / 100 for _ in range(3000)]
    powers = [sign * 2.0**e * m for e in range(-1074, 1023, 7) for m in (1.0, 1.5) for sign in (1, -1)]
    near = [math.nextafter(x, way) for x in (0.5, 1.0, 2.0, 0.8862269254527579) for way in (0, 9)]
    ties = [(n + 0.5) / 2**26 / 1.1283791670955126 for n in range(2**25, 2**25 + 500)]
    edges = [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, 1e20, 1e-7, 123456789012345680.0]
    return [x for x in (*bits, *cents, *powers, *near, *ties, *edges) if math.isfinite(x)]


def test_floats_snap_to_the_same_grid_as_in_python(show: Show, offline: Page) -> None:
    show(page())
    values = _floats()
    found = offline.evaluate(
        "(text) => JSON.parse(text).map((one) => _digests.snapped(one))", json.dumps(values)
    )
    wrong = [(x, ours, snap(x)) for x, ours in zip(values, found, strict=True) if ours != snap(x)]
    assert len(values) > 9000 and wrong == []


TYPES = (
    *TABLE,
    "DECIMAL(18,3)",
    "TIMESTAMP WITH TIME ZONE",
    "ENUM('a', 'it''s')",
    "DOUBLE[]",
    "DOUBLE[3]",
    "DECIMAL(9,2)[][]",
    'STRUCT(a DOUBLE, "b ""c""" INTEGER[], d STRUCT(e FLOAT))',
    "MAP(VARCHAR, DOUBLE)",
    "MAP(INTEGER, STRUCT(a DOUBLE)[])",
    "TUPLE(DOUBLE, VARCHAR)",
    "UNION(a INTEGER, b VARCHAR)",
    "NOT A TYPE",
    "STRUCT(",
    "MAP(DOUBLE",
    "DOUBLE]",
    "",
    "\x1cDOUBLE\x85",
)
CELLS: tuple[Any, ...] = (
    None, True, False, 0, 1, -5, 12.5, -0.1, 1e-9, 1e16, 1e21, 9007199254740991, "9007199254740993", "-0012", "0.10",
    "-0.00", "1.50e3", "1E-7", "0E+5", "+7.", ".5", " 3 ", "1_000", "inf", "-Infinity", "NaN", "nan", "", "text",
    "Bücher", "\u007f\u2028\U0001f600\"\\\n\t\x01", "2024-01-31", [], [1.0, None, 2], [[1, "a"], [2, "b"]],
    ["ab", "cd"], [[0.1], [1e-13]], {"a": 1.5, 'b "c"': [1, 2], "d": {"e": 0.5}}, {"10": 1, "9": 2, "é": None},
    {"__proto__": 1, "constructor": "x"}, [{"key": "k", "value": 1}], 123456.789012345,
    "123456789012345678901234567890.1230000", "-98765432109876543210",
)  # fmt: skip


def _cells_for(name: str) -> tuple[Any, ...]:
    """No engine has a decimal that is a list: Python would hash its own way of writing it."""
    of_decimals = name.startswith("DECIMAL")
    return tuple(one for one in CELLS if not (of_decimals and isinstance(one, list | dict)))


def test_cells_of_every_type_are_encoded_as_in_python(show: Show, offline: Page) -> None:
    show(page())
    given, expected = [], []
    for name in TYPES:
        columns, rows = [["c", name], ["é", "VARCHAR"]], [[cell, "x"] for cell in _cells_for(name)]
        given.append([columns, rows])
        expected.append(
            [[line.decode() for line in encode_rows([("c", name), ("é", "VARCHAR")], rows)],
             result_digest([("c", name), ("é", "VARCHAR")], rows)]
        )  # fmt: skip
    found = offline.evaluate(
        """async (text) => {
          const made = [];
          for (const [columns, rows] of JSON.parse(text)) {
            const digest = await _digests.resultDigest(columns, rows, FAMILIES);
            made.push([_digests.encodedRows(columns, rows, FAMILIES), digest]);
          }
          return made;
        }""",
        json.dumps(given),
    )
    for name, ours, theirs in zip(TYPES, found, expected, strict=True):
        cells = _cells_for(name)
        assert list(zip(cells, ours[0], strict=True)) == list(zip(cells, theirs[0], strict=True)), name
        assert ours[1] == theirs[1], name
