"""Who asked, in capsules: stated, digested and signed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from sandtable.capsule.canonical import canonical
from sandtable.capsule.keys import keyid_of, read_public
from sandtable.capsule.model import Asker
from sandtable.capsule.seal import read_statement, seal, unpack
from sandtable.capsule.verify import Rederive, verify
from sandtable.runs.draw import draw
from tests.capsule.samples import KEY, capsule, signed, world

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("anna@example.org", Asker(kind="person", name="anna@example.org")),
        ("local", Asker(kind="local")),
        ("@192.0.2.7", Asker(kind="address")),
        ("@", Asker(kind="address")),
    ],
)
def test_a_person_is_named_and_an_address_is_not(user: str, expected: Asker) -> None:
    assert Asker.of(user) == expected


@pytest.mark.parametrize("fields", [{"kind": "person"}, {"kind": "address", "name": "192.0.2.7"}])
def test_nothing_but_a_person_has_a_name(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="a person has a name"):
        Asker.model_validate(fields)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("v5-sql-of-a-person", Asker(kind="person", name="anna@example.org")),
        ("v5-sql-of-an-address", Asker(kind="address")),
        ("v5-sql", Asker(kind="local")),
        ("v6-sql-of-a-person", Asker(kind="person", name="anna@example.org")),
        ("v4-sql", None),
    ],
)
async def test_the_report_says_who_asked(name: str, expected: Asker | None) -> None:
    text = (GOLDEN / f"{name}.json").read_bytes()
    key = read_public(GOLDEN / "v5-key.pem")
    report = await verify(text, Rederive(keys={keyid_of(key): key}, draw=draw))
    assert report.asked_by == expected
    assert report.ok


async def test_another_name_breaks_the_digests() -> None:
    statement = read_statement(unpack(seal(capsule(), KEY))[0])
    statement["predicate"]["asked_by"] = {"kind": "person", "name": "bob"}
    report = await verify(signed(canonical(statement)), world())
    assert [link.name for link in report.links if link.status == "broken"] == ["digests"]


def test_no_golden_capsule_holds_an_address() -> None:
    assert not [path.name for path in GOLDEN.glob("v5-*.json") if b"192.0.2" in path.read_bytes()]
